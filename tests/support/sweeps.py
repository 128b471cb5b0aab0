"""Random and repeated cases: a few in every run of the tests, many more in `make test-all`."""

import inspect
from collections.abc import Callable, Iterable
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
