"""What is left to `make test-all` is covered by what always runs."""

from collections import Counter
from itertools import combinations, product

import pytest

from support.sweeps import covering, each_pair, each_value, first, seeds


@pytest.mark.parametrize("strength", [1, 2])
@pytest.mark.parametrize("sizes", [(5,), (2, 7), (4, 4, 2), (3, 2, 2, 5)])
def test_few_cases_have_every_combination(sizes: tuple[int, ...], strength: int) -> None:
    names = "abcd"[: len(sizes)]
    cases = [dict(zip(names, case, strict=True)) for case in product(*map(range, sizes))]
    kept = [cases[i] for i in covering(cases, strength)]
    for chosen in combinations(range(len(sizes)), min(strength, len(sizes))):
        wanted = set(product(*(range(sizes[i]) for i in chosen)))
        assert {tuple(case[names[i]] for i in chosen) for case in kept} == wanted
    largest = sorted(sizes)[-strength:]
    least = largest[0] if len(largest) == 1 else largest[0] * largest[1]
    assert len(kept) <= 1.5 * least


def test_values_mix() -> None:
    """Of two parameters with as many values, no case has the same number of both by default alone."""
    kept = covering([{"a": a, "b": b, "c": c} for a, b, c in product(range(4), range(2), range(2))], 1)
    assert len(kept) == 4
    assert len({(i // 2 % 2, i % 2) for i in kept}) > 2


@each_value
@pytest.mark.parametrize("a", range(4))
@pytest.mark.parametrize(("b", "c"), first(2, [(1, 2), (2, 1), (3, 3)]))
def test_each_value(a: int, b: int, c: int) -> None:
    assert 0 <= a < 4 and b * c in (2, 9)


@each_pair
@pytest.mark.parametrize("a", seeds(3, 5))
@pytest.mark.parametrize("b", "xyz")
@pytest.mark.parametrize("c", "uv")
def test_each_pair(a: int, b: str, c: str) -> None:
    assert a < 5 and b in "xyz" and c in "uv"


def test_few_of_their_cases_always_run(request: pytest.FixtureRequest) -> None:
    if request.config.option.markexpr != "not slow":
        pytest.skip("other tests were asked for")
    names = Counter(item.name.partition("[")[0] for item in request.session.items if "test_cases" in item.nodeid)
    assert names["test_each_value"] in (0, 4)
    assert names["test_each_pair"] in (0, *range(9, 13))
