"""Random and repeated cases: a few in every run of the tests, many more in `make test-all`."""

import inspect
from collections import defaultdict
from collections.abc import Callable, Iterable
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given, settings


def first(few: int, cases: Iterable[Any]) -> list[Any]:
    """Cases for parametrize, tuples for several names: the first `few` always, the rest of them marked slow."""
    values = [case if isinstance(case, tuple) else (case,) for case in cases]
    return [pytest.param(*value, marks=[pytest.mark.slow] if i >= few else []) for i, value in enumerate(values)]


def seeds(few: int, many: int, start: int = 0) -> list[Any]:
    """start, start + 1, ... for parametrize: the first `few` always, the rest up to `many` of them marked slow."""
    return first(few, range(start, start + many))


def examples(few: int, many: int, *drawn: Any, **named: Any) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """given(*drawn, **named) with `few` examples always, and with `many` of them in a case marked slow."""

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        takes_cases = given(*drawn, **named)(test)

        @pytest.mark.parametrize("examples", first(1, [few, many]))
        def run(examples: int, **others: Any) -> None:
            settings(max_examples=examples)(given(*drawn, **named)(test))(**others)

        one = inspect.Parameter("examples", inspect.Parameter.POSITIONAL_OR_KEYWORD)
        parameters = [one, *inspect.signature(takes_cases).parameters.values()]
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        run.__name__, run.__qualname__, run.__doc__ = test.__name__, test.__qualname__, test.__doc__
        run.__module__ = test.__module__
        return run

    return decorate


# Of all parametrized cases few, that together have every value of every parameter, or every pair of values of two
# parameters; the rest are marked slow.
each_value, each_pair = pytest.mark.covering(1), pytest.mark.covering(2)


def mark_slow(items: Iterable[pytest.Item]) -> None:
    """What each_value and each_pair leave to `make test-all`."""
    cases: dict[tuple[str, str], list[Any]] = defaultdict(list)
    for item in items:
        if item.get_closest_marker("covering") and not item.get_closest_marker("slow"):
            cases[item.nodeid.partition("::")[0], item.originalname].append(item)  # type: ignore[attr-defined]
    for those in cases.values():
        # an id for each parametrize(): values that are given together, as tuples, stay together
        chosen = [dict(enumerate(item.callspec._idlist)) for item in those]
        kept = covering(chosen, *those[0].get_closest_marker("covering").args)
        for i in set(range(len(those))) - kept:
            those[i].add_marker(pytest.mark.slow)


def covering(cases: list[dict[Any, Any]], strength: int) -> set[int]:
    """Numbers of cases that together have every combination of `strength` parameters: the most new ones first.

    Of several with as many, the one with the most new combinations of one parameter more, so that all values mix.
    """

    def combined(size: int) -> list[set[Any]]:
        return [set(combinations(sorted(case.items()), min(size, len(case)))) for case in cases]

    needed, wider = combined(strength), combined(strength + 1)
    left, mixed = set().union(*needed), set().union(*wider)
    kept: set[int] = set()
    while left:
        best = max(range(len(cases)), key=lambda i: (len(needed[i] & left), len(wider[i] & mixed), -i))
        kept.add(best)
        left -= needed[best]
        mixed -= wider[best]
    return kept
