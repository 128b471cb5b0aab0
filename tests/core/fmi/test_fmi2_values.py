"""Variables through FMI 2.0: who may be set when, what a value may be, and the three kinds of derivatives."""

import math
import re
from ctypes import byref, c_char_p, c_double, c_int, c_size_t, c_uint
from pathlib import Path

import pytest

import fmumbs as fm
from fmumbs.readers import read_model
from support.slave import ERROR, OK, WARNING, Slave, unpacked_fmu

NAN, INF = math.nan, math.inf

# --- values --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [NAN, INF, -INF])
def test_an_input_that_is_not_finite_is_refused_by_name(slave: Slave, value: float) -> None:
    slave.start()
    assert slave.set("A.tau", 0.25) == OK
    assert slave.set("A.tau", value) == ERROR
    assert "A.tau" in slave.say
    assert slave.get("A.tau") == 0.25
    assert slave.set_derivatives(["A.tau"], [1], [value]) == ERROR
    assert "A.tau" in slave.say
    assert slave.step(0.0, 0.1) == OK


def test_one_bad_value_refuses_the_whole_call(slave: Slave) -> None:
    slave.start()
    gravity = slave.get("gravity[3]")
    references = slave.references(["gravity[3]", "A.tau"])
    assert slave.call("fmi2SetReal", references, 2, (c_double * 2)(-1.0, NAN)) == ERROR
    references = slave.references(["gravity[3]", "A.qdd"])
    assert slave.call("fmi2SetReal", references, 2, (c_double * 2)(-1.0, 0.0)) == ERROR
    assert slave.get("gravity[3]") == gravity


@pytest.mark.parametrize("reference", [10**6, 2**32 - 1])
def test_an_unknown_reference_is_refused(slave: Slave, reference: int) -> None:
    assert slave.set(reference, 0.0) == ERROR
    assert str(reference) in slave.say
    slave.start()
    for name, value in (("fmi2GetReal", c_double()), ("fmi2GetInteger", c_int())):
        assert slave.call(name, slave.references([reference]), 1, value) == ERROR
    assert slave.set_integer(reference, 0) == ERROR
    unknown, one = slave.references([reference]), (c_double * 1)(1.0)
    known = slave.references(["A.tau"])
    assert slave.call("fmi2GetDirectionalDerivative", unknown, 1, known, 1, one, one) == ERROR
    assert slave.call("fmi2GetDirectionalDerivative", slave.references(["A.q"]), 1, unknown, 1, one, one) == ERROR
    assert slave.call("fmi2SetRealInputDerivatives", unknown, 1, (c_int * 1)(1), one) == ERROR
    assert slave.call("fmi2GetRealOutputDerivatives", unknown, 1, (c_int * 1)(1), one) == ERROR
    assert slave.step(0.0, 0.1) == OK


def test_a_variable_has_one_type(slave: Slave) -> None:
    slave.start()
    assert slave.call("fmi2GetInteger", slave.references(["A.q"]), 1, c_int()) == ERROR
    assert "'A.q'" in slave.say
    assert "Real" in slave.say
    assert slave.call("fmi2GetReal", slave.references(["solver.steps"]), 1, c_double()) == ERROR
    assert "Integer" in slave.say
    assert slave.call("fmi2GetBoolean", slave.references(["A.q"]), 1, c_int()) == ERROR
    assert slave.call("fmi2SetBoolean", slave.references(["A.q"]), 1, c_int()) == ERROR
    assert slave.call("fmi2GetString", slave.references(["A.q"]), 1, byref(c_char_p())) == ERROR
    assert slave.call("fmi2SetString", slave.references(["A.q"]), 1, (c_char_p * 1)(b"1")) == ERROR


def test_a_null_array_is_refused(slave: Slave) -> None:
    slave.start()
    references = slave.references(["A.tau"])
    one, order = (c_double * 1)(1.0), (c_int * 1)(1)
    for name in ("fmi2GetReal", "fmi2SetReal"):
        assert slave.call(name, references, 1, None) == ERROR
        assert slave.call(name, None, 1, one) == ERROR
        assert slave.call(name, None, 0, None) == OK
    assert slave.call("fmi2SetRealInputDerivatives", references, 1, None, one) == ERROR
    assert slave.call("fmi2SetRealInputDerivatives", references, 1, order, None) == ERROR
    assert slave.call("fmi2GetDirectionalDerivative", references, 1, references, 1, None, None) == ERROR
    for name in ("fmi2GetFMUstate", "fmi2SetFMUstate"):
        assert slave.call(name, None) == ERROR
    assert slave.call("fmi2FreeFMUstate", None) == OK
    assert slave.call("fmi2SetDebugLogging", 1, 1, None) == ERROR


def test_outputs_depend_on_inputs_without_a_step(slave: Slave) -> None:
    slave.start()
    before = slave.get("A.qdd")
    assert slave.set("A.tau", 2.0) == OK
    assert slave.get("A.qdd") == pytest.approx(before + 2.0, rel=1e-12)  # the inertia is 1 kg.m2


def test_variables_that_may_be_set_in_each_state(slave: Slave) -> None:
    """Inputs and tunable parameters always, fixed parameters and states before the run, the rest never."""
    always, before, never = ("A.tau", "gravity[3]"), ("solver.tolerance", "A.q", "A.qd"), ("A.qdd",)

    def check(*, started: bool) -> None:
        for name in always:
            assert slave.set(name, 1.0) == OK, slave.say
        for name in before:
            assert slave.set(name, 1e-3) == (ERROR if started else OK), name
            assert not started or f"'{name}'" in slave.say
        for name in never:
            assert slave.set(name, 1.0) == ERROR
            assert f"'{name}'" in slave.say
        assert slave.set_integer("solver.scheme", 1) == (ERROR if started else OK)
        assert slave.set_integer("solver.steps", 1) == ERROR

    check(started=False)
    slave.initialize()
    check(started=False)
    assert slave.call("fmi2ExitInitializationMode") == OK
    check(started=True)
    assert slave.step(0.0, 0.1) == OK
    check(started=True)


def test_values_set_in_initialization_mode_are_the_start(slave: Slave) -> None:
    slave.initialize()
    assert slave.get("A.q") == 0.5
    assert slave.set("A.q", 0.75) == OK
    assert slave.set("A.qd", -1.0) == OK
    assert slave.get("A.q") == 0.75
    assert slave.call("fmi2ExitInitializationMode") == OK
    assert (slave.get("A.q"), slave.get("A.qd")) == (0.75, -1.0)


def test_reading_in_initialization_mode_changes_nothing(tmp_path: Path) -> None:
    """Outputs of a closed loop, which make a start, between two guesses; and a state saved there, and set again."""
    fmu = unpacked_fmu(tmp_path / "four_bar", read_model("four_bar"))
    found = []
    for reads in (False, True):
        slave = Slave(fmu)
        slave.initialize()
        slave.set("B.q", 1.4)
        if reads:
            assert slave.get("C.qd") != slave.get("B.q") == 1.4
            state = slave.state()
            slave.set("A.q", 0.3)
            slave.get("A.q")
            slave.call("fmi2SetFMUstate", state)
            slave.call("fmi2FreeFMUstate", byref(state))
        slave.set("D.q", -1.0)
        assert slave.call("fmi2ExitInitializationMode") == OK  # some masters end a simulation at a warning
        status, category, message = slave.callbacks.messages[-1]
        assert (status, category) == (WARNING, "logStatusWarning")
        assert "loops changed start values: D.q from -1 to" in message
        values = [slave.get(name) for name in ("A.q", "B.q", "C.q", "D.q", "A.qd", "C.qdd")]
        found.append([*values, slave.get_integer("solver.iterations"), slave.step(0.0, 0.1), slave.get("A.q")])
        slave.free()
    assert found[0] == found[1]


def test_counts_are_integers(slave: Slave) -> None:
    slave.start()
    assert slave.get_integer("solver.steps") == 0
    assert slave.step(0.0, 0.5) == OK
    assert slave.get_integer("solver.steps") > 0


def test_many_variables_are_read_at_once(slave: Slave) -> None:
    slave.start()
    names = ["solver.steps"] * 200
    values = (c_int * 200)(*([-1] * 200))
    assert slave.call("fmi2GetInteger", slave.references(names), 200, values) == OK
    assert set(values) == {0}
    assert slave.call("fmi2GetReal", (c_uint * 0)(), c_size_t(0), (c_double * 0)()) == OK


# --- derivatives ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", [-1, 0, 4, 2**31 - 1])
def test_input_derivatives_have_orders_one_to_three(slave: Slave, order: int) -> None:
    slave.start()
    assert slave.set_derivatives(["A.tau"] * 3, [1, 2, 3], [0.1, 0.1, 0.1]) == OK
    assert slave.set_derivatives(["A.tau"], [order], [1.0]) == ERROR
    assert str(order) in slave.say
    assert slave.set_derivatives(["A.q"], [1], [1.0]) == ERROR
    assert "'A.q'" in slave.say
    assert slave.step(0.0, 0.1) == OK


def test_input_derivatives_are_a_taylor_series_for_one_step(slave: Slave) -> None:
    """Without gravity q'' = tau for an inertia of 1: the position is the polynomial of degree 5."""
    slave.start()
    assert slave.set("gravity[3]", 0.0) == OK
    assert slave.set("A.tau", 1.0) == OK
    assert slave.set_derivatives(["A.tau"] * 3, [1, 2, 3], [2.0, 3.0, 4.0]) == OK
    assert slave.step(0.0, 0.5) == OK
    t = 0.5
    speed = t + t**2 + t**3 / 2 + t**4 / 6
    assert slave.get("A.q") == pytest.approx(0.5 + t**2 / 2 + t**3 / 3 + t**4 / 8 + t**5 / 30, rel=1e-12)
    assert slave.get("A.qd") == pytest.approx(speed, rel=1e-12)
    assert slave.get("A.tau") == 1.0
    assert slave.step(0.5, 0.5) == OK  # the torque is constant again
    assert slave.get("A.qd") == pytest.approx(speed + t, rel=1e-12)


def test_output_derivatives_are_those_of_the_motion(slave: Slave) -> None:
    slave.start(A_qd=1.5)
    assert slave.output_derivative("A.q") == (OK, slave.get("A.qd"))
    assert slave.output_derivative("A.qd") == (OK, slave.get("A.qdd"))
    assert slave.output_derivative("A.q", order=2)[0] == ERROR
    assert slave.output_derivative("A.q", order=0)[0] == ERROR
    assert slave.output_derivative("A.tau")[0] == ERROR


def test_directional_derivatives_are_of_outputs_by_inputs_states_and_parameters(slave: Slave) -> None:
    slave.start()
    assert slave.directional("A.qdd", "A.tau", 2.0) == (OK, pytest.approx(2.0, rel=1e-12))
    assert slave.directional("A.q", "A.tau") == (OK, 0.0)
    assert slave.directional("A.tau", "A.tau")[0] == ERROR
    angle = slave.get("A.q")
    slope = -3.0 * 9.81 * 0.5 * math.sin(angle)  # of the torque of gravity about the hinge
    assert slave.directional("A.qdd", "A.q") == (OK, pytest.approx(slope, rel=1e-12))
    assert slave.directional("A.q", "A.q", 2.0) == (OK, 2.0)
    assert slave.directional("A.qdd", "gravity[3]") == (OK, pytest.approx(-1.5 * math.cos(angle), rel=1e-12))
    assert slave.directional("A.qdd", "solver.tolerance")[0] == ERROR
    assert "'solver.tolerance'" in slave.say
    assert slave.directional("A.qdd", "A.qdd")[0] == ERROR


def test_a_seed_that_is_not_finite_changes_nothing(slave: Slave) -> None:
    """A refused call leaves an instance as it is, also one that has not been assembled yet."""
    slave.initialize()
    before = slave.serialized(slave.state())
    assert slave.directional("A.qdd", "A.tau", float("nan"))[0] == ERROR
    assert "seed 1 of 1" in slave.say
    assert slave.serialized(slave.state()) == before
    assert slave.directional("A.qdd", "A.tau")[0] == OK


def test_a_start_set_by_an_importer_holds_in_any_order_of_calls(tmp_path: Path) -> None:
    """It outranks the model's own, which are told in the log alone; set to the description's it is no other value."""
    fmu = unpacked_fmu(tmp_path / "four_bar", read_model("four_bar"))
    own = read_model("four_bar")["B"].q0
    for names in (("A.q", "B.q"), ("B.q", "A.q")):
        slave = Slave(fmu, logging=True)
        for name in names:
            slave.set(name, {"A.q": 0.5, "B.q": own}[name])
        slave.initialize()
        assert slave.get("A.q") == 0.5
        slave.set("D.qd", 1.0)
        assert slave.call("fmi2ExitInitializationMode") == OK
        assert (slave.get("A.q"), slave.get("D.qd")) == (0.5, 1.0)
        assert "loops changed start values: B.q from" in slave.callbacks.messages[-1][-1]
        slave.free()


def test_the_log_has_every_start_that_loops_changed(tmp_path: Path) -> None:
    """As many as it names, all with their values, and whole: what another message left is not behind it."""
    slave = Slave(unpacked_fmu(tmp_path / "four_bar", read_model("four_bar")), logging=True)
    slave.set("B.q", 1.5)
    slave.set("C.q", -0.2)
    slave.set("D.q", 0.4)
    slave.initialize()
    assert slave.call("fmi2ExitInitializationMode") == OK
    message = next(text for *_, text in slave.callbacks.messages if "loops changed" in text)
    parts = message.removeprefix("fmi2ExitInitializationMode: loops changed start values: ").split(", ")
    assert [part.partition(" from ")[0] for part in parts] == ["D.q", "A.q"]
    assert all(re.fullmatch(r"[AD]\.q from \S+ to \S+ rad", part) for part in parts)


def test_the_log_of_changed_starts_has_the_digits_that_differ(tmp_path: Path) -> None:
    """As the warning in Python, to which it is compared; a value that the importer sets counts as given as well."""
    closed = fm.Solver(read_model("four_bar"))
    closed.set("A.q", -1.1)
    closed.assemble()
    slave = Slave(unpacked_fmu(tmp_path / "four_bar", read_model("four_bar")))
    slave.initialize()
    wrong = closed.get("D.q") + 3e-8
    for name, value in (("A.q", -1.1), ("D.q", wrong)):
        slave.set(name, value)
        closed.set(name, value)
    assert slave.call("fmi2ExitInitializationMode") == OK
    closed.assemble()
    (change,) = (change for change in closed.start_changes if change.was_set)
    given, new = str(change).removeprefix("D.q from ").removesuffix(" rad").split(" to ")
    assert given != new
    assert str(change) in slave.callbacks.messages[-1][-1]
    slave.free()
