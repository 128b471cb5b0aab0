"""A page of each notebook: it is executed, and shown with its outputs."""

import base64
import os
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from runs import ROOT, folder_of

NOTEBOOKS = ROOT / "examples" / "notebooks"


def names() -> list[str]:
    """The notebooks in examples/notebooks/."""
    return sorted(path.stem for path in NOTEBOOKS.glob("*.ipynb"))


def pages() -> dict[str, str | bytes]:
    """The page of each notebook and its pictures, by their place in the site."""
    made: dict[str, str | bytes] = {}
    for name in names():
        made |= _page(name)
    return made


def executed(name: str) -> Any:
    """A notebook with the outputs of all its cells. Raises nbclient's error for a cell that fails."""
    folder = folder_of(f"notebook-{name}", lambda work: _run(name, work))
    return nbformat.read(folder / "executed.ipynb", as_version=4)


def _run(name: str, work: Path) -> None:
    notebook = nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4)
    resources, quietly = {"metadata": {"path": str(work)}}, ["--IPKernelApp.log_level=ERROR"]
    client = NotebookClient(
        notebook, timeout=900, kernel_name="python3", resources=resources, extra_arguments=quietly
    )
    done = client.execute(env={name: value for name, value in os.environ.items() if name != "MPLBACKEND"})
    nbformat.write(done, work / "executed.ipynb")


def _page(name: str) -> dict[str, str | bytes]:
    made: dict[str, str | bytes] = {}
    text: list[str] = []
    for cell in executed(name).cells:
        if cell.cell_type == "markdown":
            text.append(cell.source)
            continue
        text.append(f"```python\n{cell.source}\n```")
        for one in _joined(cell.outputs):
            shown, picture = _output(one, f"{name}/{len(made)}.png")
            text.append(shown)
            if picture:
                made[f"examples/notebooks/{name}/{len(made)}.png"] = picture
    text.append(f"The notebook is `examples/notebooks/{name}.ipynb`.")
    return made | {f"examples/notebooks/{name}.md": "\n\n".join(text) + "\n"}


def _joined(outputs: list[Any]) -> list[Any]:
    """Outputs, with what is printed one after the other as one."""
    found: list[Any] = []
    for one in outputs:
        if one.output_type == "stream" and found and found[-1].output_type == "stream":
            found[-1].text += one.text
        else:
            found.append(one)
    return found


def _output(one: Any, target: str) -> tuple[str, bytes | None]:
    """Markdown of one output of a cell, and its picture."""
    if one.output_type == "stream":
        return f"```text\n{one.text}```", None
    if "image/png" in one.data:
        return f"![A figure of this notebook]({target})", base64.b64decode(one.data["image/png"])
    return f"```text\n{one.data.get('text/plain', '')}\n```", None
