"""The gallery: a picture of each mechanism in models/, at its start, and its scene."""

import ast
import warnings
from pathlib import Path

from runs import ROOT, folder_of
from scenes import SCRIPT, moving

import fmumbs as fm
from fmumbs.readers import read_model
from fmumbs.view import view_model
from fmumbs.view.png import png
from fmumbs.view.still import still

MODELS = ROOT / "models"
SIZE = 360  # pixels
THIN = 0.02  # least radius of a body, relative to the mechanism: most rods have none of their own


def names() -> list[str]:
    """The mechanisms: the files in models/."""
    return sorted(path.stem for path in MODELS.glob("*.py"))


def scenes() -> Path:
    """The folder with the page of each mechanism; they are made once for each state of the sources."""
    return folder_of("gallery", _write)


def _write(folder: Path) -> None:
    script = SCRIPT.rpartition("/")[2]
    for name in names():
        with warnings.catch_warnings():
            for told in (fm.StartWarning, fm.DeformationWarning):  # by `fmumbs check` and `fmumbs run`
                warnings.simplefilter("ignore", told)
            made = view_model(read_model(name))
        (folder / f"{name}.html").write_text(made.html_beside(script), encoding="utf-8")


def pages() -> dict[str, str | bytes]:
    """The page and its pictures, by their place in the site."""
    text = ["# Gallery", "The mechanisms in `models/`: `fmumbs check crane` describes one, `fmumbs export` exports it."]
    made: dict[str, str | bytes] = {}
    for name in names():
        made[f"gallery/{name}.png"] = png(still(fm.compile(read_model(name)), SIZE, thin=THIN, samples=2))
        about = ast.get_docstring(ast.parse((MODELS / f"{name}.py").read_text())) or ""
        made[f"scenes/{name}.html"] = (scenes() / f"{name}.html").read_bytes()
        shown = f"![{name}](gallery/{name}.png)\n{moving(f'scenes/{name}.html')}"
        text += [f"## {name}", shown, about.replace("\n", " ")]
    return made | {"gallery.md": "\n\n".join(text) + "\n"}
