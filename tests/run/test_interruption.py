"""Steps end on Ctrl-C, a run that fails keeps what it had, and a Solver serves one call at a time."""

import array
import copy
import pickle
import signal
import threading
import time
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fmumbs as fm
from fmumbs.compiler import ModelImage, compile
from fmumbs.compiler.layout import ffi, lib
from fmumbs.errors import AssemblyError
from fmumbs.readers import read_model
from fmumbs.run import Solver, simulate
from fmumbs.run.rows import Rows

LONG = 2e4  # [s] of motion, minutes of computing
Alarm = Callable[[Callable[[], object], float, float], None]


@pytest.fixture
def alarm() -> Iterator[Alarm]:
    """Calls a function from a signal handler after some seconds of computing, then every so many; 0: once."""
    before = signal.getsignal(signal.SIGVTALRM)

    def begin(call: Callable[[], object], after: float, every: float) -> None:
        def handler(number: int, frame: FrameType | None) -> None:
            call()

        signal.signal(signal.SIGVTALRM, handler)
        signal.setitimer(signal.ITIMER_VIRTUAL, after, every)

    yield begin
    signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
    signal.signal(signal.SIGVTALRM, before)


def ctrl_c() -> None:
    raise KeyboardInterrupt


@pytest.fixture(params=["double_pendulum dopri5", "double_pendulum rk4", "four_bar dopri5", "four_bar rk4"])
def image(request: pytest.FixtureRequest) -> ModelImage:
    name, scheme = request.param.split()
    return compile(read_model(name)).with_options(scheme=scheme, step=1e-3, tolerance=1e-8)


def started(image: ModelImage) -> Solver:
    solver = Solver(image)
    solver.assemble()
    return solver


# Ctrl-C --------------------------------------------------------------------------------------------------------


def test_a_long_step_ends_on_ctrl_c_and_the_run_continues(image: ModelImage, alarm: Alarm) -> None:
    solver = started(image)
    alarm(ctrl_c, 0.05, 0.0)
    with pytest.raises(KeyboardInterrupt):
        solver.step(LONG)
    there, state = solver.time, solver.state_save()
    assert 0.0 < there < LONG
    solver.step(there + 0.1)
    assert solver.time == there + 0.1
    again = Solver(image)
    again.state_load(state)
    again.step(there + 0.1)
    assert again.state_save() == solver.state_save()


def test_a_search_for_an_equilibrium_ends_when_it_is_first_told_to() -> None:
    solver = Solver(read_model("branch_chain", {"bodies": 400}), equilibrium=True)
    asked = []

    @ffi.callback("int(void *)")  # type: ignore[untyped-decorator, unused-ignore]
    def wanted(host: object) -> int:
        asked.append(host)
        return 1

    lib.fm_interrupt(solver._instance, wanted, ffi.NULL)
    with pytest.raises(AssemblyError, match=r"equilibrium was interrupted after \d+ evaluations") as found:
        solver.assemble()
    assert len(asked) == 1
    assert int(str(found.value).split()[-2]) <= 1010  # of 400 links; the host is asked after 4e5 of one link


def test_exceptions_of_a_signal_handler_leave_the_step(image: ModelImage, alarm: Alarm) -> None:
    class Deadline(Exception):
        pass

    def late() -> None:
        raise Deadline

    solver = started(image)
    alarm(late, 0.05, 0.0)
    with pytest.raises(Deadline):
        solver.step(LONG)
    solver.step(solver.time + 0.1)


def test_signals_whose_handlers_return_change_no_bit(image: ModelImage, alarm: Alarm) -> None:
    """The handler also tries to use the Solver that is in the middle of the step, and is refused."""
    refused: list[str] = []
    solver, quiet = started(image), started(image)

    def look() -> None:
        try:
            solver.get("A.q")
        except fm.SolverError as error:
            refused.append(str(error))

    alarm(look, 0.02, 0.02)
    while len(refused) < 2:
        solver.step(solver.time + 100.0)
    signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
    assert set(refused) == {"this Solver is in the middle of a step. Use it after the step, or use another Solver."}
    while quiet.time < solver.time:
        quiet.step(quiet.time + 100.0)
    assert quiet.state_save() == solver.state_save()


def test_simulate_keeps_its_rows_at_ctrl_c(image: ModelImage, alarm: Alarm) -> None:
    alarm(ctrl_c, 0.05, 0.0)  # the four-bar, which nothing damps, cannot go on after some hundred seconds
    with pytest.raises(fm.Interrupted) as caught:
        simulate(image, stop=LONG, interval=1.0)
    error = caught.value
    assert isinstance(error, KeyboardInterrupt)
    assert str(error) == f"interrupted at t = {error.time:g} s"
    assert error.result.time[-1] == error.time < LONG
    whole = simulate(image, stop=np.floor(error.time) or 1.0, interval=1.0)
    shared = min(len(whole.time), len(error.result.time) - 1)
    for name in whole.names:
        assert np.array_equal(error.result[name][:shared], whole[name][:shared])


def test_the_last_row_is_where_a_step_stopped(image: ModelImage, alarm: Alarm) -> None:
    alarm(ctrl_c, 0.1, 0.0)
    with pytest.raises(fm.Interrupted) as caught:
        simulate(image, stop=LONG, interval=LONG)
    assert 0.0 < caught.value.time < LONG
    assert caught.value.result.time.tolist() == [0.0, caught.value.time]


# A run that fails ----------------------------------------------------------------------------------------------


def raising(t: float) -> float:
    return 1.0 / max(0.0, 0.45 - t)


@pytest.mark.parametrize(
    ("inputs", "end", "message"),
    [
        ({"A.tau": raising}, 0.5, r"the function for 'A\.tau' failed at t = 0\.5 s with ZeroDivisionError"),
        ({"A.tau": lambda t: np.nan if t > 0.25 else 0.0}, 0.3, r"A\.tau = nan is refused"),
        ({"A.tau": lambda t: 1e200 if t > 0.25 else 0.0}, None, r"the step to t = 0\.4 s failed: at t = 0\.\d+ s"),
        ({"A.tau": lambda t: (1.0, 2.0) if t > 0.25 else 0.0}, 0.3, r"takes 1 numbers, not 2"),
    ],
)
def test_the_error_has_the_time_and_the_rows(inputs: Any, end: float | None, message: str) -> None:
    model = read_model("double_pendulum")
    with pytest.raises(fm.SolverError, match=message) as caught:
        simulate(model, stop=1.0, interval=0.1, inputs=inputs)
    error = caught.value
    assert error.result is not None and error.time is not None
    assert error.result.time[-1] == error.time
    if end is None:
        assert 0.3 <= error.time < 0.4
    else:
        assert_allclose(error.time, end, rtol=1e-12)
    assert np.all(np.diff(error.result.time) > 0.0)
    rows = len(error.result.time)
    assert {len(error.result[name]) for name in error.result.names} == {rows}
    if end == 0.5:
        whole = simulate(model, stop=0.5, interval=0.1, inputs={"A.tau": raising})
        assert np.array_equal(error.result["A.q"], whole["A.q"])


def test_the_traceback_says_where_the_results_are() -> None:
    with pytest.raises(fm.SolverError) as caught:
        simulate(read_model("double_pendulum"), stop=1.0, interval=0.1, inputs={"A.tau": raising})
    assert caught.value.__notes__ == ["The results up to t = 0.5 s are in the error's `result`."]


def test_a_run_that_fails_before_its_first_result_has_where_it_stopped() -> None:
    with pytest.raises(fm.SolverError) as caught:
        simulate(read_model("double_pendulum"), times=[0.9, 1.0], inputs={"A.tau": 1e200})
    error = caught.value
    assert error.result is not None and error.time is not None and error.time < 0.9
    assert error.result.time.tolist() == [error.time]
    assert error.result.motion.positions.shape == (1, 2)


def test_the_error_of_a_step_carries_the_time() -> None:
    solver = started(compile(read_model("double_pendulum")))
    solver.step(0.2)
    with pytest.raises(fm.SolverError) as caught:
        solver.step(0.1)
    assert (caught.value.time, caught.value.result) == (0.2, None)
    with pytest.raises(fm.SolverError, match="no variable") as caught:
        solver.get("nothing")
    assert (caught.value.time, caught.value.result) == (None, None)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"interval": 1e-300}, "exceed 1e\\+08. Choose a longer interval"),
        ({"interval": 5e-324, "stop": 1e308}, "Choose a longer interval"),
        ({"interval": 4e-7}, "exceed 1e\\+09 numbers"),
        ({"stop": float("inf")}, "must be finite"),
        ({"stop": float("nan")}, "must be finite"),
        ({"interval": -1.0}, "must be above zero"),
    ],
)
def test_results_beyond_the_memory_are_refused(options: dict[str, float], message: str) -> None:
    with pytest.raises(fm.SolverError, match=message):
        simulate(read_model("double_pendulum"), **options)  # type: ignore[arg-type]


def test_an_output_that_is_named_twice_is_kept_once() -> None:
    result = simulate(read_model("pendulum"), stop=0.1, outputs=["A.q", "A.qd", "A.q"])
    assert result.names == ["A.q", "A.qd"]


# One call at a time -------------------------------------------------------------------------------------------


def test_calls_of_several_threads_are_served_one_by_one() -> None:
    solver = started(compile(read_model("double_pendulum")))
    inside: list[int] = []
    most: list[int] = []

    def slow(instance: object) -> int:
        inside.append(1)
        most.append(len(inside))
        time.sleep(0.002)
        inside.pop()
        return 0

    threads = [threading.Thread(target=solver._call, args=(slow,)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1] * 8


def test_a_solver_may_be_read_while_another_thread_steps_it() -> None:
    image = compile(read_model("four_bar"), everything=True)
    alone, shared = started(image), started(image)
    ended = threading.Event()

    def read() -> None:
        while not ended.is_set():
            shared.get("A.reaction.f")
            shared.state_save()

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    for k in range(1, 100):
        for solver in (alone, shared):
            solver.step(0.01 * k)
    ended.set()
    for reader in readers:
        reader.join()
    assert shared.state_save() == alone.state_save()


# Copies and states ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_solver_cannot_be_copied_and_the_message_has_the_alternative(make: Callable[[Any], Any]) -> None:
    solver = started(compile(read_model("double_pendulum")))
    solver.step(0.1)
    with pytest.raises(fm.SolverError, match=r"cannot be copied or pickled.*solver\.image.*state_save.*state_load"):
        make(solver)
    image, state = pickle.loads(pickle.dumps((solver.image, solver.state_save())))
    again = Solver(image)
    again.state_load(state)
    for one in (solver, again):
        one.step(0.3)
    assert again.state_save() == solver.state_save()


@pytest.mark.parametrize(
    "view",
    [
        bytes,
        bytearray,
        memoryview,
        lambda state: memoryview(state).cast("d"),
        lambda state: np.frombuffer(state, np.float64),
        lambda state: np.frombuffer(state, np.uint8).reshape(2, -1),
        lambda state: np.repeat(np.frombuffer(state, np.uint8), 2)[::2],
        lambda state: array.array("I", state),
    ],
)
def test_a_state_may_be_in_any_buffer(view: Callable[[bytes], Any]) -> None:
    solver = started(compile(read_model("double_pendulum")))
    state = solver.state_save()
    solver.step(0.5)
    solver.state_load(view(state))
    assert solver.state_save() == state


@pytest.mark.parametrize("state", ["text", None, 3, [1, 2], np.arange(5), np.zeros(0)])
def test_invalid_states_are_refused(state: Any) -> None:
    solver = started(compile(read_model("double_pendulum")))
    before = solver.state_save()
    with pytest.raises(fm.SolverError):
        solver.state_load(state)
    assert solver.state_save() == before


@pytest.mark.parametrize(
    "call",
    [
        lambda s: s.step("far"),
        lambda s: s.step(None),
        lambda s: s.step(1 + 2j),
        lambda s: s.evaluate(-1),
        lambda s: s.use_level("best"),
        lambda s: s.use_level(2**40),
    ],
)
def test_arguments_of_a_wrong_type_are_refused(call: Callable[[Solver], object]) -> None:
    solver = started(compile(read_model("double_pendulum")))
    with pytest.raises(fm.SolverError):
        call(solver)
    solver.step(0.1)


def test_the_message_about_a_step_before_the_start_names_python_methods() -> None:
    with pytest.raises(fm.SolverError, match="assemble first") as caught:
        Solver(compile(read_model("double_pendulum"))).step(0.1)
    assert "fm_" not in str(caught.value)


@pytest.mark.parametrize(
    "call",
    [
        lambda model: Solver(model).get(3),  # type: ignore[arg-type]
        lambda model: Solver(model).read([-1]),
        lambda model: Solver(model).read(["A.q"]),
        lambda model: simulate(model, inputs={3: 1.0}),  # type: ignore[dict-item]
        lambda model: simulate(model, outputs=3),  # type: ignore[arg-type]
        lambda model: simulate(model, outputs=[3]),  # type: ignore[list-item]
        lambda model: simulate(model, stop=0.1).save_csv("a\0b"),
    ],
)
def test_names_of_a_wrong_type_are_reported(call: Callable[[fm.Model], object]) -> None:
    with pytest.raises(fm.SolverError):
        call(read_model("pendulum"))


@pytest.mark.parametrize("view", [bytes, bytearray, memoryview])
def test_an_image_may_be_in_any_buffer(view: Callable[[bytes], Any]) -> None:
    image = compile(read_model("pendulum"))
    assert ModelImage.load(view(image.bytes)) == image


def test_ctrl_c_before_the_first_row_is_ctrl_c() -> None:
    """Once there is a row it is kept, in an Interrupted."""
    rows = Rows("r", np.arange(3.0), {"x": "m"})
    with pytest.raises(KeyboardInterrupt) as caught, rows.kept_if_it_fails():
        raise KeyboardInterrupt
    assert not isinstance(caught.value, fm.errors.Interrupted)
    rows.add(np.array([1.0]))
    with pytest.raises(fm.errors.Interrupted) as kept, rows.kept_if_it_fails():
        raise KeyboardInterrupt
    assert kept.value.result is not None and kept.value.result["x"].tolist() == [1.0]
