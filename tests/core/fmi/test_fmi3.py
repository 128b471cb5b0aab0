"""The functions of FMI 3.0: what is allowed when, what is refused, events, intermediate updates and early returns."""

from collections.abc import Callable, Iterator
from ctypes import byref, c_bool, c_char_p, c_double, c_int, c_size_t, c_uint32, c_void_p
from math import nan, sqrt
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import fmpy
import fmpy.fmi3
import numpy as np
import pytest
from fmpy.fmi1 import FMICallException
from fmpy.fmi3 import FMU3Model, FMU3Slave

import fmumbs as fm
from fmumbs.compiler.schemes import SCHEMES
from fmumbs.readers import read_model
from support.fmi_functions import FMI3_FUNCTIONS
from support.slave import hinged_rod

DISCARD, ERROR = 2, 3
G = 9.81


def dropped(height: float = 0.5) -> fm.Model:
    """A body that falls onto an elastic stop."""
    model = fm.Model("dropped", gravity=(0.0, 0.0, -G))
    body = fm.Body("body", mass=2.0)
    slide = fm.Prismatic("S", model.ground.at(), body.at(), axis="z", q0=height)
    model.add(body, slide, fm.Stop("floor", slide, lower=0.0, stiffness=2e4))
    return model


class Unzipped:
    """An FMU of FMI 3.0 in a folder, and FMPy's instances of it, whose messages it keeps."""

    def __init__(self, model: fm.Model, folder: Path, **options: Any) -> None:
        self.path = fm.export_fmu(model, folder / f"{model.name}.fmu", fmi=3, **options)
        self.folder = fmpy.extract(str(self.path), str(folder / model.name))
        self.description = fmpy.read_model_description(str(self.path))
        self.reference = {v.name: v.valueReference for v in self.description.modelVariables}
        self.messages: list[str] = []

    def _log(self, _: Any, status: int, category: bytes, message: bytes) -> None:
        self.messages.append(message.decode())

    def _made(self, kind: Any, **arguments: Any) -> Any:
        one = kind(
            guid=self.description.instantiationToken,
            unzipDirectory=self.folder,
            modelIdentifier=self.description.coSimulation.modelIdentifier,
            instanceName="one",
        )
        one.instantiate(logMessage=self._log, **arguments)
        return one

    def slave(self, **arguments: Any) -> Any:
        return self._made(FMU3Slave, **arguments)

    def host(self) -> Any:
        return self._made(FMU3Model)

    def started(self, **arguments: Any) -> Any:
        one = self.slave(**arguments)
        one.enterInitializationMode(tolerance=1e-8)
        one.exitInitializationMode()
        return one


@pytest.fixture(scope="module")
def rod(tmp_path_factory: pytest.TempPathFactory) -> Unzipped:
    return Unzipped(hinged_rod(), tmp_path_factory.mktemp("rod"))


@pytest.fixture(scope="module")
def ball(tmp_path_factory: pytest.TempPathFactory) -> Unzipped:
    return Unzipped(dropped(), tmp_path_factory.mktemp("ball"))


# --- phases ----------------------------------------------------------------------------------------------

INSTANTIATED, INITIALIZATION, STEP, EVENT = "instantiated", "initialization", "step", "event"
HOSTED_EVENT, CONTINUOUS, ENDED = "hosted event", "continuous", "ended"
SLAVES = (INSTANTIATED, INITIALIZATION, STEP, EVENT, ENDED)
HOSTS = (INSTANTIATED, INITIALIZATION, HOSTED_EVENT, CONTINUOUS, ENDED)


def bring(one: Any, phase: str) -> Any:
    """A new instance in a phase; a slave's has event mode."""
    if phase == INSTANTIATED:
        return one
    one.enterInitializationMode()
    if phase == INITIALIZATION:
        return one
    one.exitInitializationMode()
    if phase in (STEP,):
        one.enterStepMode()
    if phase == CONTINUOUS:
        one.enterContinuousTimeMode()
    if phase == ENDED:
        one.terminate()
    return one


def _array(of: Any, *values: Any) -> Any:
    return (of * max(len(values), 1))(*values)


A_Q, A_TAU = "A.q", "A.tau"
ALL = {INSTANTIATED, INITIALIZATION, STEP, EVENT, HOSTED_EVENT, CONTINUOUS, ENDED}
RUNNING = {STEP, EVENT, HOSTED_EVENT, CONTINUOUS}
Call = Callable[[Any, dict[str, int]], Any]
CALLS: dict[str, tuple[set[str], Call]] = {
    "get": (ALL - {INSTANTIATED}, lambda one, at: one.getFloat64([at[A_Q]])),
    "set": (ALL - {ENDED}, lambda one, at: one.setFloat64([at[A_TAU]], [0.5])),
    "initialise": ({INSTANTIATED}, lambda one, _: one.enterInitializationMode()),
    "start": ({INITIALIZATION}, lambda one, _: one.exitInitializationMode()),
    "terminate": (RUNNING, lambda one, _: one.terminate()),
    "reset": (ALL, lambda one, _: one.reset()),
    "log": (ALL, lambda one, _: one.setDebugLogging(True, ["logAll"])),
    "save": (ALL, lambda one, _: one.freeFMUState(one.getFMUState())),
    "derivative": (ALL - {INSTANTIATED}, lambda one, at: one.getDirectionalDerivative([at["A.qdd"]], [at[A_TAU]], [1])),
    "event mode": ({STEP, HOSTED_EVENT, CONTINUOUS}, lambda one, _: one.enterEventMode()),
    "update": ({EVENT, HOSTED_EVENT}, lambda one, _: one.updateDiscreteStates()),
}
OF_SLAVES: dict[str, tuple[set[str], Call]] = {
    "step mode": ({EVENT}, lambda one, _: one.enterStepMode()),
    "step": ({STEP}, lambda one, _: one.doStep(0.0, 0.1)),
    "output derivatives": ({STEP, EVENT, ENDED}, lambda one, at: one.getOutputDerivatives([at[A_Q]], [1])),
}
OF_HOSTS: dict[str, tuple[set[str], Call]] = {
    "continuous": ({HOSTED_EVENT}, lambda one, _: one.enterContinuousTimeMode()),
    "time": ({HOSTED_EVENT, CONTINUOUS}, lambda one, _: one.setTime(0.1)),
    "states": ({CONTINUOUS}, lambda one, _: one.setContinuousStates(_array(c_double, 0.1, 0.2), 2)),
    "get states": (
        {INITIALIZATION, HOSTED_EVENT, CONTINUOUS, ENDED},
        lambda one, _: one.getContinuousStates(_array(c_double, 0.0, 0.0), 2),
    ),
    "rates": (
        {HOSTED_EVENT, CONTINUOUS},
        lambda one, _: one.getContinuousStateDerivatives(_array(c_double, 0.0, 0.0), 2),
    ),
    "indicators": ({HOSTED_EVENT, CONTINUOUS}, lambda one, _: one.getEventIndicators(_array(c_double), 0)),
    "completed": ({CONTINUOUS}, lambda one, _: one.completedIntegratorStep()),
    "nominals": (ALL, lambda one, _: one.getNominalsOfContinuousStates(_array(c_double, 0.0, 0.0), 2)),
    "numbers": (ALL, lambda one, _: (one.getNumberOfContinuousStates(), one.getNumberOfEventIndicators())),
}


def check_call(unzipped: Unzipped, one: Any, phase: str, allowed: set[str], call: Call) -> None:
    if phase in allowed:
        call(one, unzipped.reference)
    else:
        unzipped.messages.clear()
        with pytest.raises(FMICallException) as refused:
            call(one, unzipped.reference)
        assert refused.value.status == ERROR
        assert "not allowed while the instance is" in unzipped.messages[-1]
        assert unzipped.messages[-1].startswith("fmi3")


@pytest.mark.parametrize("call", CALLS | OF_SLAVES)
@pytest.mark.parametrize("phase", SLAVES)
def test_co_simulation_allows_each_call_in_its_phases(rod: Unzipped, phase: str, call: str) -> None:
    one = bring(rod.slave(eventModeUsed=True), phase)
    check_call(rod, one, phase, *(CALLS | OF_SLAVES)[call])
    one.freeInstance()


@pytest.mark.parametrize("call", CALLS | OF_HOSTS)
@pytest.mark.parametrize("phase", HOSTS)
def test_model_exchange_allows_each_call_in_its_phases(rod: Unzipped, phase: str, call: str) -> None:
    one = bring(rod.host(), phase)
    check_call(rod, one, phase, *(CALLS | OF_HOSTS)[call])
    one.freeInstance()


# --- what is refused ---------------------------------------------------------------------------------------

OTHERS = ("Float32", "Int8", "UInt8", "Int16", "UInt16", "UInt32", "Int64", "UInt64", "String")


@pytest.fixture
def one(rod: Unzipped) -> Iterator[Any]:
    one = rod.started()
    rod.messages.clear()
    yield one
    one.freeInstance()


@pytest.mark.parametrize("kind", OTHERS)
def test_types_that_no_variable_has_are_refused_by_name(rod: Unzipped, one: Any, kind: str) -> None:
    getattr(one, f"get{kind}")([])
    for call in (
        lambda: getattr(one, f"get{kind}")([0]),
        lambda: getattr(one, f"set{kind}")([0], ["" if kind == "String" else 0]),
    ):
        with pytest.raises(FMICallException):
            call()
        assert rod.messages.pop().endswith(f"this FMU has no variable of type {kind}")


def test_all_functions_of_the_standard_are_there_and_refuse_no_instance(one: Any) -> None:
    for name in FMI3_FUNCTIONS - {"fmi3GetVersion", "fmi3FreeInstance"}:
        function = getattr(one.dll, name)
        if "Instantiate" in name:
            continue
        function.argtypes, function.restype = None, c_int
        assert function(*[c_void_p(None)] * 2, *[c_double(0.0)] * 4, *[c_void_p(None)] * 8) == ERROR, name
    one.dll.fmi3FreeInstance(c_void_p(None))
    one.dll.fmi3GetVersion.restype = c_char_p
    assert one.dll.fmi3GetVersion() == b"3.0"


def test_numbers_of_values_must_be_those_of_variables(rod: Unzipped, one: Any) -> None:
    references, values = _array(c_uint32, rod.reference[A_Q]), _array(c_double, 1.0, 2.0)
    with pytest.raises(FMICallException):
        one.fmi3GetFloat64(one.component, references, 1, values, 2)
    assert "2 values are given for 1 variables, which are scalars" in rod.messages.pop()
    with pytest.raises(FMICallException):
        one.fmi3GetDirectionalDerivative(one.component, references, 1, references, 1, values, 2, values, 1)
    assert list(values) == [1.0, 2.0]


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda one: one.fmi3EnterConfigurationMode(one.component), "no structural parameters"),
        (lambda one: one.fmi3ExitConfigurationMode(one.component), "no structural parameters"),
        (lambda one: one.fmi3ActivateModelPartition(one.component, 0, 0.0), "of type Clock"),
        (lambda one: one.fmi3GetNumberOfVariableDependencies(one.component, 0, byref(c_size_t())), "modelDescription"),
        (lambda one: one.enterEventMode(), "eventModeUsed"),
        (lambda one: one.fmi3DoStep(one.component, 0.0, 0.1, c_bool(True), None, None, None, None), "NULL"),
        (lambda one: one.setFloat64([10**6], [0.0]), "value reference 1000000 does not exist"),
        (lambda one: one.setInt32([0], [1]), "is of type Float64; use the functions for Float64"),
        (lambda one: one.doStep(0.0, -1.0), "is not positive"),
    ],
)  # fmt: skip
def test_what_there_is_not_is_refused_with_a_reason(
    rod: Unzipped, one: Any, call: Callable[[Any], Any], says: str
) -> None:
    before = one.getFloat64([rod.reference[A_Q]])
    with pytest.raises(FMICallException) as refused:
        call(one)
    assert refused.value.status == ERROR
    assert says in rod.messages.pop()
    assert one.getFloat64([rod.reference[A_Q]]) == before
    one.doStep(0.0, 0.1)


def test_scheduled_execution_and_wrong_tokens_are_refused(rod: Unzipped) -> None:
    from fmpy.fmi3 import FMU3ScheduledExecution

    with pytest.raises(Exception, match="Failed to instantiate"):
        rod._made(FMU3ScheduledExecution)
    assert "no clocks" in rod.messages.pop()
    token, rod.description.instantiationToken = rod.description.instantiationToken, "{other}"
    with pytest.raises(Exception, match="Failed to instantiate"):
        rod.slave()
    rod.description.instantiationToken = token
    assert "instantiation token '{other}' is not that of the model" in rod.messages.pop()


def test_whole_numbers_and_booleans_are_read_and_set(ball: Unzipped) -> None:
    one = ball.slave()
    one.setInt32([ball.reference["solver.scheme"]], [1])
    one.enterInitializationMode()
    assert one.getInt32([ball.reference["solver.scheme"]]) == [1]
    constants = [v for v in ball.description.modelVariables if v.type == "Boolean"]
    assert constants and one.getBoolean([v.valueReference for v in constants]) == [v.start == "true" for v in constants]
    with pytest.raises(FMICallException):
        one.setBoolean([constants[0].valueReference], [True])
    assert "cannot be set" in ball.messages.pop()
    one.freeInstance()


def test_tolerance_and_stop_time_come_with_initialization_mode(rod: Unzipped) -> None:
    one = rod.slave()
    one.enterInitializationMode(tolerance=1e-3, startTime=2.0, stopTime=2.15)
    assert one.getFloat64([rod.reference["solver.tolerance"]]) == [1e-3]
    one.exitInitializationMode()
    assert one.getFloat64([rod.reference["time"]]) == [2.0]
    one.doStep(2.0, 0.1)
    with pytest.raises(FMICallException):
        one.doStep(2.1, 0.1)
    assert "passes the stop time" in rod.messages.pop()
    one.freeInstance()


def test_a_step_that_fails_says_how_far_it_came(tmp_path: Path) -> None:
    model = hinged_rod()
    unzipped = Unzipped(model, tmp_path)
    one = unzipped.started()
    one.setFloat64([unzipped.reference[A_TAU]], [1e308])
    results = [c_bool(True), c_bool(True), c_bool(True), c_double(-1.0)]
    with pytest.raises(FMICallException) as failed:
        one.fmi3DoStep(one.component, 0.0, 1.0, c_bool(True), *map(byref, results))
    assert failed.value.status == DISCARD
    assert [r.value for r in results[:3]] == [False] * 3
    assert results[3].value == one.getFloat64([unzipped.reference["time"]])[0] < 1.0
    one.freeInstance()


# --- events, intermediate updates and early returns --------------------------------------------------------


class Watching:
    """An importer that reads in each intermediate update; early: the time at which it wants the step to end, if any."""

    def __init__(
        self,
        unzipped: Unzipped,
        names: list[str],
        early: Callable[[float], float | None] = lambda _: None,
        **arguments: Any,
    ) -> None:
        self.times: list[float] = []
        self.values: list[list[float]] = []
        self.flags: set[tuple[bool, ...]] = set()
        self.refused: list[str] = []
        self.early = early
        self.references = [unzipped.reference[name] for name in names]
        self.one = unzipped.started(intermediateUpdate=self._update, **arguments)

    def _update(self, _: Any, time: float, *rest: Any) -> None:
        *flags, requested, when = rest
        self.flags.add(tuple(map(bool, flags)))
        self.times.append(time)
        self.values.append(self.one.getFloat64(self.references))
        for call in (
            lambda: self.one.setFloat64(self.references[:1], [0.0]),
            self.one.getFMUState,
            lambda: self.one.doStep(time, 0.1),
        ):
            with pytest.raises(FMICallException):
                call()
        end = self.early(time)
        if end is not None:
            requested[0], when[0] = True, end


def test_each_integration_step_is_shown_and_only_read(rod: Unzipped) -> None:
    names = [A_Q, "A.qd", "A.qdd", "time"]
    alone, seen = rod.started(), Watching(rod, names)
    for step in range(20):
        alone.doStep(0.1 * step, 0.1)
        seen.one.doStep(0.1 * step, 0.1)
        assert seen.one.getFloat64(seen.references) == alone.getFloat64(seen.references)
    assert len(seen.times) > 20 and np.all(np.diff(seen.times) > 0.0)
    assert seen.flags == {(True, True, True, False)}  # set requested, get allowed, step finished, can return early
    assert [values[3] for values in seen.values] == seen.times
    energy = [
        0.5 * qd**2 - 3.0 * G * 0.5 * np.sin(q) for q, qd, _, _ in seen.values
    ]  # the rod lies along x, y turns it
    assert np.ptp(energy) < 1e-5
    alone.freeInstance()
    seen.one.freeInstance()


@pytest.mark.parametrize("beyond", [0.0, 0.3, 1.0])
def test_a_step_ends_at_the_time_that_an_intermediate_update_asks_for(rod: Unzipped, beyond: float) -> None:
    """beyond: how far between the update's time and the end of the step."""
    end = 0.7
    seen = Watching(rod, [A_Q, "A.qd"], lambda t: t + beyond * (end - t) if t > 0.25 else None, earlyReturnAllowed=True)
    _, _, early, last = seen.one.doStep(0.0, end)
    asked = next(t for t in seen.times if t > 0.25)
    if beyond < 1.0:
        assert early and last == asked + beyond * (end - asked)
    else:
        assert not early and last == end
    assert seen.one.getFloat64([rod.reference["time"]]) == [last]
    fine = rod.started()
    fine.doStep(0.0, last)
    np.testing.assert_allclose(seen.one.getFloat64(seen.references), fine.getFloat64(seen.references), rtol=1e-6)
    if beyond == 0.0:
        assert seen.one.getFloat64(seen.references) == seen.values[-1]
    seen.early = lambda _: None
    last_asked = last
    if early:
        seen.one.doStep(last_asked, end - last_asked)
    if early:
        fine.doStep(last_asked, end - last_asked)
    np.testing.assert_allclose(seen.one.getFloat64(seen.references), fine.getFloat64(seen.references), rtol=1e-6)
    seen.one.freeInstance()
    fine.freeInstance()


class Steering:
    """An importer that sets inputs to a law of the time in each intermediate update.

    within: 0: it ends the step there, and sets them then.
    """

    def __init__(
        self, unzipped: Unzipped, inputs: list[str], law: Callable[[float], list[float]], within: bool
    ) -> None:
        self.inputs = [unzipped.reference[name] for name in inputs]
        self.law, self.within, self.updates = law, within, 0
        self.one = unzipped.started(intermediateUpdate=self._update, earlyReturnAllowed=not within)

    def _update(self, _: Any, time: float, *rest: Any) -> None:
        *_, requested, when = rest
        self.updates += 1
        if self.within:
            self.one.setFloat64(self.inputs, self.law(time))
        else:
            requested[0], when[0] = True, time

    def run(self, end: float, outputs: list[int]) -> list[float]:
        time = 0.0
        while time < end:
            if not self.within:
                self.one.setFloat64(self.inputs, self.law(time))
            *_, time = self.one.doStep(time, end - time)
            assert time == end or not self.within
        return list(self.one.getFloat64(outputs))


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("model", ["slider_crank", "arm6"])
def test_inputs_set_in_an_intermediate_update_hold_from_then_on(model: str, scheme: str, tmp_path: Path) -> None:
    """The bits of an importer that ends the step there, sets them and goes on; with the same values, of one that sets
    none."""
    unzipped = Unzipped(read_model(model), tmp_path, scheme=scheme, step=1e-3, all_variables=True)
    inputs = [v.name for v in unzipped.description.modelVariables if v.causality == "input"][:2]
    outputs = [v.valueReference for v in unzipped.description.modelVariables if v.name.endswith((".q", ".qd"))]
    end = 0.2

    def moving(time: float) -> list[float]:
        return [50.0 * time, *[-20.0 * time] * (len(inputs) - 1)]

    within, outside = (Steering(unzipped, inputs, moving, kind) for kind in (True, False))
    found = within.run(end, outputs)
    assert found == outside.run(end, outputs) and within.updates == outside.updates > 2
    alone = unzipped.started()
    kept = list(alone.getFloat64([unzipped.reference[name] for name in inputs]))
    still = Steering(unzipped, inputs, lambda _: kept, True)
    alone.doStep(0.0, end)
    assert still.run(end, outputs) == alone.getFloat64(outputs) != found
    for each in (within.one, outside.one, still.one, alone):
        each.freeInstance()


def test_an_early_return_behind_the_end_of_the_step_is_none(tmp_path: Path) -> None:
    """Asked for where an input is set, so that the core's step ends there and goes on."""
    unzipped = Unzipped(read_model("slider_crank"), tmp_path, all_variables=True)
    torque = next(v.valueReference for v in unzipped.description.modelVariables if v.causality == "input")

    def update(_: Any, time: float, *rest: Any) -> None:
        *_, requested, when = rest
        one.setFloat64([torque], [10.0 * time])
        requested[0], when[0] = True, time + 5.0

    one = unzipped.started(intermediateUpdate=update, earlyReturnAllowed=True)
    *_, early, last = one.doStep(0.0, 0.2)
    assert not early and last == 0.2
    one.freeInstance()


def test_nothing_but_inputs_is_set_in_an_intermediate_update(rod: Unzipped) -> None:
    refused = []

    def update(_: Any, time: float, *rest: Any) -> None:
        for reference in others:
            with pytest.raises(FMICallException):
                one.setFloat64([reference], [1.0])
            refused.append(rod.messages[-1])

    variables = [v for v in rod.description.modelVariables if v.type == "Float64"]
    others = [next(v.valueReference for v in variables if v.causality == kind) for kind in ("parameter", "output")]
    others += [v.valueReference for v in variables if v.causality == "parameter" and v.variability == "tunable"][:1]
    one = rod.started(intermediateUpdate=update)
    one.doStep(0.0, 0.5)
    assert len(refused) > 3
    assert all("nothing else may be set in an intermediate update" in text for text in refused)
    root = ElementTree.parse(Path(rod.folder) / "modelDescription.xml").getroot()  # FMPy does not read the attribute
    written = root.find("ModelVariables")
    assert written is not None
    assert {v.get("causality") for v in written if v.get("intermediateUpdate") == "true"} == {"input", "output"}
    assert all(v.get("intermediateUpdate") for v in written if v.get("causality") == "input")
    one.freeInstance()


def test_no_step_ends_early_where_that_is_not_allowed(rod: Unzipped) -> None:
    seen = Watching(rod, [A_Q], lambda t: t)
    _, _, early, last = seen.one.doStep(0.0, 0.7)
    assert not early and last == 0.7 and len(seen.times) > 2
    seen.one.freeInstance()


def test_what_a_caller_had_where_a_function_writes_is_overwritten(
    ball: Unzipped, monkeypatch: pytest.MonkeyPatch
) -> None:
    """FMPy passes zeros; here all that it passes is true, and nan."""

    def answers() -> list[Any]:
        one = ball.slave(eventModeUsed=True, earlyReturnAllowed=True)
        one.enterInitializationMode(tolerance=1e-9)
        one.exitInitializationMode()
        found = [one.updateDiscreteStates()]
        one.enterStepMode()
        found += [one.doStep(0.0, 0.1), one.doStep(0.1, 1.0)]
        one.enterEventMode()
        found.append(one.updateDiscreteStates())
        host = ball.host()
        host.enterInitializationMode()
        host.exitInitializationMode()
        found.append(host.updateDiscreteStates())
        host.enterContinuousTimeMode()
        host.setTime(0.1)
        found.append(host.completedIntegratorStep())
        for each in (one, host):
            each.freeInstance()
        return found

    expected = answers()
    monkeypatch.setattr(fmpy.fmi3, "fmi3Boolean", lambda value=True: c_bool(value))
    monkeypatch.setattr(fmpy.fmi3, "fmi3Float64", lambda value=nan: c_double(value))
    assert answers() == expected
    assert expected[1] == (False, False, False, 0.1) and expected[2][0]


@pytest.mark.parametrize("height", [1e-3, 0.5, 40.0])
@pytest.mark.parametrize("scheme", ["dopri5", "dop853", "radau", "auto"])
def test_with_event_mode_steps_end_where_a_law_switches(tmp_path: Path, height: float, scheme: str) -> None:
    """A body touches its stop at sqrt(2 h / g), turns, where a damper would cease to act, and leaves it."""
    unzipped = Unzipped(dropped(height), tmp_path, scheme=scheme)
    touches = sqrt(2.0 * height / G)
    step = 3.0 * touches + 0.1
    one = unzipped.slave(eventModeUsed=True, earlyReturnAllowed=True)
    one.enterInitializationMode(tolerance=1e-9)
    one.exitInitializationMode()
    assert one.updateDiscreteStates()[0] is False
    one.enterStepMode()
    event, _, early, last = one.doStep(0.0, step)
    assert event and early
    assert last == pytest.approx(touches, rel=1e-7)
    assert abs(one.getFloat64([unzipped.reference["S.q"]])[0]) < 1e-7 * height
    one.enterEventMode()
    needed, ends, _, _, following, _ = one.updateDiscreteStates()
    assert (needed, ends, following) == (False, False, False)
    one.enterStepMode()
    w = sqrt(2e4 / 2.0)
    half = (np.pi - np.arctan2(sqrt(2.0 * G * height) / w, G / w**2)) / w
    for wanted in (touches + half, touches + 2.0 * half):
        event, _, early, last = one.doStep(last, step - last)
        assert event and early and last == pytest.approx(wanted, rel=1e-6)
    while last < step:
        *_, last = one.doStep(last, step - last)
    alone = unzipped.started()
    alone.doStep(0.0, step)
    names = [unzipped.reference[name] for name in ("S.q", "S.qd")]
    np.testing.assert_allclose(one.getFloat64(names), alone.getFloat64(names), rtol=1e-5, atol=1e-6)
    one.freeInstance()
    alone.freeInstance()


@pytest.mark.parametrize(("events", "early"), [(True, False), (False, True), (False, False)])
def test_a_step_goes_on_over_events_where_they_must_not_end_it(ball: Unzipped, events: bool, early: bool) -> None:
    seen = Watching(ball, ["S.q"], eventModeUsed=events, earlyReturnAllowed=early)
    if events:
        seen.one.enterStepMode()
    event, _, ended_early, last = seen.one.doStep(0.0, 1.0)
    assert (event, ended_early, last) == (False, False, 1.0)
    assert min(q for (q,) in seen.values) < 0.0  # it was at its stop
    seen.one.freeInstance()


def test_states_saved_in_event_mode_are_restored_in_it(ball: Unzipped) -> None:
    one = bring(ball.slave(eventModeUsed=True, earlyReturnAllowed=True), STEP)
    *_, last = one.doStep(0.0, 1.0)
    one.enterEventMode()
    state = one.getFMUState()
    data = one.serializeFMUState(state)
    one.enterStepMode()
    one.doStep(last, 0.01)
    after = one.getFloat64([ball.reference["S.q"]])
    other = ball.slave(eventModeUsed=True, earlyReturnAllowed=True)
    other.setFMUState(other.deserializeFMUState(data))
    other.enterStepMode()
    other.doStep(last, 0.01)
    assert other.getFloat64([ball.reference["S.q"]]) == after
    host = ball.host()
    with pytest.raises(FMICallException):
        host.setFMUState(host.deserializeFMUState(data))
    assert "Co-Simulation, this instance is for Model Exchange" in ball.messages.pop()
    for done in (one, other, host):
        done.freeInstance()


def test_event_indicators_are_variables(ball: Unzipped) -> None:
    """By reference and by the function for them, whose zero is the switch; in Co-Simulation too."""
    host = bring(ball.host(), CONTINUOUS)
    mark, slide, speed = (ball.reference[name] for name in ("floor.indicator", "S.q", "S.qd"))
    assert host.getNumberOfEventIndicators() == 1
    found = []
    for q in (0.3, 1e-9, -1e-9, -0.2):
        host.setContinuousStates(_array(c_double, q, -1.0), 2)
        values = _array(c_double, 0.0)
        host.getEventIndicators(values, 1)
        assert host.getFloat64([mark]) == list(values)
        found.append(values[0])
    assert [value > 0.0 for value in found] == [True, True, False, False]
    with pytest.raises(FMICallException):
        host.setFloat64([mark], [1.0])
    with pytest.raises(FMICallException):
        host.getDirectionalDerivative([mark], [slide], [1.0])
    one = ball.started()
    assert one.getFloat64([mark])[0] > 0.0
    before = one.getFloat64([slide, speed])
    assert one.getFloat64([mark, slide, speed])[1:] == before
    host.freeInstance()
    one.freeInstance()


# --- adjoint derivatives ---------------------------------------------------------------------------------


def test_adjoint_derivatives_are_the_transpose_of_directional_ones(rod: Unzipped) -> None:
    """Of rates and outputs by inputs, states and parameters: each entry of the matrix from both sides."""
    assert rod.description.modelExchange.providesAdjointDerivatives
    assert rod.description.coSimulation.providesAdjointDerivatives
    one = rod.host()
    one.enterInitializationMode()
    one.exitInitializationMode()
    one.enterContinuousTimeMode()
    rates = [unknown.variable.valueReference for unknown in rod.description.derivatives]
    unknowns = [*rates, *(rod.reference[name] for name in ("A.reaction.f[1]", "rod.a[3]", "solver.energy"))]
    knowns = [rod.reference[name] for name in rod.reference if name in KNOWN]
    A = np.array([one.getDirectionalDerivative(unknowns, [k], [1.0]) for k in knowns]).T
    found = np.array([one.getAdjointDerivative([u], knowns, [1.0], len(knowns)) for u in unknowns])
    np.testing.assert_allclose(found, A, rtol=0, atol=1e-12 * np.abs(A).max())
    assert np.count_nonzero(A) > len(unknowns)
    one.freeInstance()


KNOWN = ("A.tau", "A.q", "A.qd", "A.damping", "A.stiffness", "A.rest", "rod.mass", "rod.inertia[2]", "gravity[3]")


def test_what_has_no_adjoint_says_so(tmp_path: Path) -> None:
    skate = Unzipped(read_model("skate"), tmp_path)
    assert not skate.description.coSimulation.providesAdjointDerivatives
    one = skate.started()
    with pytest.raises(FMICallException):
        one.getAdjointDerivative([skate.reference["K.reaction.f[1]"]], [skate.reference["K.u[1]"]], [1.0], 1)
    assert "K.reaction.f[1]): it has no adjoint" in skate.messages.pop()
    one.freeInstance()
