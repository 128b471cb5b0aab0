"""A page of each example: its text, its pictures, its code, and what it prints."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

from runs import ROOT, folder_of
from scenes import SCRIPT, moving

SCENE = "scene.html"  # of an example, in its folder of results
EXAMPLES = ROOT / "examples"
MARK = re.compile(r"<!-- example: (\w+) -->")


def names() -> list[str]:
    """The examples: the scripts in examples/."""
    return sorted(path.stem for path in EXAMPLES.glob("*.py"))


def pages() -> dict[str, str | bytes]:
    """The page of each example, its pictures, and the overview, by their place in the site."""
    made: dict[str, str | bytes] = {"examples/index.md": _overview()}
    for name in names():
        made[f"examples/{name}.md"] = _page(name)
        made |= {f"examples/{name}/{path.name}": path.read_bytes() for path in (*pictures(name), *scene(name))}
    return made


def with_outputs(markdown: str, uri: str) -> str:
    """A page with the pictures and the output of examples where it has `<!-- example: NAME -->`."""
    up = "../" * uri.count("/")
    return MARK.sub(lambda m: f"{_shown(m[1], f'{up}examples/')}\n\n```text\n{output(m[1])}```", markdown)


def results(name: str) -> Path:
    """The folder with what an example writes, and `output.txt`; it is run if its sources changed."""
    return folder_of(name, lambda work: _run(name, work))


def _run(name: str, work: Path) -> None:
    """Runs an example as a user does; warnings are errors. Raises RuntimeError with what it printed."""
    environment = os.environ | {"PYTHONWARNINGS": "error", "MPLBACKEND": "agg"}
    watched = str(Path(__file__).with_name("watched.py"))
    command = [sys.executable, watched, str(EXAMPLES / f"{name}.py"), SCENE, f"../../{SCRIPT}"]
    ran = subprocess.run(command, cwd=work, env=environment, capture_output=True, text=True, timeout=1800)
    if ran.returncode or ran.stderr:
        raise RuntimeError(f"examples/{name}.py ended with {ran.returncode}:\n{ran.stderr}")
    (work / "output.txt").write_text(ran.stdout)


def output(name: str) -> str:
    """What an example prints."""
    return (results(name) / "output.txt").read_text()


def pictures(name: str) -> list[Path]:
    """The pictures and films that an example writes; that of its own name is first."""
    found = [path for path in results(name).rglob("*") if path.suffix in (".png", ".gif")]
    return sorted(found, key=lambda path: (path.stem != name, path.name))


def scene(name: str) -> list[Path]:
    """The page with the motion that an example computes, if it computes one."""
    return [path for path in [results(name) / SCENE] if path.exists()]


def described(name: str) -> tuple[str, str, str]:
    """Title, text and code of an example: its docstring's first line, the rest, and what follows."""
    source = (EXAMPLES / f"{name}.py").read_text()
    tree = ast.parse(source)
    title, _, text = (ast.get_docstring(tree) or name).partition("\n")
    code = "".join(source.splitlines(keepends=True)[tree.body[0].end_lineno or 0 :])
    return title.rstrip("."), text.strip(), code.strip()


def _page(name: str) -> str:
    title, text, code = described(name)
    prose = re.sub(r"(?:^    .*\n?)+", lambda m: f"```text\n{_dedented(m[0])}```\n", text + "\n", flags=re.M)
    return (
        f"# {title}\n\n{_shown(name, '')}\n\n{prose}\n"
        f'```python title="examples/{name}.py"\n{code}\n```\n\nIt prints\n\n```text\n{output(name)}```\n'
    )


def _dedented(block: str) -> str:
    return "".join(f"{line.removeprefix('    ')}\n" for line in block.splitlines())


def _shown(name: str, folder: str) -> str:
    title = described(name)[0]
    shown = [f"![{title}]({folder}{name}/{path.name})" for path in pictures(name)]
    shown += [moving(f"{folder}{name}/{path.name}") for path in scene(name)]
    return "\n\n".join(shown)


def _overview() -> str:
    """Every example with its first picture."""
    parts = ["# Examples", "`python examples/NAME.py` runs one and writes its picture."]
    for name in names():
        title = described(name)[0]
        picture = f"![{title}]({name}/{pictures(name)[0].name}){{ width=480 }}"
        parts += [f"## [{title}]({name}.md)", picture]
    return "\n\n".join(parts) + "\n"
