"""Drawing faults: every small change of a line, in Python and in C, and nothing within comments, texts and types."""

import ast
from pathlib import Path

import pytest

from faults import draw
from faults.covering import function_around
from faults.lists import ROOT, all_faults

PYTHON = '''
def f(a: "int | None" = 3, b: int | str = -1) -> int | None:
    """1 + 2 in a text."""
    if a < b and not a:  # 3 + 4
        a += max(a, 2.5)
        g(a[1:], a[0])
    return a - 1 if a in b else None
'''
IN_PYTHON = {
    ("constant", "3", "4"), ("sign", "-", ""), ("constant", "1", "2"),
    ("operator", "<", "<="), ("operator", "and", "or"), ("sign", "not ", ""),
    ("condition", "a < b and not a", "True"), ("condition", "a < b and not a", "False"),
    ("operator", "+=", "-="), ("left out", "a += max(a, 2.5)", "pass"), ("name", "max", "min"),
    ("constant", "2.5", "(2.5 * 1.1)"), ("left out", "g(a[1:], a[0])", "pass"), ("index", "1", ""),
    ("constant", "0", "1"), ("operator", "-", "+"), ("operator", "in", "not in"),
    ("condition", "a in b", "True"), ("condition", "a in b", "False"),
}  # fmt: skip
C = """
#define MOST 3
/* 1 + 2 */
static double f(const double *a, int32_t n)
{
    double sum = 0.0; // 5 - 6
    const double *b = a + n;
    for (int32_t i = 0; i < n; i++) sum += -a[2] * b[i];
    if (sum >= 1.5 && !n) sum = fmin(sum, n);
    say("7 / 8");
    return sum;
}
"""
IN_C = {
    ("constant", "0.0", "1.0"), ("operator", "+", "-"), ("constant", "0", "1"), ("operator", "<", "<="),
    ("operator", "++", "--"), ("operator", "+=", "-="), ("sign", "-", ""), ("index", "2", "3"), ("operator", "*", "/"),
    ("condition", "(sum >= 1.5 && !n)", "(0)"), ("condition", "(sum >= 1.5 && !n)", "(1)"), ("operator", ">=", ">"),
    ("constant", "1.5", "(1.5 * 1.1)"), ("operator", "&&", "||"), ("sign", "!", ""), ("name", "fmin", "fmax"),
    ("left out", "if (sum >= 1.5 && !n) sum = fmin(sum, n);", ";"), ("left out", 'say("7 / 8");', ";"),
}  # fmt: skip


@pytest.mark.parametrize(("suffix", "text", "expected"), [("py", PYTHON, IN_PYTHON), ("c", C, IN_C)])
def test_every_small_change_is_found(
    suffix: str, text: str, expected: set[tuple[str, str, str]], tmp_path: Path
) -> None:
    path = tmp_path / f"f.{suffix}"
    path.write_text(text)
    assert {(one.kind, text[one.first : one.last], one.new) for one in draw.changes(path)} == expected


@pytest.mark.parametrize(
    "name", ["fmumbs/view/data.py", "fmumbs/core/time/step_end.c", "fmumbs/core/maths/rotations.c"]
)
def test_a_change_is_an_entry_that_can_be_planted(name: str) -> None:
    """Its text stands once in the file; what replaces it makes the change and, in Python, parses."""
    path = ROOT / name
    text = path.read_text()
    found = draw.changes(path)
    assert len(found) > 30
    for change in found[::7]:
        entry = draw.as_entry(path, change)
        if entry is None:
            continue
        assert text.count(entry["old"]) == 1 and entry["file"] == name
        planted = text.replace(entry["old"], entry["new"])
        assert planted == text[: change.first] + change.new + text[change.last :] != text
        if name.endswith(".py"):
            ast.parse(planted)


def test_each_of_the_given_files_has_its_turn_and_nothing_is_drawn_twice() -> None:
    names, count = ["fmumbs/spatial.py", "fmumbs/core/maths/rotations.c"], 40
    found = list(draw.drawn(count, 1, {name: [ROOT / name] for name in names}))
    listed = {(fault.file, fault.old, fault.new) for fault in all_faults()}
    keys = [(entry["file"], entry["old"], entry["new"]) for entry in found]
    assert len(set(keys)) == count and not listed & set(keys)
    assert [sum(entry["file"] == name for entry in found) for name in names] == [count // 2, count // 2]


def test_a_line_belongs_to_the_innermost_function_around_it() -> None:
    python = "x = 1\ndef f():\n    def g():\n        return 1\n    return g\n"
    spans = [function_around(python, at, python=True) for at in range(1, 6)]
    assert spans == [(1, 1), (2, 5), (3, 4), (3, 4), (2, 5)]
    c = "int a;\nint f(void)\n{\n    if (a) {\n    }\n}\nstruct b {\n    int c;\n};\n"
    assert [function_around(c, at, python=False) for at in (1, 3, 4, 6, 8)] == [(1, 1), (3, 6), (3, 6), (3, 6), (7, 9)]
