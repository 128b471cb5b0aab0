"""The demo: exports a double pendulum, runs the FMU in FMPy and the model in the Solver, and writes its page."""

import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fmumbs import play
from fmumbs.errors import SolverError
from fmumbs.export.fmu import export_fmu
from fmumbs.readers import read_model

MODEL = "double_pendulum"


@dataclass(frozen=True)
class Row:
    """Values of a variable: at start and end in FMPy, and at the end in the Solver."""

    name: str
    unit: str
    start: float
    end: float
    solver: float


@dataclass(frozen=True)
class Demo:
    """What the demo did: times [s], the files that were written, and why the plot is missing, or ""."""

    fmu: Path
    rows: tuple[Row, ...]
    stop: float
    export_seconds: float
    run_seconds: float
    same_bits: bool
    files: tuple[Path, ...]
    missing: str


def demo(folder: Path, *, progress: play.Progress | None = None) -> Demo:
    """Exports the model to `folder`, runs the FMU in FMPy, and writes results, plot and page to `folder`.

    Raises ExportError if the folder cannot be written.
    """
    model = read_model(MODEL)
    begin = time.perf_counter()
    fmu = export_fmu(model, folder / f"{MODEL}.fmu")
    exported = time.perf_counter()
    result = play.run_fmu(fmu, play.Options(), progress=progress)
    ended = time.perf_counter()
    here = play.run_model(model, play.Options())
    files = [fmu, result.save_csv(folder / f"{MODEL}.csv")]
    page = here.view().save(folder / f"{MODEL}.html")
    missing = ""
    try:
        picture = folder / f"{MODEL}.png"
        play.plot(result, picture)
        files.append(picture)
    except SolverError as error:
        missing = str(error)
    files.append(page)
    names = [name for name in result.names if name in here]
    return Demo(
        fmu=fmu,
        rows=tuple(Row(r.name, r.unit, r.start, r.end, float(here[r.name][-1])) for r in play.summary(result)),
        stop=float(result.time[-1]),
        export_seconds=exported - begin,
        run_seconds=ended - exported,
        same_bits=all(np.array_equal(result[name], here[name]) for name in names),
        files=tuple(files),
        missing=missing,
    )
