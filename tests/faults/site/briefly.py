"""A pytest plugin: of each parametrized test two cases, and of each property ten examples."""

from collections import Counter

import pytest
from hypothesis import settings

CASES, EXAMPLES = 2, 10
GIVEN = "_hypothesis_internal_use_settings"


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    seen: Counter[tuple[str, str]] = Counter()
    few = []
    for item in items:
        test = getattr(item, "originalname", item.name)
        seen[str(item.path), test] += 1
        if seen[str(item.path), test] > CASES:
            continue
        few.append(item)
        given = getattr(getattr(item, "obj", None), GIVEN, None)
        if given is not None and given.max_examples > EXAMPLES:
            setattr(item.obj, GIVEN, settings(given, max_examples=EXAMPLES))  # type: ignore[attr-defined]
    items[:] = few
