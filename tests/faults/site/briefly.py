"""A pytest plugin: of each parametrized test two cases, or FAULTS_CASES, and of each property ten examples."""

import os
from collections import defaultdict

import pytest
from hypothesis import settings

CASES, EXAMPLES = int(os.environ.get("FAULTS_CASES", "2")), 10
GIVEN = "_hypothesis_internal_use_settings"


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The cases are spread evenly, from the first to the last, as parameters change slowly along them."""
    cases: dict[tuple[str, str], list[pytest.Item]] = defaultdict(list)
    for item in items:
        cases[str(item.path), getattr(item, "originalname", item.name)].append(item)
    kept: set[pytest.Item] = set()
    for those in cases.values():
        count = min(CASES, len(those))
        kept.update(those[round(i * (len(those) - 1) / max(count - 1, 1))] for i in range(count))
    items[:] = [item for item in items if item in kept]
    for item in items:
        given = getattr(getattr(item, "obj", None), GIVEN, None)
        if given is not None and given.max_examples > EXAMPLES:
            setattr(item.obj, GIVEN, settings(given, max_examples=EXAMPLES))  # type: ignore[attr-defined]
