"""What README, docs/ and --help tell a reader to type: each command and snippet is run, or its effect is checked.

The commands of a page run in their order, in one folder, on the mechanisms that ship. Code blocks are tagged:
```console are commands after "$ ", ```python is a script, ```python title="NAME" the file NAME, which later commands of
the page may use, ```text is neither.
"""

import doctest
import importlib
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

import fmumbs as fm
from fmumbs.cli import main
from support.one_file import QUICK
from support.systems import write_speed_control

ROOT = Path(__file__).parents[1]
FOLDERS = ("docs", "benchmarks", "fmus")
PAGES = [ROOT / name for name in ("README.md", "CONTRIBUTING.md")]
PAGES += [page for name in FOLDERS for page in sorted((ROOT / name).glob("*.md"))]
SCRIPT = "double_pendulum.py"  # as README's text calls its snippet

NOT_RUN = {  # the first word of a command: why it is not run, and what is checked instead
    "make": "installs, or takes minutes: make is asked whether it could",
    "pip": "changes the environment: the extra must be one that there is; test_packaging installs a wheel",
    "fuzz/run": "takes minutes: the script and its targets must be there; make fuzz-briefly runs it",
    "build/fuzz/driver/images": "is built by fuzz/run, for FILEs that it found",
    "build/fuzz/driver/calls": "is built by fuzz/run, for FILEs that it found",
    "python benchmarks": "take up to minutes, and a C++ compiler: their options must be those of --help",
    ".": "is the shell's: what it reads must be what make writes",
}


@pytest.fixture(autouse=True)
def quick_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    """For libraries of functions for CasADi."""
    monkeypatch.setenv("CC", " ".join(QUICK))


def blocks(page: Path) -> Iterator[tuple[str, str]]:
    """Tag and text of each fenced block."""
    return ((tag, text) for tag, text in re.findall(r"^```([^\n]*)\n(.*?)^```$", page.read_text(), re.M | re.S))


def spans(page: Path) -> list[str]:
    """The text between single backquotes outside the blocks, with line ends as spaces."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.M | re.S)
    return [" ".join(span.split()) for span in re.findall(r"(?<!`)`([^`]+)`(?!`)", text)]


def commands(page: Path) -> list[list[str]]:
    """Every command of a page in its order, as words: those of blocks, then those within sentences."""
    lines = [line for tag, text in blocks(page) if tag == "console" for line in text.splitlines()]
    found = [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]
    found += [span for span in spans(page) if re.match(r"(fmumbs|make|pip|python|pythonfmu|fuzz/run|\.) \S", span)]
    return [shlex.split(command, comments=True) for command in found]


def files(page: Path) -> dict[str, str]:
    """The files that a page tells to write, by name."""
    titles = ((re.fullmatch(r'python title="([\w.]+)"', tag), text) for tag, text in blocks(page))
    return {title[1]: text for title, text in titles if title}


def run(words: list[str]) -> None:
    """Runs a command in the present folder, or does the check of NOT_RUN."""
    while "=" in words[0]:  # the environment
        words = words[1:]
    program, arguments = words[0], words[1:]
    if program == "fmumbs" and len(words) == 2 and any(p.required for p in main.commands[words[1]].params):
        pass  # a verb that a sentence names
    elif program == "fmumbs":
        done = CliRunner().invoke(main, arguments)
        assert done.exit_code == 0, f"{shlex.join(words)}\n{done.output}"
    elif program == "python" and arguments[0].startswith("benchmarks/"):
        has_options(ROOT / arguments[0], arguments[1:])
    elif program == "python":
        script = Path(arguments[0]) if Path(arguments[0]).is_file() else ROOT / arguments[0]
        environment = os.environ | {"PYTHONWARNINGS": "error"}
        done = subprocess.run([sys.executable, script, *arguments[1:]], env=environment, capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, ""), shlex.join(words)
        assert done.stdout
    elif program == "pythonfmu":
        subprocess.run([sys.executable, "-m", "pythonfmu", *arguments], check=True, capture_output=True)
    else:
        assert program in NOT_RUN, f"{shlex.join(words)}: this test does not know {program}"
        LOOKED_AT[program.partition("/")[0]](words)


def has_options(script: Path, options: list[str]) -> None:
    printed = subprocess.run([sys.executable, str(script), "--help"], capture_output=True, text=True, check=True)
    for option in options:
        assert not option.startswith("-") or re.search(rf"{re.escape(option)}\b", printed.stdout), option


def make_could(words: list[str]) -> None:
    subprocess.run(["make", "--dry-run", *words[1:]], cwd=ROOT, check=True, capture_output=True, timeout=60)


def is_in_the_fuzzer(words: list[str]) -> None:
    assert os.access(ROOT / "fuzz" / "run", os.X_OK)
    for target in words[1:]:
        assert re.search(rf"\b{target}\b", (ROOT / "fuzz" / "run").read_text()), target


def names_an_extra(words: list[str]) -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert words[1] == "install"
    for extra in re.findall(r"\[(\w+)\]", words[-1]):
        assert extra in extras


def is_in_the_makefile(words: list[str]) -> None:
    assert words[1] == ".venv/bin/activate" and "-m venv .venv" in (ROOT / "Makefile").read_text()


LOOKED_AT = {
    "make": make_could, "pip": names_an_extra, "fuzz": is_in_the_fuzzer, ".": is_in_the_makefile,
    "build": lambda words: is_in_the_fuzzer([words[0], Path(words[0]).name]),
}  # fmt: skip


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_every_block_is_tagged() -> None:
    for page in PAGES:
        for tag, text in blocks(page):
            assert tag in ("console", "python", "text") or text in files(page).values(), f"{page.name}: {text[:60]}"
            assert tag != "console" or all(line.startswith("$ ") for line in text.splitlines()), text


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_commands_of_a_page_run_in_their_order(page: Path) -> None:
    """On the files that the page tells to write, each of which some command uses."""
    for name, text in files(page).items():
        Path(name).write_text(text)
        assert any(name in words for words in commands(page)), name
    for words in commands(page):
        run(words)
        for drawn in (word for word in words if words[0] == "fmumbs" and word.endswith(".png")):
            assert Path(drawn).read_bytes().startswith(b"\x89PNG")


def test_the_tutorial_takes_thirty_lines() -> None:
    """From nothing to a coupled FMU of a mechanism of one's own."""
    written = files(ROOT / "docs" / "tutorial.md")
    assert len(written) == 3
    assert sum(bool(line.strip()) for text in written.values() for line in text.splitlines()) <= 30


def test_the_lqr_of_the_tutorial_holds_its_pose() -> None:
    """Closed with its FMU in FMPy, from 0.2 rad beside it."""
    (text,) = (text for tag, text in blocks(ROOT / "docs" / "tutorial.md") if "solve_continuous_are" in text)
    Path("held.py").write_text(text)
    done = subprocess.run([sys.executable, "-W", "error", "held.py"], capture_output=True, text=True, check=True)
    found = {name: float(value) for name, value in re.findall(r"'(\w+)': (-?[\d.e-]+)", done.stdout)}
    assert found == pytest.approx({"shoulder": -0.6, "elbow": 0.9}, abs=1e-6)


def test_the_snippets_run_as_scripts_and_draw_their_pictures(tmp_path: Path) -> None:
    """As on a machine without a display, and any warning is an error."""
    snippets = [text for page in PAGES for tag, text in blocks(page) if tag == "python"]
    assert snippets
    write_speed_control(tmp_path)
    for text in snippets:
        (tmp_path / SCRIPT).write_text(text)
        environment = os.environ | {"PYTHONWARNINGS": "error"}
        done = subprocess.run([sys.executable, SCRIPT], env=environment, capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout
        for name in re.findall(r'"(\w+\.(?:png|fmu|csv))"', text):
            assert (tmp_path / name).stat().st_size > 1000, name
        assert (tmp_path / "double_pendulum.png").read_bytes().startswith(b"\x89PNG")


def test_the_commands_on_a_shipped_mechanism_fit_the_file_of_the_same_name(tmp_path: Path) -> None:
    """README allows either name."""
    page = PAGES[0]
    assert f"`{SCRIPT}`" in page.read_text()
    (tmp_path / SCRIPT).write_text(next(text for tag, text in blocks(page) if tag == "python"))
    mine = [[SCRIPT if word == Path(SCRIPT).stem else word for word in words] for words in commands(page)]
    tried = [words for words in mine if words[0] == "fmumbs" and SCRIPT in words]
    assert len(tried) >= 2
    for words in tried:
        run(words)


def test_the_examples_of_docstrings_make_a_model_that_runs() -> None:
    """Each class's examples, on the joints that they name."""
    found = [one for path in sorted((ROOT / "fmumbs" / "mechanism").rglob("*.py")) for one in examples_in(path)]
    assert {"Law", "Stop", "Coupling"} <= {test.name.rpartition(".")[2] for test in found}
    for test in found:
        test.globs = named = named_joints()
        results = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test, clear_globs=False)
        assert results.failed == 0 < results.attempted, test.name
        fm.simulate(named["model"], stop=0.05)


def examples_in(path: Path) -> list[doctest.DocTest]:
    module = importlib.import_module(".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"))
    return [test for test in doctest.DocTestFinder().find(module) if test.examples]


def named_joints() -> dict[str, Any]:
    """A model with joints A, B, C, hinge and slider and a spring, each joint on a body of its own."""
    model = fm.Model("named")
    named: dict[str, Any] = {"fm": fm, "model": model}
    for i, name in enumerate(("A", "B", "C", "hinge", "slider")):
        body = fm.Body.rod(f"body_{name}", length=1.0, mass=1.0)
        kind = fm.Prismatic if name == "slider" else fm.Revolute
        named[name] = kind(name, model.ground.at(0, i, 0), body.base, axis="y")
        model.add(body, named[name])
    named["spring"] = fm.Spring("spring", model.ground.at(0, 0, 2), body.tip, stiffness=10.0)
    model.add(named["spring"])
    return named


def test_names_in_sentences_exist() -> None:
    """fm.Name and fm.Name.method(...) between backquotes; calls with constants alone are made."""
    for page in PAGES:
        for span in spans(page):
            if span.startswith("fm."):
                name = span.partition("(")[0]
                value = fm
                for part in name.split(".")[1:]:
                    value = getattr(value, part)
            if "..." not in span and re.fullmatch(r'fm\.[\w.]+\((?:[\w ]+=|[\d., -]|"\w+")*\)', span):
                eval(span, {"fm": fm})


def test_files_and_folders_that_are_named_exist() -> None:
    """Between backquotes: a path from the root, or from any folder; what programs write is left out."""
    made = re.compile(r"double_pendulum|^build/|^sources/$|modelDescription\.xml|^terminalsAndIcons/")
    folders = [path for path in ROOT.iterdir() if path.name not in ("build", ".venv", ".git")]
    every = [path for folder in folders for path in (folder, *folder.rglob("*"))]
    ends = tuple("/" + path.relative_to(ROOT).as_posix() for path in every)
    path_of = re.compile(r"(?!fm\.)(?:[\w-]+/)*(?:[\w-]+/|[\w-]+\.(?:py|c|h|inc|md|txt|toml|lock|json|xml))")
    named = [
        (page.name, span) for page in PAGES for span in spans(page)
        if path_of.fullmatch(span) and span not in files(page)
    ]  # fmt: skip
    assert len(named) > 20
    for page, span in named:
        assert made.search(span) or any(end.endswith("/" + span.strip("/")) for end in ends), f"{page}: {span}"


def test_recipes_name_existing_files_and_their_contents() -> None:
    """CONTRIBUTING.md: each path is there, and each other name in a step stands in a file that the step names first."""
    steps = re.findall(r"^\d+\. (.*?)(?=^\d+\. |^\n|^## |\Z)", (ROOT / "CONTRIBUTING.md").read_text(), re.M | re.S)
    assert len(steps) >= 10
    for step in steps:
        named = re.findall(r"`([^`]+)`", step)
        paths = [ROOT / name for name in named if "/" in name]
        assert paths and all(path.exists() for path in paths), step
        texts = [path.read_text() for path in paths if path.is_file()] or [p.read_text() for p in paths[0].glob("*.py")]
        for name in named:
            if re.fullmatch(r"\w+(\(\.*\))?", name):
                assert any(re.search(rf"\b{name.partition('(')[0]}\b", text) for text in texts), f"{name}: {step}"


def test_names_in_the_glossary_are_in_the_code() -> None:
    """What stands between backquotes in the last column of a table: a file, or a word of the sources."""
    sources = [p for p in (ROOT / "fmumbs").rglob("*") if p.suffix in (".py", ".c", ".h", ".inc")]
    words = set(re.findall(r"\w+", "\n".join(path.read_text() for path in sources)))
    rows = [line for line in (ROOT / "docs" / "glossary.md").read_text().splitlines() if line.startswith("| ")]
    named = [name for row in rows for name in re.findall(r"`([^`]+)`", row.split("|")[-2])]
    assert len(named) > 50
    for name in named:
        assert (ROOT / name).exists() if "/" in name else set(re.findall(r"\w+", name)) <= words, name


def test_links_lead_to_files() -> None:
    """Outside of code, which may have brackets in a row."""
    for page in PAGES:
        prose = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(), flags=re.DOTALL)
        for link in re.findall(r"(?<!\\)\]\((?!https?:)([^)#]+)", prose):
            assert (page.parent / link).exists(), f"{page.name}: {link}"


def examples(command: click.Command) -> list[list[str]]:
    """The commands that --help shows: lines that begin with the program's name."""
    lines = (command.help or "").splitlines()
    found = [line.strip() for line in lines if line.strip().startswith("fmumbs ")]
    return [shlex.split(re.split(r"  +", line)[0]) for line in found]


@pytest.mark.parametrize("verb", [None, *main.commands])
def test_the_examples_of_help_work_in_their_order(verb: str | None, tmp_path: Path) -> None:
    command = main if verb is None else main.commands[verb]
    (tmp_path / "torques.csv").write_text("time,A.tau\n0,0\n1,5\n")
    if verb in ("info", "run", "verify", "sweep", "view"):  # they begin where `export` ends
        for words in examples(main.commands["export"])[:1]:
            run(words)
    if verb == "view":
        run(["fmumbs", "run", "double_pendulum", "-o", "motion.csv"])
    if verb in (None, "ssp", "cosim"):
        write_speed_control(tmp_path)
    if verb in (None, "cosim"):
        for words in examples(main.commands["ssp"])[:1]:
            run(words)
    assert examples(command)
    for words in examples(command):
        run([*words, "--workers", "0"] if words[1] == "sweep" else words)  # without processes, for speed
