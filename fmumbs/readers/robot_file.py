"""Robots by the suffix of their file: .urdf, .xacro, .mjcf, and .xml, whose root element says which it is."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from fmumbs import _checks
from fmumbs.errors import ModelError
from fmumbs.mechanism import Model
from fmumbs.readers.python_file import NoSuchModel, Parameters


def read_file(path: Path, parameters: Mapping[str, Any], kind: type[Any]) -> Any:
    """The Model of a robot's file. Raises NoSuchModel for an unknown parameter."""
    if not issubclass(Model, kind):
        raise ModelError(f"'{path}' is a robot, not a {kind.__name__}. Give a Python file that builds one.")
    read, known = _reader(path), parameters_of_file(path)
    given = dict(parameters)
    others = {name: given.pop(name) for name in parameters if name not in known[0]}
    if others and not known[1]:
        name = next(iter(others))
        raise NoSuchModel(f"'{path}' is read without a parameter '{name}'. {_checks.nearest(name, known[0])}")
    return read(path, **given, **({"arguments": others} if others else {}))


def parameters_of_file(path: Path) -> Parameters:
    """Those of its reader; xacro takes any other, too."""
    is_xacro = path.suffix.lower() == ".xacro"
    names = [name for name in inspect.signature(_reader(path)).parameters if name not in ("path", "arguments")]
    return names, is_xacro


def _reader(path: Path) -> Callable[..., Model]:
    from fmumbs.readers import xml  # late, as are both readers: most models are Python files
    from fmumbs.readers.mjcf import read_mjcf
    from fmumbs.readers.urdf import read_urdf

    suffix = path.suffix.lower()
    if suffix in (".urdf", ".xacro"):
        return read_urdf
    if suffix == ".mjcf":
        return read_mjcf
    root, _ = xml.parse(path, xml.read_bytes(path))
    if xml.tag(root) not in ("robot", "mujoco"):
        raise ModelError(f"'{path}' has the root <{xml.tag(root)}>, neither <robot> nor <mujoco>. Give a robot's file.")
    return read_urdf if xml.tag(root) == "robot" else read_mjcf
