"""What is left to `make test-all` is covered by what always runs."""

from itertools import combinations, product

import pytest

from support.sweeps import covering


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
