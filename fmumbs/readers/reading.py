"""Models by name: the path of a file, whose suffix says who reads it, or the stem of a model that ships."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from fmumbs import _checks
from fmumbs.mechanism import Model
from fmumbs.readers import python_file, robot_file
from fmumbs.readers.python_file import NoSuchModel, Parameters, parameters_of

T = TypeVar("T")

_PACKAGE = Path(__file__).parents[1]


@dataclass(frozen=True)
class Reader:
    """Reads files of one suffix.

    read: what the file at a path describes, with parameters by name; an object of the type that is asked for. Raises
    NoSuchModel for an unknown parameter, ModelError for a file that it cannot read. parameters: those that it takes.
    """

    read: Callable[[Path, Mapping[str, Any], type[Any]], Any]
    parameters: Callable[[Path], Parameters]


_ROBOT = Reader(robot_file.read_file, robot_file.parameters_of_file)

READERS = {
    ".py": Reader(python_file.read_file, python_file.parameters_of_file),
    ".urdf": _ROBOT,
    ".xacro": _ROBOT,
    ".xml": _ROBOT,
    ".mjcf": _ROBOT,
}
"""By suffix, in small letters."""


def model_folders() -> list[Path]:
    """Folders of the models that ship: of the installed package, else of the source tree."""
    return [folder for folder in (_PACKAGE / "_models", _PACKAGE.parent / "models") if folder.is_dir()]


def model_names() -> list[str]:
    """The stems of the models that ship."""
    files = (file for folder in model_folders() for file in folder.glob("*.py"))
    return sorted({file.stem for file in files if not file.stem.startswith("_")})


def find_model(name: str | os.PathLike[str]) -> Path:
    """The file of a model, from its path or its stem. Raises NoSuchModel."""
    name = os.fspath(name)
    path, known = Path(name), " or ".join(READERS)
    if path.suffix.lower() in READERS:
        if os.path.isfile(path):  # not of Path, which refuses names that are too long
            return path
        raise NoSuchModel(f"there is no file '{name}'. {_checks.nearest(path.stem, model_names())}")
    if path.suffix:
        raise NoSuchModel(f"'{name}' has the suffix {path.suffix}, which no reader reads. Give a file with {known}.")
    for folder in model_folders():
        if path.name == name and os.path.isfile(folder / f"{name}.py"):
            return folder / f"{name}.py"
    raise NoSuchModel(
        f"there is no model '{name}'. {_checks.nearest(name, model_names())} Or give the path of a file with {known}."
    )


def read_model(name: str | os.PathLike[str], parameters: Mapping[str, Any] | None = None) -> Model:
    """Reads the model `name`, a path or the stem of a model that ships, with these parameters.

    Those of a Python file are of build(). It can import modules in its folder, as in `python FILE`; each call loads
    them again. Those of a robot's file are of fm.read_urdf() or fm.read_mjcf(), and of xacro also its own.

    Raises NoSuchModel for an unknown name, suffix or parameter, ModelError with the line for a file that fails, exits
    or does not return a Model.
    """
    return read_built(name, parameters, Model)


def read_built(name: str | os.PathLike[str], parameters: Mapping[str, Any] | None, kind: type[T]) -> T:
    """What a file describes, an object of `kind`; otherwise as read_model()."""
    path = find_model(name)
    found: T = READERS[path.suffix.lower()].read(path, parameters or {}, kind)
    return found


def build_parameters(build: str | os.PathLike[str] | Callable[..., Any]) -> Parameters:
    """The parameters that a model takes, from its function or its name, and whether it takes any other."""
    if not isinstance(build, str | os.PathLike):
        return parameters_of(build)
    path = find_model(build)
    return READERS[path.suffix.lower()].parameters(path)
