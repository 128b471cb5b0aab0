"""A run in Python and those of its FMUs, by the same options."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fmpy

import fmumbs as fm


def runs(
    tmp_path: Path,
    model: fm.Model,
    names: list[str],
    *,
    stop: float,
    interval: float,
    starts: dict[str, float] | None = None,
    **options: Any,
) -> Iterator[tuple[str, Any, dict[str, Any]]]:
    """What ran, its times, and its values by name: in Python, as an FMU of FMI 2.0 and of 3.0 by co-simulation."""
    given = starts or {}
    result = fm.simulate(fm.compile(model, starts=given, **options), stop=stop, interval=interval)
    yield "Python", result.time, {name: result[name] for name in names}
    for fmi in (2, 3):
        path = fm.export_fmu(model, tmp_path / f"{model.name}{fmi}.fmu", fmi=fmi, **options)
        found = fmpy.simulate_fmu(
            str(path), stop_time=stop, output_interval=interval, start_values=given, output=names, step_size=interval
        )
        yield f"FMI {fmi}", found["time"], {name: found[name] for name in names}


def goes_on_alike(solver: fm.Solver, to: float, *names: str) -> None:
    """From a saved state to a time [s] it takes the same steps again, to the same bits of these outputs."""
    saved, found = solver.state_save(), []
    for _ in range(2):
        solver.step(to)
        found.append([solver.get(name) for name in (*names, "solver.evaluations")])
        solver.state_load(saved)
    assert found[0] == found[1]
