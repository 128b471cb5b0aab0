"""Replaced terms stay replaced: no identifier, comment, message or page uses one (docs/glossary.md has the terms).

Only terms without another use are listed. A word that also has a plain sense, such as `turn` or `cut`, is not.
"""

import re
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

REPLACED = {  # pattern, ignoring case and underscores: what to say instead
    r"mend(s|ed|ing)?": "fix",
    r"anew": "again",
    r"amid": "during, in the middle of",
    r"hangs? on nothing": "is not connected to the ground",
    r"hangs? (by|from|on) (it|itself|them|themselves|the ground)": "is carried by, is connected to",
    r"by which (it|one) hangs": "that carries it",
    r"(is|are|was|were|be) to be had": "is available, has",
    r"goes by|go by|going by": "follows, uses",
    r"is no (finite )?number": "is not a number, is not finite",
    r"(?<!there\s)is no (zip|file|FMU|unit|list|mapping|name|variable name|regular file)": "is not a ...",
    r"(is|are) (nowhere|not) said": "is not specified",
    r"as \w+ says it": "from, as in",
    r"what the user said": "the model, the input",
    r"nobody knows": "is unknown",
    r"where there is no start|has no start|have no start": "if assembly fails",
    r"(to )?the bits of a new (instance|solver)": "to the initial state, bit for bit",
    r"for (those who|who(ever)?) (measure|has|have|reads?)": "for benchmarking, for ...",
    r"(its )?freedoms go all at once": "its coordinates cannot be held individually",
    r"simple rows say": "supported constraint equations",
    r"is opposed by|no inertia opposes": "has inertia, has no inertia",
    r"beside its place": "atomically",
    r"of its own sort": "of its kind",
    r"of next to no": "small, massless",
    r"without a word": "without a warning",
    r"who gives it": "the caller",
    r"are alike found": "are found the same way",
    r"is told of": "receives, knows",
    r"(looks?|looked) at together": "is examined together",
    r"tell(s)? apart": "distinguishes",
}

READ = (
    "*.md", "docs/*.md", "benchmarks/*.md", "fmumbs/**/*.py", "models/*.py", "examples/*.py", "benchmarks/**/*.py",
    "benchmarks/**/*.[chp]*", "cmake/*", "CMakeLists.txt", "Makefile", "pyproject.toml", "fmumbs/core/**/*.[ch]",
    "fmumbs/core/**/*.inc", "fmumbs/core/sources.txt", "tests/**/*.py", "tests/**/*.[ch]", "tests/faults/*.toml",
    "fuzz/*",
)  # fmt: skip
UNREAD = {"CHANGELOG.md", "tests/test_words.py"}  # which name the replaced terms


@cache
def files() -> list[Path]:
    """The files that git tracks and this test reads; without git, all that fit."""
    found = {path for pattern in READ for path in ROOT.glob(pattern) if path.is_file()}
    found -= {ROOT / name for name in UNREAD}
    done = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    tracked = {ROOT / name for name in done.stdout.splitlines()}
    return sorted(found & tracked if tracked else found)


@cache
def plain_text(path: Path) -> str:
    return plain(path.read_text(encoding="utf-8"))


def plain(text: str) -> str:
    """Comment marks and underscores become spaces."""
    return re.sub(r"[_#*/]", " ", text)


def uses(pattern: str, text: str) -> Iterator[int]:
    """The lines, from 1, on which a term begins in plain text; it may go on in the next line."""
    words = re.sub(r"(?<=\w|\)) ", r"\\s+", pattern)
    for match in re.finditer(rf"(?<![A-Za-z]){words}(?![A-Za-z])", text, re.IGNORECASE):
        yield text.count("\n", 0, match.start()) + 1


@pytest.mark.parametrize("pattern", REPLACED)
def test_no_replaced_term_is_used(pattern: str) -> None:
    found = [f"{path.relative_to(ROOT)}:{line}" for path in files() for line in uses(pattern, plain_text(path))]
    assert not found, f"say '{REPLACED[pattern]}' in {', '.join(found)}"


def test_a_term_is_found_across_lines_and_in_identifiers() -> None:
    assert list(uses("goes by", plain("a\n# it goes\n# by its name"))) == [2]
    assert list(uses("mend(s|ed|ing)?", plain("def mend_it(): amend(recommended)"))) == [1]


def test_every_folder_is_read() -> None:
    names = {path.relative_to(ROOT).parts[0] for path in files()}
    assert {"fmumbs", "tests", "docs", "models", "examples", "benchmarks", "fuzz", "README.md"} <= names
