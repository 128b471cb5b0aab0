"""What a sweep can run, as it goes to the workers."""

import os
from pathlib import Path
from typing import Any

from fmumbs._folders import temporary_folder
from fmumbs.errors import ExportError, SolverError
from fmumbs.readers import find_model
from fmumbs.study.systems import SystemSource
from fmumbs.study.targets import FmuSource, ModelSource, file_hash
from fmumbs.system import System

Source = ModelSource | FmuSource | SystemSource


def source_of(target: Any, engine: str = "libcosim") -> Source:
    """What a user names: the path of an FMU or of a system's package, the name or path of a model, a function build(),
    a Model, its image, or a System. engine: that runs a system.

    Raises SolverError for anything else, ExportError or ModelError for a file that is not there.
    """
    from fmumbs.compiler import ModelImage, compile
    from fmumbs.mechanism import Model

    if isinstance(target, str | os.PathLike):
        path = Path(target)
        if path.suffix.lower() == ".ssp":
            if not path.is_file():
                raise ExportError(f"there is no file '{path}'. Make it with `fmumbs ssp SYSTEM.py`.")
            return SystemSource(path.name, path.read_bytes(), engine)
        if path.suffix.lower() == ".fmu":
            if not path.is_file():
                raise ExportError(f"there is no file '{path}'. Make it with `fmumbs export MODEL`.")
            return FmuSource(path.name, path.read_bytes())
        found = find_model(str(target))
        return ModelSource(str(target) if str(target) == found.stem else str(found.resolve()), file_hash(found))
    if isinstance(target, System):
        with temporary_folder() as folder:
            package = target.save(Path(folder) / f"{target.name}.ssp")
            return SystemSource(package.name, package.read_bytes(), engine)
    if isinstance(target, Model):
        target = compile(target)
    if isinstance(target, ModelImage):
        return ModelSource(target, target.hash)
    if callable(target):
        return ModelSource(target, getattr(target, "__qualname__", "build"))
    raise SolverError(f"sweep: {target!r} is neither a model, an FMU nor a system. Give a path, a Model or build().")
