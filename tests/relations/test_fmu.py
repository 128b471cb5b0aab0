"""An FMU beside a Solver: the same bits."""

import tempfile
from pathlib import Path

import numpy as np

import fmumbs as fm
from support.agreement import Refused, draws, each, reals
from support.drawing.declared import shown_image
from support.drawing.mechanism import draw
from support.slave import OK, Slave, unpacked_fmu

OPTIONS = ({}, {"scheme": "radau"}, {"scheme": "auto"}, {"dynamics": "copcod"}, {"scheme": "dop853"})


def check(seed: int) -> None:
    drawn = draw(seed)
    image = shown_image(seed, drawn.model).with_options(**OPTIONS[seed % len(OPTIONS)])
    solver = fm.Solver(image)
    where = reals(image)
    shown = image.variables.names(where)
    with tempfile.TemporaryDirectory() as folder:
        slave = Slave(unpacked_fmu(Path(folder) / "fmu", image))
        try:
            solver.assemble()
        except fm.AssemblyError as error:
            raise Refused(str(error)) from error
        slave.start()
        before = 0.0
        for size in (0.4 * drawn.stop, 0.6 * drawn.stop):
            compare(seed, solver.read(where), slave, shown, before)
            now = before + size
            failed = refusal(solver, now)
            if failed:
                assert slave.step(before, size) != OK, f"draw {seed}: only the Solver fails: {failed}"
                raise Refused(failed)
            assert slave.step(before, size) == OK, f"draw {seed}: {slave.say}"
            before = now
        compare(seed, solver.read(where), slave, shown, before)
        slave.free()


def refusal(solver: fm.Solver, time: float) -> str:
    """The message of a step that fails."""
    try:
        solver.step(time)
    except fm.SolverError as error:
        return str(error)
    return ""


def compare(seed: int, expected: np.ndarray, slave: Slave, shown: list[str], time: float) -> None:
    found = np.array(slave.get_many(shown))
    wrong = [shown[i] for i in np.flatnonzero(found.view(np.int64) != expected.view(np.int64))]
    assert not wrong, f"draw {seed} at {time:g} s: {len(wrong)} of {len(shown)} differ: {wrong[:8]}"


@draws(11)
def test_fmus_have_the_bits_of_the_solver(seeds: range) -> None:
    each(seeds, check)
