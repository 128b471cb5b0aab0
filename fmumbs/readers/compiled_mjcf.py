"""MJCF as MuJoCo compiles it, after its textures and skins, which have no mechanics, are dropped.

Before MuJoCo opens a file, all files that it names are looked up, so that none outside of the given folders is read.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fmumbs.errors import ModelError
from fmumbs.readers import xml
from fmumbs.readers.folders import surroundings

Array = NDArray[np.float64]

_DISABLED = "mjDSBL_"
_DIRECTORIES = ("meshdir", "texturedir", "assetdir")
_MOST_FILES = 10_000
_MOST_REASON = 400


def compiled(path: Path, folders: Iterable[str | os.PathLike[str]]) -> tuple[Any, list[str]]:
    """The mujoco.MjModel of a file, and MuJoCo's warnings. folders: more of which files may be read, beside the
    surroundings of the file (folders.py).

    Raises ModelError for a file that names one outside of these, that MuJoCo does not compile, and if it is missing.
    """
    mujoco = library()
    _check_files(path, [Path(os.path.realpath(folder)) for folder in folders])
    told: list[str] = []
    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(lambda text: told.append(str(text).strip()))  # else it writes a file
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            spec = mujoco.MjSpec.from_file(os.fspath(path))
            for material in spec.materials:
                material.textures = [""] * len(material.textures)
            for element in (*spec.textures, *spec.skins):
                spec.delete(element)
            model = spec.compile()
        return model, list(dict.fromkeys([*told, *(str(one.message).strip() for one in caught)]))
    except Exception as error:  # its own have no common class
        reason = " ".join(str(error).split())[:_MOST_REASON].rstrip(".")
        raise ModelError(f"'{path}': MuJoCo does not compile it: {reason}. Correct it.") from None
    finally:
        mujoco.set_mju_user_warning(before)


def library() -> Any:
    """The module mujoco."""
    try:
        import mujoco
    except ImportError:
        raise ModelError("reading MJCF needs the package mujoco. Install it: pip install 'fmumbs[mjcf]'.") from None
    return mujoco


class Compiled:
    """A model of MuJoCo's, with names for all that it has.

    disabled: parts of the physics that the file turns off, such as "gravity".
    """

    def __init__(self, m: Any) -> None:
        self.m = m
        self._text = bytes(m.names)
        self._unique: dict[str, list[str]] = {}
        self.model_name = self._at(0)
        bit, flags = library().mjtDisableBit, int(m.opt.disableflags)
        known = [name for name in dir(bit) if name.startswith(_DISABLED)]
        self.disabled = {n.removeprefix(_DISABLED).lower() for n in known if flags & int(getattr(bit, n))}
        self.link_names = self._all_names("body", m.nbody, lambda i: f"body{i}" if i else "world")
        self.joint_names = self._all_names("jnt", m.njnt, lambda j: f"{self.link_names[int(m.jnt_bodyid[j])]}_joint")

    def gravity(self) -> Array:
        """[m/s2] in the world."""
        return np.zeros(3) if "gravity" in self.disabled else np.array(self.m.opt.gravity)

    def name(self, kind: str, index: int) -> str:
        """The name of an element, or its kind and number."""
        if kind not in self._unique:
            count = len(getattr(self.m, f"name_{kind}adr"))
            self._unique[kind] = self._all_names(kind, count, lambda i: f"{kind}{i}")
        return self._unique[kind][index]

    def _at(self, address: int) -> str:
        return self._text[address : self._text.index(b"\0", address)].decode("utf-8", "replace")

    def _all_names(self, kind: str, count: int, default: Callable[[int], str]) -> list[str]:
        """Names that differ; those without one get a default that no other has."""
        found = [self._at(int(address)) for address in getattr(self.m, f"name_{kind}adr")[:count]]
        taken = set(found)
        for i, name in enumerate(found):
            k = 1
            while not name or (not found[i] and name in taken):
                name, k = f"{default(i)}{'' if k == 1 else f'_{k}'}", k + 1
            taken.add(name)
            found[i] = name
        return found


def _check_files(path: Path, folders: list[Path]) -> None:
    """Raises ModelError if the file, or one that it includes, names a file outside of the folders."""
    main = Path(os.path.realpath(path)).parent
    allowed = [surroundings(path), *folders]
    waiting, seen, places = [Path(os.path.realpath(path))], set(), {main}
    named: list[tuple[str, str]] = []
    while waiting:
        file = waiting.pop()
        if file in seen:
            continue
        seen.add(file)
        if len(seen) > _MOST_FILES:
            raise ModelError(f"'{path}' includes more than {_MOST_FILES} files. Write fewer.")
        root, _ = xml.parse(file, xml.read_bytes(file))
        if file == Path(os.path.realpath(path)) and xml.tag(root) != "mujoco":
            raise ModelError(f"'{path}' has the root <{xml.tag(root)}>, not <mujoco>, so it is not MJCF. Give MJCF.")
        for element in root.iter():
            if not isinstance(element.tag, str):
                continue
            places |= {main / element.get(one, "") for one in _DIRECTORIES if element.get(one)}
            for value in _files_of(element):
                named.append((value, f"'{file}', line {element.sourceline}"))
                if xml.tag(element) in ("include", "model"):
                    waiting += [found for base in (main, file.parent) if (found := _inside(base / value, allowed))]
    for value, where in named:
        for base in places:
            if _inside(base / value, allowed) is None and (base / value).exists():
                raise ModelError(
                    f"{where}: '{value[:200]}' is outside of the folders that may be read. Give its folder in folders."
                )


def _files_of(element: Any) -> Iterator[str]:
    for name, value in element.attrib.items():
        if name.startswith("file") and value:
            yield value


def _inside(path: Path, allowed: list[Path]) -> Path | None:
    """The file at a path, if it lies in one of the folders and is there."""
    try:
        found = Path(os.path.realpath(path))
        return found if found.is_file() and any(found.is_relative_to(one) for one in allowed) else None
    except (OSError, ValueError):
        return None
