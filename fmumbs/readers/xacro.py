"""Expands xacro, the macro language of URDF, by xacrodoc. A xacro file is a program, like a Python file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from fmumbs.errors import ModelError

_MOST_REASON = 400


def expanded(path: Path, packages: Mapping[str, str | os.PathLike[str]], arguments: Mapping[str, Any]) -> bytes:
    """The URDF that a xacro file makes. arguments: of its <xacro:arg>. packages: of $(find NAME), by their names.

    Raises ModelError for what xacro does not expand, and if xacrodoc is missing.
    """
    try:
        import xacro
        from xacrodoc import packages as known  # which lets xacro find packages without ROS
    except ImportError:
        raise ModelError("reading xacro needs the package xacrodoc. Install it: pip install 'fmumbs[xacro]'.") from None
    if not path.is_file():
        raise ModelError(f"'{path}' cannot be read: there is no such file. Give a file.")
    known.reset()
    known.look_in([place for place in os.environ.get("ROS_PACKAGE_PATH", "").split(os.pathsep) if place])
    whole = path.resolve()
    known.walk_up_from(whole)
    known.update_package_cache({**_beside(whole), **packages})
    try:
        document = xacro.process_file(str(whole), mappings={name: str(value) for name, value in arguments.items()})
        text = str(document.toprettyxml(indent="  "))
    except (Exception, SystemExit) as error:  # xacro's own have no common class
        reason = " ".join(str(error).split())[:_MOST_REASON].rstrip(".") or type(error).__name__
        raise ModelError(f"'{path}' cannot be expanded by xacro: {reason}. Correct it, or give its packages.") from None
    finally:
        known.reset()
    return text.encode()


def _beside(path: Path) -> dict[str, Path]:
    """The folders above a file, and those in them, by name; the nearest of a name."""
    found: dict[str, Path] = {}
    for folder in path.parents:
        if folder != folder.parent:
            found.setdefault(folder.name, folder)
            with suppress(OSError):
                for place in sorted(folder.iterdir()):
                    if place.is_dir():
                        found.setdefault(place.name, place)
    return found
