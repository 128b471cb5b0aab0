"""Where the files are that a robot's file names: package://, file:// and relative paths.

Only files below some folders are read: those of `packages` and ROS_PACKAGE_PATH; a package that is one of the next few
folders above the file or lies in one of them; and the file's surroundings: the package that it is in, else the second
folder above its own.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import unquote, urlsplit

from fmumbs.errors import ModelError

_PACKAGED = ("package", "model")
_ABOVE = 5  # folders, the file's own among them, that may be a package or have it in them


class NotFound(Exception):
    """There is no such file, or it may not be read; the text says why."""


def surroundings(file: Path) -> Path:
    """The folder of the package that a file is in, by its package.xml, else the second above its own."""
    here = Path(os.path.realpath(file)).parent
    own = next((folder for folder in (here, *here.parents) if (folder / "package.xml").is_file()), here.parent.parent)
    return here if own == own.parent else own  # not all that there is


class Folders:
    """Finds files.

    file: the robot's. packages: folders by the names of packages. Raises ModelError for one that is not a folder.
    """

    def __init__(self, file: Path, packages: Mapping[str, str | os.PathLike[str]]) -> None:
        self._here = Path(os.path.realpath(file)).parent
        self._packages = {str(name): Path(os.path.realpath(folder)) for name, folder in packages.items()}
        for name, folder in self._packages.items():
            if not folder.is_dir():
                raise ModelError(f"packages: '{name}' is at '{folder}', which is not a folder. Give its folder.")
        places = os.environ.get("ROS_PACKAGE_PATH", "").split(os.pathsep)
        self._ros = [Path(os.path.realpath(place)) for place in places if place]
        self._own = surroundings(file)

    def find(self, name: str) -> Path:
        """The file that `name` stands for. Raises NotFound."""
        try:
            scheme, rest = self._split(name.strip())
            for root, path in self._places(scheme, rest):
                found = Path(os.path.realpath(path))
                if not any(found.is_relative_to(one) for one in root):
                    raise NotFound(
                        f"'{name}' is outside of the folders that may be read; name its folder in packages"
                    )
                if found.is_file():
                    return found
        except (OSError, ValueError) as error:
            raise NotFound(f"'{name[:200]}' cannot be found ({error})") from None
        raise NotFound(f"there is no file '{name[:200]}' here; name the folder of its package in packages")

    @staticmethod
    def _split(name: str) -> tuple[str, str]:
        if "://" not in name:
            return ("file" if os.path.isabs(name) else ""), name.replace("\\", "/")
        parts = urlsplit(name)
        path = unquote(f"{parts.netloc}{parts.path}" if parts.scheme in _PACKAGED else parts.path)
        if parts.scheme not in (*_PACKAGED, "file"):
            raise NotFound(f"'{name[:200]}' is not a file on this machine, and nothing is fetched")
        return parts.scheme, path

    def _places(self, scheme: str, rest: str) -> Iterator[tuple[list[Path], Path]]:
        """Folders of which one must contain a path, and the path, in the order in which they are tried."""
        all_given = [self._own, *self._packages.values(), *self._ros]
        if scheme == "file":
            yield all_given, Path(rest)
        elif scheme in _PACKAGED:
            package, _, inside = rest.strip("/").partition("/")
            for folder in self._of_package(package):
                yield [folder], folder / inside
            if not inside:  # package://part.stl
                yield all_given, self._here / package
        else:
            yield all_given, self._here / rest
            for folder in self._here.parents:
                if folder.is_relative_to(self._own) and not rest.startswith(".."):
                    yield [self._own], folder / rest

    def _of_package(self, name: str) -> Iterator[Path]:
        if name in self._packages:
            yield self._packages[name]
        if not name or name in (".", ".."):
            return
        for root in self._ros:
            for folder in (root / name, root):
                if folder.name == name:
                    yield Path(os.path.realpath(folder))
        for folder in (self._here, *self._here.parents)[:_ABOVE]:
            if folder.parent == folder:
                return
            if folder.name == name:
                yield folder
            elif (folder / name).is_dir():
                yield Path(os.path.realpath(folder / name))
