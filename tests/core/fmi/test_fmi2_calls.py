"""The calls of FMI 2.0: what is allowed when, what is refused with a message; the instance lives on."""

import math
from collections.abc import Callable
from ctypes import byref, c_char_p, c_double, c_int, c_void_p
from typing import Any

import pytest

from support.slave import (
    DISCARD,
    DO_STEP_STATUS,
    ERROR,
    LAST_SUCCESSFUL_TIME,
    OK,
    PENDING_STATUS,
    TERMINATED,
    Slave,
    Unpacked,
)

NAN, INF = math.nan, math.inf

# A gravity under which the rod swings within 1e-150 s: less than the resolution of the time beyond its start.
IMPOSSIBLE, EARTH = -1e100, -9.81

# --- which call is allowed when ------------------------------------------------------------------------

INSTANTIATED, INITIALIZATION, STEPPING, FAILED, ENDED = (
    "instantiated",
    "initialization",
    "stepping",
    "failed",
    "ended",
)
PHASES: dict[str, Callable[[Slave], None]] = {}


def phase(name: str) -> Callable[[Callable[[Slave], None]], Callable[[Slave], None]]:
    def register(function: Callable[[Slave], None]) -> Callable[[Slave], None]:
        PHASES[name] = function
        return function

    return register


@phase(INSTANTIATED)
def to_instantiated(slave: Slave) -> None:
    assert slave.component


@phase(INITIALIZATION)
def to_initialization(slave: Slave) -> None:
    slave.initialize()


@phase(STEPPING)
def to_stepping(slave: Slave) -> None:
    slave.start()
    assert slave.step(0.0, 0.1) == OK


@phase(FAILED)
def to_failed(slave: Slave) -> None:
    to_stepping(slave)
    assert slave.set("gravity[3]", IMPOSSIBLE) == OK
    assert slave.step(0.1, 0.1) == DISCARD


@phase(ENDED)
def to_ended(slave: Slave) -> None:
    to_stepping(slave)
    assert slave.call("fmi2Terminate") == OK


def get_state(slave: Slave) -> int:
    return slave.call("fmi2GetFMUstate", byref(c_void_p()))


CALLS: dict[str, Callable[[Slave], int]] = {
    "fmi2SetDebugLogging": lambda s: s.call("fmi2SetDebugLogging", 0, 0, None),
    "fmi2SetupExperiment": lambda s: s.call("fmi2SetupExperiment", 0, 0.0, 0.0, 0, 0.0),
    "fmi2EnterInitializationMode": lambda s: s.call("fmi2EnterInitializationMode"),
    "fmi2ExitInitializationMode": lambda s: s.call("fmi2ExitInitializationMode"),
    "fmi2Terminate": lambda s: s.call("fmi2Terminate"),
    "fmi2Reset": lambda s: s.call("fmi2Reset"),
    "fmi2GetReal": lambda s: s.call("fmi2GetReal", s.references(["A.q"]), 1, c_double()),
    "fmi2GetInteger": lambda s: s.call("fmi2GetInteger", s.references(["solver.steps"]), 1, c_int()),
    "fmi2GetBoolean": lambda s: s.call("fmi2GetBoolean", None, 0, None),
    "fmi2GetString": lambda s: s.call("fmi2GetString", None, 0, None),
    "fmi2SetReal": lambda s: s.set("A.tau", 0.0),
    "fmi2SetInteger": lambda s: s.call("fmi2SetInteger", None, 0, None),
    "fmi2SetBoolean": lambda s: s.call("fmi2SetBoolean", None, 0, None),
    "fmi2SetString": lambda s: s.call("fmi2SetString", None, 0, None),
    "fmi2GetFMUstate": get_state,
    "fmi2FreeFMUstate": lambda s: s.call("fmi2FreeFMUstate", byref(c_void_p())),
    "fmi2GetDirectionalDerivative": lambda s: s.directional("A.qdd", "A.tau")[0],
    "fmi2SetRealInputDerivatives": lambda s: s.set_derivatives(["A.tau"], [1], [0.0]),
    "fmi2GetRealOutputDerivatives": lambda s: s.output_derivative("A.q")[0],
    "fmi2DoStep": lambda s: s.step(s.real_status()[1], 0.1),
    "fmi2CancelStep": lambda s: s.call("fmi2CancelStep"),
    "fmi2GetStatus": lambda s: s.integer_status("fmi2GetStatus", DO_STEP_STATUS)[0],
    "fmi2GetRealStatus": lambda s: s.real_status()[0],
    "fmi2GetBooleanStatus": lambda s: s.integer_status("fmi2GetBooleanStatus", TERMINATED)[0],
}

BEFORE, AT_REST = {INSTANTIATED, INITIALIZATION}, {STEPPING, FAILED}
ALWAYS = BEFORE | AT_REST | {ENDED}
READABLE = {INITIALIZATION, ENDED} | AT_REST
ALLOWED = dict.fromkeys(CALLS, ALWAYS) | {
    "fmi2SetupExperiment": {INSTANTIATED},
    "fmi2EnterInitializationMode": {INSTANTIATED},
    "fmi2ExitInitializationMode": {INITIALIZATION},
    "fmi2Terminate": AT_REST,
    "fmi2GetReal": READABLE,
    "fmi2GetInteger": READABLE,
    "fmi2GetBoolean": READABLE,
    "fmi2GetString": READABLE,
    "fmi2SetReal": BEFORE | AT_REST,
    "fmi2SetInteger": BEFORE | AT_REST,
    "fmi2SetBoolean": BEFORE | AT_REST,
    "fmi2SetString": BEFORE | AT_REST,
    "fmi2GetDirectionalDerivative": READABLE,
    "fmi2SetRealInputDerivatives": BEFORE | AT_REST,
    "fmi2GetRealOutputDerivatives": AT_REST | {ENDED},
    "fmi2DoStep": AT_REST,
    "fmi2CancelStep": set(),
    "fmi2GetStatus": AT_REST | {ENDED},
    "fmi2GetRealStatus": AT_REST | {ENDED},
    "fmi2GetBooleanStatus": AT_REST | {ENDED},
}


@pytest.mark.parametrize("name", PHASES)
def test_in_each_state_a_call_is_answered_or_refused_with_a_message(fmu: Unpacked, name: str) -> None:
    for call, make in CALLS.items():
        slave = Slave(fmu)
        PHASES[name](slave)
        if name == FAILED:  # a master that goes on after a failed step changes something first
            slave.set("gravity[3]", EARTH)
        slave.callbacks.messages.clear()
        status = make(slave)
        if name in ALLOWED[call]:
            assert (status, slave.say) == (OK, ""), call
        else:
            assert status == ERROR, call
            assert slave.say.startswith(f"{call}: "), slave.say
        slave.free()


def test_refused_calls_leave_no_trace_in_the_run(fmu: Unpacked, slave: Slave) -> None:
    undisturbed = Slave(fmu)
    undisturbed.start()
    refused = [call for call in CALLS if STEPPING not in ALLOWED[call]]
    slave.start()
    for i in range(10):
        for call in refused:
            assert CALLS[call](slave) == ERROR
        assert slave.run(i * 0.1, 0.1, 1) == undisturbed.run(i * 0.1, 0.1, 1)
    undisturbed.free()


def test_a_null_component_is_refused(slave: Slave) -> None:
    assert slave.library.fmi2DoStep(None, 0.0, 0.1, 0) == ERROR
    assert slave.library.fmi2Reset(None) == ERROR
    slave.library.fmi2FreeInstance(None)


def test_version_and_platform(slave: Slave) -> None:
    assert slave.library.fmi2GetVersion() == b"2.0"
    assert slave.library.fmi2GetTypesPlatform() == b"default"


# --- experiment ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "fact"),
    [
        ((0, 0.0, NAN, 0, 0.0), "start time"),
        ((0, 0.0, 1.0, 1, 0.5), "stop time"),
        ((0, 0.0, 0.0, 1, INF), "stop time"),
        ((1, 0.0, 0.0, 0, 0.0), "tolerance"),
        ((1, NAN, 0.0, 0, 0.0), "tolerance"),
    ],
)
def test_an_impossible_experiment_is_refused(slave: Slave, arguments: tuple[Any, ...], fact: str) -> None:
    assert slave.call("fmi2SetupExperiment", *arguments) == ERROR
    assert fact in slave.say
    slave.start()


def test_the_tolerance_of_the_master_is_that_of_the_solver(slave: Slave) -> None:
    assert slave.call("fmi2SetupExperiment", 1, 1e-9, 0.0, 0, 0.0) == OK
    assert slave.call("fmi2EnterInitializationMode") == OK
    assert slave.get("solver.tolerance") == 1e-9


def test_the_run_begins_at_the_start_time(slave: Slave) -> None:
    slave.start(begin=2.5)
    assert slave.real_status() == (OK, 2.5)
    assert slave.step(2.5, 0.5) == OK
    assert slave.real_status() == (OK, 3.0)


# --- steps ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [0.0, -0.0, -0.1, NAN, INF, -INF])
def test_a_step_of_an_invalid_size_is_refused(slave: Slave, size: float) -> None:
    slave.start()
    assert slave.step(0.0, 0.1) == OK
    assert slave.step(0.1, size) == ERROR
    assert slave.say.startswith("fmi2DoStep: the step")
    assert slave.real_status() == (OK, 0.1)
    assert slave.step(0.1, 0.1) == OK


@pytest.mark.parametrize("point", [0.0, 0.2, 0.1001, -0.1, NAN, INF])
def test_a_step_from_another_time_is_refused(slave: Slave, point: float) -> None:
    slave.start()
    assert slave.step(0.0, 0.1) == OK
    assert slave.step(point, 0.1) == ERROR
    assert slave.real_status() == (OK, 0.1)


def test_round_off_in_the_communication_points_is_accepted(slave: Slave) -> None:
    """Each step ends at the importer's sum, so that the instance's time follows the importer's."""
    slave.start(stop=1.0)
    time = 0.0
    for i in range(1000):
        assert slave.step(time, 0.001) == OK, slave.say
        assert slave.real_status()[1] == time + 0.001
        time = time + 0.001 if i % 2 else (i + 1) * 0.001


def test_a_step_past_the_stop_time_is_refused(slave: Slave) -> None:
    slave.start(stop=0.25)
    assert slave.run(0.0, 0.1, 2)
    assert slave.step(0.2, 0.1) == ERROR
    assert "stop" in slave.say
    assert slave.step(0.2, 0.25 - 0.2) == OK


def test_after_a_discarded_step_the_instance_continues(slave: Slave) -> None:
    slave.start()
    assert slave.step(0.0, 0.1) == OK
    assert slave.set("gravity[3]", IMPOSSIBLE) == OK
    slave.callbacks.messages.clear()
    assert slave.step(0.1, 0.1) == DISCARD
    assert [message[:2] for message in slave.callbacks.messages] == [(DISCARD, "logStatusDiscard")]
    status, time = slave.real_status(LAST_SUCCESSFUL_TIME)
    assert status == OK
    assert 0.1 <= time < 0.2
    assert slave.integer_status("fmi2GetBooleanStatus", TERMINATED) == (OK, 0)
    assert slave.integer_status("fmi2GetStatus", DO_STEP_STATUS) == (OK, DISCARD)
    assert slave.set("gravity[3]", EARTH) == OK
    assert slave.step(time, 0.1) == OK
    assert slave.integer_status("fmi2GetStatus", DO_STEP_STATUS) == (OK, OK)


def test_after_a_failed_step_a_run_continues_from_a_saved_state(fmu: Unpacked, slave: Slave) -> None:
    untroubled = Slave(fmu)
    for each in (untroubled, slave):
        each.start()
        assert each.step(0.0, 0.1) == OK
    state = slave.state()
    assert slave.set("gravity[3]", IMPOSSIBLE) == OK
    assert slave.step(0.1, 0.1) == DISCARD
    assert slave.call("fmi2SetFMUstate", state) == OK
    assert slave.run(0.1, 0.1, 10) == untroubled.run(0.1, 0.1, 10)
    untroubled.free()


def test_a_status_that_does_not_exist_is_refused(slave: Slave) -> None:
    slave.start()
    assert slave.integer_status("fmi2GetStatus", PENDING_STATUS)[0] == DISCARD
    assert slave.integer_status("fmi2GetIntegerStatus", DO_STEP_STATUS)[0] == DISCARD
    assert slave.integer_status("fmi2GetBooleanStatus", LAST_SUCCESSFUL_TIME)[0] == DISCARD
    assert slave.real_status(TERMINATED)[0] == DISCARD
    assert slave.call("fmi2GetStringStatus", PENDING_STATUS, byref(c_char_p())) == DISCARD
    assert slave.say.startswith("fmi2GetStringStatus: ")
    for name in ("fmi2GetStatus", "fmi2GetRealStatus", "fmi2GetBooleanStatus"):
        assert slave.call(name, DO_STEP_STATUS, None) == ERROR


# --- reset ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PHASES)
def test_reset_restores_the_initial_state_bit_for_bit(fmu: Unpacked, slave: Slave, name: str) -> None:
    new = Slave(fmu)
    new.start()
    slave.set("gravity[3]", -1.0)
    PHASES[name](slave)
    assert slave.call("fmi2Reset") == OK
    slave.start()
    assert slave.run(0.0, 0.1, 10) == new.run(0.0, 0.1, 10)
    assert slave.get("gravity[3]") == new.get("gravity[3]")
    new.free()


def test_reset_forgets_the_stop_time(slave: Slave) -> None:
    slave.start(stop=0.1)
    assert slave.step(0.0, 0.2) == ERROR
    assert slave.call("fmi2Reset") == OK
    slave.start()
    assert slave.step(0.0, 0.2) == OK


# --- logging -------------------------------------------------------------------------------------------


def categories(slave: Slave, on: int, *names: bytes) -> int:
    return slave.call("fmi2SetDebugLogging", on, len(names), (c_char_p * len(names))(*names))


def test_errors_are_logged_without_debug_logging(slave: Slave) -> None:
    slave.start()
    assert slave.callbacks.messages == []
    assert slave.step(0.0, -1.0) == ERROR
    ((status, category, _),) = slave.callbacks.messages
    assert (status, category) == (ERROR, "logStatusError")


def test_debug_logging_describes_the_run(fmu: Unpacked) -> None:
    slave = Slave(fmu, logging=True)
    slave.start()
    assert {category for _, category, _ in slave.callbacks.messages} == {"logAll"}
    slave.free()


def test_categories_select_messages(slave: Slave) -> None:
    assert categories(slave, 1, b"logStatusDiscard") == OK
    assert slave.set(10**6, 0.0) == ERROR
    assert slave.callbacks.messages == []
    assert categories(slave, 1, b"logStatusDiscard", b"logStatusError") == OK
    assert slave.set(10**6, 0.0) == ERROR
    assert len(slave.callbacks.messages) == 1
    assert categories(slave, 0, b"logStatusError") == OK
    assert slave.set(10**6, 0.0) == ERROR
    assert len(slave.callbacks.messages) == 1
    assert categories(slave, 0) == OK
    assert slave.set(10**6, 0.0) == ERROR
    assert len(slave.callbacks.messages) == 2


def test_an_unknown_category_is_refused(slave: Slave) -> None:
    assert categories(slave, 1, b"logEverything") == ERROR
    assert "logEverything" in slave.say
    assert "logStatusError" in slave.say


def test_no_logger_and_no_memory_functions_are_needed(fmu: Unpacked) -> None:
    slave = Slave(fmu, callbacks=None)
    assert slave.component
    slave.start()
    assert slave.step(0.0, -1.0) == ERROR
    state = slave.state()
    assert slave.call("fmi2FreeFMUstate", byref(state)) == OK
    slave.free()
