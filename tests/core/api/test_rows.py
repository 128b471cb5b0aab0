"""Rows: those of one call of the core are those of a step for each, and what is done stays."""

from itertools import islice

import numpy as np
import pytest

import fmumbs as fm
from fmumbs.compiler import ModelImage, compile
from fmumbs.compiler.layout import ffi, lib
from fmumbs.readers import read_model
from fmumbs.run import Solver
from support.every_kind import every_kind

TIMES = np.array([0.001, 0.02, 0.025, 0.06])

Row = tuple[np.ndarray, np.ndarray]


def one_by_one(image: ModelImage) -> tuple[list[Row], str]:
    """Values of all outputs and positions at each time, and the message of the step that fails."""
    rows: list[Row] = []
    solver = Solver(image)
    solver.assemble()
    for time in TIMES:
        try:
            solver.step(time)
        except fm.SolverError as error:
            return rows, f"{error} at {error.time}"
        rows.append((solver.read(image.variables.outputs()), solver.positions))
    return rows, ""


def in_one_call(image: ModelImage) -> tuple[list[Row], str]:
    references = image.variables.outputs()
    values = np.full((len(TIMES), len(references)), np.nan)
    positions = np.full((len(TIMES), image.sizes["positions"]), np.nan)
    message, solver = "", Solver(image)
    solver.assemble()
    try:
        solver.run(TIMES, references, values, positions)
    except fm.SolverError as error:
        message = f"{error} at {error.time}"
    return list(zip(values[: solver.rows], positions[: solver.rows], strict=True)), message


@pytest.mark.parametrize("seed", range(0, 84, 12))
def test_one_call_gives_the_bits_of_a_step_for_each_row(seed: int) -> None:
    for name, image in islice(every_kind(seed), 12):
        try:
            expected, why = one_by_one(image)
        except fm.AssemblyError:
            continue
        rows, message = in_one_call(image)
        assert message == why, name
        assert len(rows) == len(expected), name
        for row, other in zip(rows, expected, strict=True):
            assert [part.tobytes() for part in row] == [part.tobytes() for part in other], name


def test_a_run_that_fails_keeps_its_rows() -> None:
    """The last step is refused: it would take too many fixed ones."""
    image = compile(read_model("double_pendulum")).with_options(scheme="rk4", step=1e-3)
    with pytest.raises(fm.SolverError, match="choose a longer one") as caught:
        fm.simulate(image, times=[0.0, 0.01, 0.02, 0.03, 1e9])
    error, kept = caught.value, caught.value.result
    assert kept is not None
    assert kept.time.tolist() == [0.0, 0.01, 0.02, 0.03]
    assert error.time == 0.03
    whole = fm.simulate(image, times=kept.time)
    assert all(np.array_equal(whole[name], kept[name]) for name in whole)
    assert kept.motion.positions.tolist() == np.stack([kept["A.q"], kept["B.q"]], axis=1).tolist()


def test_what_is_set_between_the_times_is_followed() -> None:
    image = compile(read_model("double_pendulum"))
    times = np.linspace(0.0, 1.0, 11)
    stairs = fm.simulate(image, times=times, inputs={"A.tau": lambda t: 0.1 * round(10 * t)})
    held = fm.Signal(times, [0.1 * k for k in range(11)], "hold")
    assert np.array_equal(fm.simulate(image, times=times, inputs={"A.tau": held})["A.q"], stairs["A.q"])
    moved = fm.simulate(image, times=times, control=lambda t, outputs: {"A.tau": 0.1 * round(10 * t)})
    assert np.array_equal(moved["A.q"], stairs["A.q"])
    assert not np.array_equal(fm.simulate(image, times=times)["A.q"], stairs["A.q"])


def test_the_host_is_asked_also_where_rows_are_most_of_the_work() -> None:
    image = compile(read_model("double_pendulum"), everything=True)
    asked = {}
    for width in (0, len(image.variables)):
        solver = Solver(image)
        calls: list[int] = []

        @ffi.callback("int(void *)")  # type: ignore[untyped-decorator, unused-ignore]
        def wanted(host: object, calls: list[int] = calls) -> int:
            calls.append(1)
            return 0

        lib.fm_interrupt(solver.instance, wanted, ffi.NULL)
        solver.assemble()
        times = np.arange(1, 10001) * 1e-6
        solver.run(times, np.arange(width, dtype=np.uint32), np.empty((len(times), width)))
        asked[width] = len(calls)
    assert asked[0] == 0
    assert asked[len(image.variables)] == len(times) * len(image.variables) // 400_000


def test_the_host_ends_a_run_between_two_rows() -> None:
    image = compile(read_model("double_pendulum"), everything=True)
    solver = Solver(image)
    references = image.variables.outputs()
    values = np.empty((20000, len(references)))

    @ffi.callback("int(void *)")  # type: ignore[untyped-decorator, unused-ignore]
    def wanted(host: object) -> int:
        return 1

    lib.fm_interrupt(solver.instance, wanted, ffi.NULL)
    solver.assemble()
    times = np.arange(1, len(values) + 1) * 1e-6
    with pytest.raises(fm.SolverError, match="was interrupted at t"):
        solver.run(times, references, values)
    assert solver.time == times[solver.rows - 1]
    assert np.array_equal(values[solver.rows - 1], solver.read(references))


@pytest.mark.parametrize("shape", [(3, 2), (4, 1), (4,)])
def test_rows_of_another_shape_are_refused(shape: tuple[int, ...]) -> None:
    image = compile(read_model("double_pendulum"))
    solver = Solver(image)
    solver.assemble()
    asked = image.variables.outputs()[:2]
    with pytest.raises(fm.SolverError, match="the rows of 4 times and 2 variables are"):
        solver.run(TIMES, asked, np.empty(shape))
    with pytest.raises(fm.SolverError, match="the rows of 4 times and 2 positions are"):
        solver.run(TIMES, asked, np.empty((4, 2)), np.empty(shape))


@pytest.mark.parametrize("rows", [np.zeros((2, 4)).T, np.zeros((8, 2))[::2], np.zeros((4, 6))[:, 1::3]])
def test_values_may_lie_apart(rows: np.ndarray) -> None:
    image = compile(read_model("double_pendulum"))
    asked, expected = image.variables.outputs()[:2], np.zeros((4, 2))
    for values in (expected, rows):
        solver = Solver(image)
        solver.assemble()
        solver.run(TIMES, asked, values)
    assert expected.all() and np.array_equal(rows, expected)
    if rows.base is not None:
        assert np.count_nonzero(rows.base) == expected.size


def _read_only() -> np.ndarray:
    rows = np.zeros((4, 2))
    rows.flags.writeable = False
    return rows


@pytest.mark.parametrize(
    "rows",
    [np.zeros((4, 2), np.float32), np.zeros((4, 2))[::-1], np.zeros((4, 2), int), _read_only()],
)
def test_rows_that_the_core_cannot_fill_are_refused(rows: np.ndarray) -> None:
    """It writes doubles, one after the other: beyond the end of an array of shorter numbers."""
    image = compile(read_model("double_pendulum"))
    solver = Solver(image)
    solver.assemble()
    asked, good = image.variables.outputs()[:2], np.zeros((4, 2))
    for values, positions, what in ((rows, None, "variables"), (good, rows, "positions")):
        with pytest.raises(fm.SolverError, match=rf"2 {what} are not numbers of double.*np\.empty\(\(4, 2\)\)"):
            solver.run(TIMES, asked, values, positions)
    assert solver.time == 0.0 and not rows.any() and not good.any()
