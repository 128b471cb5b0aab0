"""The gallery: a picture of each mechanism in models/, at its start."""

import ast

from runs import ROOT

import fmumbs as fm
from fmumbs.readers import read_model
from fmumbs.view.png import png
from fmumbs.view.still import still

MODELS = ROOT / "models"
SIZE = 360  # pixels
THIN = 0.02  # least radius of a body, relative to the mechanism: most rods have none of their own


def names() -> list[str]:
    """The mechanisms: the files in models/."""
    return sorted(path.stem for path in MODELS.glob("*.py"))


def pages() -> dict[str, str | bytes]:
    """The page and its pictures, by their place in the site."""
    text = ["# Gallery", "The mechanisms in `models/`: `fmumbs check crane` describes one, `fmumbs export` exports it."]
    made: dict[str, str | bytes] = {}
    for name in names():
        made[f"gallery/{name}.png"] = png(still(fm.compile(read_model(name)), SIZE, thin=THIN, samples=2))
        about = ast.get_docstring(ast.parse((MODELS / f"{name}.py").read_text())) or ""
        text += [f"## {name}", f"![{name}](gallery/{name}.png)", about.replace("\n", " ")]
    return made | {"gallery.md": "\n\n".join(text) + "\n"}
