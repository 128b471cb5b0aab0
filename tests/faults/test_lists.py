"""The lists of faults, their results and docs/faults.md say the same."""

import re
from collections import Counter

import pytest

from faults.lists import ROOT, Fault, all_faults, read_results
from faults.page import PAGE, cell, page

UPDATE = "Run: python tests/faults/run.py --table"


def test_every_fault_fits_the_code_and_its_tests_are_there() -> None:
    stale = [f"{fault.room}.toml: {fault.breaks}: {why}" for fault in all_faults() if (why := fault.stale())]
    assert not stale, "\n".join(["change these entries, or remove them:", *stale])


def test_no_fault_is_listed_twice() -> None:
    twice = [key for key, count in Counter(fault.key for fault in all_faults()).items() if count > 1]
    assert not twice


def test_the_page_is_that_of_the_lists_and_the_results() -> None:
    """Every listed fault has a row: what saw it, that nothing did and why, or that it was not run."""
    faults, results = all_faults(), read_results()
    assert page(faults, results) == PAGE.read_text(), UPDATE


def test_results_are_of_listed_faults_and_name_their_commit() -> None:
    results = read_results()
    assert set(results) <= {fault.key for fault in all_faults()}, UPDATE
    for result in results.values():
        assert set(result) >= {"caught", "seconds"}
        assert re.fullmatch(r"[0-9a-f]{8}\+?|", result.get("commit", ""))


def test_code_and_brackets_of_a_property_are_no_markdown() -> None:
    assert cell("a [b](c) is < *d*: `e[0](s) | *f` | g\\h") == r"a \[b\](c) is \< \*d\*: `e[0](s) \| *f` \| g\\h"


def test_the_numbers_of_the_page_are_those_of_its_rows() -> None:
    text = PAGE.read_text()
    found = re.search(r"^(\d+) faults: (\d+) are seen, (\d+) survive, (\d+) have not been run\.$", text, re.MULTILINE)
    assert found
    total, seen, alive, not_run = map(int, found.groups())
    rows = [line for line in text.splitlines() if line.startswith(("| `fmumbs/", "| `cmake/"))]
    ends = Counter(row.rsplit(" | ", 1)[1] for row in rows)
    assert total == seen + alive + not_run
    assert (ends["**nothing** |"], ends["not run |"]) == (alive, not_run)
    assert len(rows) == total + alive  # those that survive have a row with the reason as well


def test_a_fault_knows_the_first_line_that_it_changes() -> None:
    fault = Fault("x", "", "tests/faults/lists.py", "RESULTS = HERE", "RESULTS = THERE")
    line = (ROOT / fault.file).read_text().splitlines()[fault.line() - 1]
    assert line.startswith("RESULTS = HERE")
    later = Fault("x", "", "tests/faults/lists.py", '"""\n\nimport hashlib', '"""\n\nimport hash')
    assert (ROOT / later.file).read_text().splitlines()[later.line() - 1] == "import hashlib"


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"old": "no such text"}, "the text to replace stands 0 times"),
        ({"old": "import"}, r"the text to replace stands \d+ times"),
        ({"file": "fmumbs/nothing.py"}, "the text to replace stands 0 times"),
        ({"tests": ("tests/no_such_test.py",)}, "there is no tests/no_such_test.py"),
        ({"tests": ("tests/faults/test_lists.py::test_nothing",)}, "there is no"),
        ({"tests": ("tests/faults/test_lists.py::test_a_fault_knows_the_first_line_that_it_changes",)}, "^$"),
    ],
)
def test_a_fault_that_cannot_be_planted_is_told(change: dict[str, object], why: str) -> None:
    fields = {"old": "RESULTS = HERE", "file": "tests/faults/lists.py", "tests": ()} | change
    assert re.search(why, Fault(room="x", breaks="", new="", **fields).stale())  # type: ignore[arg-type]
