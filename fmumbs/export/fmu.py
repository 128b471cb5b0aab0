"""Writes an FMU: a zip of a prebuilt binary, the model image, and what describes them (FMI 2.0.4, 2.3).

    modelDescription.xml                 from the image's variable table
    model.png                            the icon
    binaries/<platform>/<name>.so        the core behind the FMI functions, as it was built with the package
    resources/model.fmb                  the image
    sources/                             the core in C99, with the image as an array
    documentation/index.html             the variables, their units and meanings
    documentation/licenses/license.txt   the licence of all of it

These are the files of a native FMU; pythonfmu.py tells those of the other back end. Nothing is compiled. The
same image gives the same bytes: entries in a fixed order, with one date, which is SOURCE_DATE_EPOCH where that
is set. The file is written beside its place and then moved there, so that a reader never sees half of it.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from fmumbs._files import whole
from fmumbs.errors import ExportError
from fmumbs.export import installed
from fmumbs.export.archive import Date, zip_archive
from fmumbs.export.documentation import documentation
from fmumbs.export.model_description import model_description, model_identifier, source_date
from fmumbs.export.picture import icon
from fmumbs.export.pythonfmu import pythonfmu_entries
from fmumbs.export.sources import IMAGE_FILE, core_sources, image_source

if TYPE_CHECKING:
    from fmumbs.compiler import ModelImage
    from fmumbs.mechanism import Model

MOST_VARIABLES = 2000
_OLDEST = (1980, 1, 1, 0, 0, 0)  # the first date that a zip can hold

Entries = Iterator[tuple[str, bytes]]


def export_fmu(
    model: "Model | ModelImage",
    path: "str | os.PathLike[str]",
    *,
    backend: str = "native",
    scheme: str | int | None = None,
    step: float | None = None,
    tolerance: float | None = None,
    correction: str | tuple[float, float] | None = None,
    closure: float | None = None,
    starts: "Mapping[str, float | Sequence[float]] | None" = None,
    all_variables: bool = False,
) -> Path:
    """Writes `model` as an FMI 2.0 co-simulation FMU to `path`; returns where it is.

    path: the file, or, where it ends with a separator, a folder for a file of the model's name. Folders are made.
    backend: "native", an FMU that needs nothing of its host, or "pythonfmu", one that runs in the host's Python.
    scheme: "dopri5" (error control) or "rk4" (fixed step); step [s] and tolerance (relative) of the scheme;
    correction, closure: how loops are kept closed, as in ModelImage.with_options. None keeps what the model's image
    says. They become start values of solver.scheme, solver.step, solver.tolerance, solver.correction,
    solver.baumgarte and solver.closure. starts: other start values, by names of inputs, states and parameters, such as
    {"A.tau": 0.05, "A.q": 0.3}; only of a Model. all_variables: also where there are more than MOST_VARIABLES of them.

    Raises ModelError for a model that cannot be compiled, ExportError for everything else: an unknown back
    end, too many variables, no binary in this installation, a place that cannot be written. An earlier file
    at `path` is then left as it was.
    """
    if backend not in BACKENDS:
        raise ExportError(f"back end '{backend}' is not known. Choose one of: {', '.join(BACKENDS)}.")
    image = _image(model, starts)
    chosen = (scheme, step, tolerance, correction, closure)
    if any(option is not None for option in chosen):
        image = image.with_options(
            scheme=scheme, step=step, tolerance=tolerance, correction=correction, closure=closure
        )
    _check_count(image, all_variables)
    place = os.fspath(path)
    target = Path(place, f"{image.name}.fmu") if place.endswith(os.sep) else Path(place)
    _write(target, zip_archive(BACKENDS[backend](image), _date()))
    return target


def native_entries(image: "ModelImage") -> Entries:
    """The files of a native FMU: name in the archive, contents."""
    name = model_identifier(image.name)
    sources, variables, tool = core_sources(), image.variables[:], installed.tool()
    yield (
        "modelDescription.xml",
        model_description(image, variables, sources=sources.compiled, tool=tool, licence=installed.LICENCE),
    )
    yield "model.png", icon()
    for platform, (suffix, binary) in installed.binaries().items():
        yield f"binaries/{platform}/{name}{suffix}", binary
    yield "resources/model.fmb", image.bytes
    yield "documentation/index.html", documentation(image, variables, tool=tool)
    yield "documentation/licenses/license.txt", installed.licence()
    for file, text in sources.files:
        yield f"sources/{file}", text
    yield f"sources/{IMAGE_FILE}", image_source(image.bytes)


BACKENDS: dict[str, Callable[["ModelImage"], Entries]] = {
    "native": native_entries,
    "pythonfmu": pythonfmu_entries,
}


def _image(model: "Model | ModelImage", starts: "Mapping[str, float | Sequence[float]] | None") -> "ModelImage":
    from fmumbs.compiler import ModelImage, compile

    if not isinstance(model, ModelImage):
        return compile(model, starts=starts)
    if starts:
        raise ExportError("starts are given with a ModelImage, which has its own. Give the Model that it is of.")
    return model


def _check_count(image: "ModelImage", all_variables: bool) -> None:
    count = len(image.variables)
    if count > MOST_VARIABLES and not all_variables:
        raise ExportError(
            f"'{image.name}' has {count} variables, more than the {MOST_VARIABLES} that importers read with "
            "ease. Name those you need with model.input(), model.output() and model.parameter(), or export "
            "all of them with all_variables=True (--all)."
        )


def _date() -> Date:
    """What the entries are dated: not before the first date that a zip can hold."""
    date = source_date()
    return _OLDEST if date is None else max(_OLDEST, date.timetuple()[:6])


def _write(target: Path, data: bytes) -> None:
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with whole(target) as file:
            file.write(data)
    except (OSError, ValueError) as error:  # ValueError: a path that no system has
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise ExportError(
            f"'{target}' could not be written ({len(data)} bytes): {reason}. Choose another place, or make room there."
        ) from error
