"""The calls of Model Exchange: what is allowed when, what is refused, and states saved on the way."""

from collections.abc import Callable, Iterator
from ctypes import byref, c_char_p, c_double, c_int, c_size_t, c_void_p, create_string_buffer
from math import inf, nan
from typing import Any

import pytest
from fmpy.fmi2 import fmi2EventInfo

from support.slave import ERROR, MODEL_EXCHANGE, OK, Slave, Unpacked

STEP = 1e-3  # [s] of the classical Runge-Kutta scheme


class Host(Slave):
    """An instance for Model Exchange of the hinged rod, which has two states."""

    def __init__(self, fmu: Unpacked) -> None:
        super().__init__(fmu, type=MODEL_EXCHANGE)

    def array(self, name: str, *values: float) -> tuple[int, list[float]]:
        data = (c_double * 2)(*values)
        return self.call(name, data, 2), list(data)

    def update(self) -> int:
        return self.call("fmi2NewDiscreteStates", byref(fmi2EventInfo()))

    def completed(self) -> int:
        return self.call("fmi2CompletedIntegratorStep", 1, byref(c_int()), byref(c_int()))

    def rates(self, t: float, x: list[float]) -> list[float]:
        assert self.call("fmi2SetTime", t) == OK
        assert self.array("fmi2SetContinuousStates", *x)[0] == OK
        status, values = self.array("fmi2GetDerivatives")
        assert status == OK
        return values

    def move(self, t: float, steps: int) -> list[float]:
        """The state after steps from the present one."""
        x = self.array("fmi2GetContinuousStates")[1]
        for i in range(steps):
            at = t + i * STEP
            k = [self.rates(at, x)]
            for part in (0.5, 0.5, 1.0):
                moved = [a + part * STEP * b for a, b in zip(x, k[-1], strict=True)]
                k.append(self.rates(at + part * STEP, moved))
            x = [v + STEP / 6.0 * (a + 2 * b + 2 * c + d) for v, a, b, c, d in zip(x, *k, strict=True)]
            self.rates(t + (i + 1) * STEP, x)
            assert self.completed() == OK
        return x


INSTANTIATED, INITIALIZATION, EVENT, CONTINUOUS, ENDED = (
    "instantiated",
    "initialization",
    "event",
    "continuous",
    "ended",
)
ORDER = (INSTANTIATED, INITIALIZATION, EVENT, CONTINUOUS, ENDED)
HOSTED = {EVENT, CONTINUOUS}

CALLS: dict[str, tuple[Callable[[Host], int], set[str]]] = {
    "fmi2EnterEventMode": (lambda s: s.call("fmi2EnterEventMode"), HOSTED),
    "fmi2NewDiscreteStates": (lambda s: s.update(), {EVENT}),
    "fmi2EnterContinuousTimeMode": (lambda s: s.call("fmi2EnterContinuousTimeMode"), {EVENT}),
    "fmi2CompletedIntegratorStep": (lambda s: s.completed(), {CONTINUOUS}),
    "fmi2SetTime": (lambda s: s.call("fmi2SetTime", 0.0), HOSTED),
    "fmi2SetContinuousStates": (lambda s: s.array("fmi2SetContinuousStates", 0.1, 0.2)[0], {CONTINUOUS}),
    "fmi2GetDerivatives": (lambda s: s.array("fmi2GetDerivatives")[0], HOSTED),
    "fmi2GetEventIndicators": (lambda s: s.call("fmi2GetEventIndicators", None, 0), HOSTED),
    "fmi2GetContinuousStates": (lambda s: s.array("fmi2GetContinuousStates")[0], HOSTED | {INITIALIZATION, ENDED}),
    "fmi2GetNominalsOfContinuousStates": (lambda s: s.array("fmi2GetNominalsOfContinuousStates")[0], set(ORDER)),
    "fmi2DoStep": (lambda s: s.step(0.0, 0.1), set()),
    "fmi2SetRealInputDerivatives": (
        lambda s: s.set_derivatives(["A.tau"], [1], [0.0]), {INSTANTIATED, INITIALIZATION},
    ),
    "fmi2GetRealOutputDerivatives": (lambda s: s.output_derivative("A.q")[0], {ENDED}),
    "fmi2GetDirectionalDerivative": (lambda s: s.directional("A.qdd", "A.q")[0], HOSTED | {INITIALIZATION, ENDED}),
    "fmi2Terminate": (lambda s: s.call("fmi2Terminate"), HOSTED),
}  # fmt: skip


def lead(host: Host, phase: str) -> None:
    """From instantiated to a phase."""
    steps: tuple[Callable[[], Any], ...] = (
        lambda: None,
        host.initialize,
        lambda: host.call("fmi2ExitInitializationMode"),
        lambda: host.call("fmi2EnterContinuousTimeMode"),
        lambda: host.call("fmi2Terminate"),
    )
    for step in steps[: ORDER.index(phase) + 1]:
        assert step() in (OK, None), host.say


@pytest.fixture
def host(fmu: Unpacked) -> Iterator[Host]:
    """A new instance, which the test leaves alive."""
    host = Host(fmu)
    assert host.component, host.say
    yield host
    host.free()


@pytest.mark.parametrize("phase", ORDER)
def test_in_each_mode_a_call_is_answered_or_refused_with_a_message(fmu: Unpacked, phase: str) -> None:
    for call, (make, allowed) in CALLS.items():
        host = Host(fmu)
        lead(host, phase)
        host.callbacks.messages.clear()
        status = make(host)
        if phase in allowed:
            assert (status, host.say) == (OK, ""), call
        else:
            assert status == ERROR, call
            assert host.say.startswith(f"{call}: "), host.say
        host.free()


def test_for_co_simulation_the_calls_of_model_exchange_are_refused(slave: Slave) -> None:
    slave.start()
    for call in ("fmi2EnterEventMode", "fmi2EnterContinuousTimeMode"):
        assert slave.call(call) == ERROR
    assert slave.call("fmi2SetTime", 0.0) == ERROR
    assert slave.step(0.0, 0.1) == OK


def test_what_is_no_state_is_refused_and_changes_nothing(host: Host) -> None:
    lead(host, CONTINUOUS)
    before = host.array("fmi2GetContinuousStates")[1]
    assert host.array("fmi2SetContinuousStates", nan, 0.0)[0] == ERROR
    assert host.array("fmi2SetContinuousStates", 0.0, inf)[0] == ERROR
    assert host.call("fmi2SetContinuousStates", (c_double * 3)(), 3) == ERROR
    assert "the array has 3 elements, the model 2 continuous states" in host.say
    assert host.call("fmi2SetContinuousStates", None, 2) == ERROR
    assert host.call("fmi2SetTime", nan) == ERROR
    assert host.call("fmi2NewDiscreteStates", None) == ERROR
    assert host.call("fmi2CompletedIntegratorStep", 1, None, byref(c_int())) == ERROR
    assert host.array("fmi2GetContinuousStates")[1] == before


def test_a_kind_that_does_not_exist_is_refused(fmu: Unpacked) -> None:
    slave = Slave(fmu, type=2)
    assert not slave.component
    assert "2 is no kind of FMU; pass fmi2ModelExchange or fmi2CoSimulation" in slave.say


def test_from_a_saved_state_the_run_continues_bit_for_bit(host: Host) -> None:
    lead(host, CONTINUOUS)
    host.move(0.0, 20)
    state = c_void_p()
    assert host.call("fmi2GetFMUstate", byref(state)) == OK
    end = host.move(20 * STEP, 20)
    host.move(40 * STEP, 20)
    assert host.call("fmi2SetFMUstate", state) == OK
    assert host.move(20 * STEP, 20) == end


def test_a_serialised_state_continues_in_another_instance(fmu: Unpacked, host: Host) -> None:
    lead(host, CONTINUOUS)
    host.move(0.0, 20)
    state, size = c_void_p(), c_size_t()
    assert host.call("fmi2GetFMUstate", byref(state)) == OK
    assert host.call("fmi2SerializedFMUstateSize", state, byref(size)) == OK
    data = create_string_buffer(size.value)
    assert host.call("fmi2SerializeFMUstate", state, data, size) == OK
    other, copy = Host(fmu), c_void_p()
    assert other.call("fmi2DeSerializeFMUstate", c_char_p(data.raw), size, byref(copy)) == OK
    assert other.call("fmi2SetFMUstate", copy) == OK
    assert other.move(20 * STEP, 20) == host.move(20 * STEP, 20)
    other.free()


def test_a_state_of_one_kind_is_refused_by_the_other(fmu: Unpacked, host: Host, slave: Slave) -> None:
    lead(host, CONTINUOUS)
    slave.start()
    for one, other, what in ((host, slave, "Model Exchange"), (slave, host, "Co-Simulation")):
        state, size, copy = c_void_p(), c_size_t(), c_void_p()
        assert one.call("fmi2GetFMUstate", byref(state)) == OK
        assert one.call("fmi2SerializedFMUstateSize", state, byref(size)) == OK
        data = create_string_buffer(size.value)
        assert one.call("fmi2SerializeFMUstate", state, data, size) == OK
        assert other.call("fmi2DeSerializeFMUstate", c_char_p(data.raw), size, byref(copy)) == OK
        assert other.call("fmi2SetFMUstate", copy) == ERROR
        assert f"the state is one of an instance for {what}" in other.say


def test_states_and_parameters_are_set_by_reference_in_continuous_time_mode(host: Host) -> None:
    """As CasADi does."""
    lead(host, CONTINUOUS)
    assert host.set("A.q", 0.3) == host.set("rod.mass", 2.5) == OK
    assert host.array("fmi2GetContinuousStates")[1][0] == 0.3
    assert host.set("A.qdd", 0.0) == ERROR
    assert host.set("time", 1.0) == ERROR
    assert host.set("solver.step", 1.0) == ERROR
