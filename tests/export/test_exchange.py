"""An FMU for Model Exchange moves as the Solver does, by integrators that share nothing with the core."""

import inspect
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fmpy
import numpy as np
import pytest
from fmpy.model_description import read_model_description
from fmpy.sundials import CVodeSolver
from fmpy.validation import validate_fmu
from numpy.typing import NDArray

import fmumbs as fm
from fmumbs.compiler import compile
from fmumbs.readers import model_names, read_model
from support.braked import stick_slip
from support.drawing.mechanism import Refused, draw
from support.exchange import Exchange, exchange
from support.joint_models import kicked, mixed, rolling
from support.sweeps import first, seeds

NEAR = 1e-8  # of 1 and the state: SciPy's DOP853 at 1e-11
BY_CVODE = 1e-6  # of 1 and the largest of each state: constant inputs over 5 s
CLOSED = 1e-7  # a loop after 20 s without a correction
COSTS = 1.2  # evaluations with completed steps, of those without
SAME = 1e-9  # a Jacobian by differences of eighth order
SWITCH = 1e-6  # [s] times of events

MODELS = (
    "pendulum", "heavy_top", "arm6", "four_bar", "slider_crank", "bricard", "skate", "rolling_disk", "rpsup", "ladder",
)  # fmt: skip
OTHERS = [name for name in model_names() if name not in MODELS]
CASES = [(name, 2 + k % 2) for k, name in enumerate(MODELS)]
CASES += [(name, 3 - k % 2) for k, name in enumerate(MODELS)] + [(name, fmi) for name in OTHERS for fmi in (2, 3)]
"""Every model by both versions of FMI; the first ten always."""
SINGULAR = ("bricard", "parallel_cranks")  # they pass singular positions
LOOPS = [name for name in model_names() if compile(read_model(name)).sizes["rows"]]


def exported(model: Any, folder: Path, **options: Any) -> Path:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Path(fm.export_fmu(model, folder / "model.fmu", platforms=["linux64"], all_variables=True, **options))


def solver_at(model: Any, stop: float, **values: float) -> fm.Solver:
    solver = fm.Solver(model, scheme="dop853", tolerance=1e-13)
    for name, value in values.items():
        solver.set(name, value)
    solver.assemble(0.0)
    solver.step(stop)
    return solver


def state_names(one: Exchange) -> list[str]:
    unknowns = one.description.derivatives
    return [u.variable.derivative.name for u in unknowns]


@pytest.mark.parametrize(("name", "fmi"), first(len(MODELS), CASES))
def test_by_an_integrator_of_scipy_it_moves_as_by_the_solver(name: str, fmi: int, tmp_path: Path) -> None:
    """With inputs that are set at every evaluation."""
    model = read_model(name)
    with exchange(exported(model, tmp_path, fmi=fmi)) as one:
        inputs = [v.name for v in one.description.modelVariables if v.causality == "input"][:3]
        rises = {name: 0.1 * (k + 1) for k, name in enumerate(inputs)}
        solver = solver_at(model, 0.0, **dict.fromkeys(rises, 0.0))
        for name, slope in rises.items():
            solver.set_input_derivatives(name, 1, slope)
        solver.step(0.5)
        one.run(0.5, inputs=lambda t: {name: slope * t for name, slope in rises.items()})
        names = state_names(one)
        expected = np.array([solver.get(n) for n in names], float)
        assert one.get(*names) == pytest.approx(expected, rel=NEAR, abs=NEAR)


def test_inputs_are_followed_at_every_evaluation(tmp_path: Path) -> None:
    model = read_model("arm6")
    with exchange(exported(model, tmp_path)) as one:
        one.run(0.5, inputs=lambda t: {"J2.tau": 3.0 + 20.0 * t, "J4.tau": -8.0 * t})
        names = state_names(one)
        found = one.get(*names)
    solver = solver_at(model, 0.0, **{"J2.tau": 3.0})
    for name, slope in (("J2.tau", 20.0), ("J4.tau", -8.0)):
        solver.set_input_derivatives(name, 1, slope)
    solver.step(0.5)
    assert found == pytest.approx([solver.get(n) for n in names], rel=NEAR, abs=NEAR)


FALLEN = 10.0
"""Times that CVODE's error falls at least when its tolerance falls from 1e-10 to 1e-12; 46 by formulas of order 5."""
OF_GROWTH = 1e-7
"""CVODE's error at 1e-10, of the largest growth of a perturbation within the run: a thousand tolerances."""
GROWING = (
    "four_bar", "heavy_top", "engine", "sliders", "spin_up_beam", "four_link_flexible", "multi_loop_flexible",
    "flexible_four_bar", "parallelogram_pendulum", "rod_loop",
)  # fmt: skip
"""At 1e-10 CVODE leaves 2e-6 to 4e-3: perturbations grow by 200 to 1e4 in these runs, by 4e7 in rod_loop."""
NEVER = ("parallelogram_pendulum", "rod_loop")
"""Growth by 1e4 and more: at 1e-12 CVODE leaves 3e-6 and 8e-5; beyond that is round-off."""
SMALLER = {"branch_chain": {"bodies": 20}}  # 3500 states of the whole one would take hours in CVODE's dense Jacobian
RECORDS = {"parallel_cranks": 0.01}
"""Time between two records [s], where FMPy completes its steps; this one is corrected beside a singular position."""
RUNS = [name for name in model_names() if name not in GROWING]


@pytest.fixture
def unlimited(monkeypatch: pytest.MonkeyPatch) -> None:
    """CVODE takes as many steps in a call as it needs; FMPy ends it after 500."""
    limits = inspect.signature(CVodeSolver.__init__).parameters
    given = [p.default for p in limits.values() if p.default is not p.empty]
    assert (given[-1], [*limits][-1]) == (500, "maxNumSteps")
    monkeypatch.setattr(CVodeSolver.__init__, "__defaults__", (*given[:-1], 1_000_000))


def by_cvode(image: fm.ModelImage, path: Path, tolerance: float) -> float:
    """Its largest error over 5 s with constant inputs, of 1 and the largest of each state."""
    description = read_model_description(str(path), validate=False)
    inputs = [v.name for v in description.modelVariables if v.causality == "input"]
    given = {name: 0.05 * (k % 5 - 2) for k, name in enumerate(inputs)}
    names = [u.variable.derivative.name for u in description.derivatives]
    found = fmpy.simulate_fmu(
        str(path), fmi_type="ModelExchange", stop_time=5.0, output_interval=RECORDS.get(image.name, 0.05),
        relative_tolerance=tolerance, start_values=given, output=names,
    )  # fmt: skip
    times = np.linspace(0.0, 5.0, 11)
    known = [name for name in names if image.variables.find(name) is not None]
    expected = fm.simulate(image, times=times, inputs=given, outputs=known, scheme="dop853", tolerance=1e-12)
    at = [int(np.flatnonzero(np.abs(found["time"] - t) < 1e-9)[-1]) for t in times]
    sizes = {one: max(1.0, float(np.abs(expected[one]).max())) for one in known}
    return max(float(np.abs(found[one][at] - expected[one]).max()) / sizes[one] for one in known)


def falling(rate: float, gravity: float = 9.81, speed: float = 0.0) -> fm.Model:
    """A pendulum with a slide on it, whose times are 1/rate of those at 1."""
    model = fm.Model("falling", gravity=(0, 0, -gravity * rate**2))
    arm, bead = fm.Body.rod("arm", length=0.5, mass=2.0), fm.Body("bead", mass=1.0, inertia=(0.1, 0.1, 0.1))
    A = fm.Revolute("A", model.ground.at(), arm.base, axis="y", q0=1.0, u0=speed * rate)
    model.add(arm, bead, A, fm.Prismatic("S", arm.tip, bead.at(), axis="z"))
    return model


@pytest.mark.parametrize("fmi", [2, 3])
def test_a_mechanism_moves_the_same_at_any_rate(fmi: int, tmp_path: Path) -> None:
    """With all forces by the square of a power of two, CVODE takes the same steps: no unit of time is built in."""
    motions = []
    for rate in (1.0, 2.0**-10):
        path = exported(falling(rate), tmp_path, fmi=fmi)
        found = fmpy.simulate_fmu(
            str(path), fmi_type="ModelExchange", stop_time=2.0 / rate, output_interval=0.1 / rate,
            relative_tolerance=1e-6, output=["A.q", "A.qd", "S.q", "S.qd"],
        )  # fmt: skip
        motions.append(np.array([found["A.q"], found["A.qd"] / rate, found["S.q"], found["S.qd"] / rate]))
    assert np.abs(motions[0] - motions[1]).max() < 1e-12  # the times that FMPy passes differ in their last digits


@pytest.mark.parametrize(("gravity", "speed", "rate"), [(9.81, 3.0, None), (0.0, 3.0, 3.0), (0.0, 0.0, 1.0)])
@pytest.mark.parametrize("fmi", [2, 3])
def test_nominal_values_of_velocities(
    fmi: int, gravity: float, speed: float, rate: float | None, tmp_path: Path
) -> None:
    """The rate of a fall, without gravity of the fastest joint, else 1/s, times 1 rad or the model's length."""
    path = exported(falling(1.0, gravity, speed), tmp_path, fmi=fmi)
    nominal = {v.name: float(v.nominal or 1.0) for v in read_model_description(str(path)).modelVariables}
    length = nominal["S.q"]
    expected = np.sqrt(gravity / length) if rate is None else rate
    assert nominal["A.q"] == 1.0 and length > 0.0
    assert [nominal["A.qd"], nominal["S.qd"]] == pytest.approx([expected, expected * length])


def growth_of(image: fm.ModelImage) -> float:
    """The largest growth of small random perturbations at four instants, within 5 s, by the Solver."""
    small, rng = 1e-8, np.random.default_rng(1)
    positions, speeds = image.variables.positions(), image.variables.speeds()
    both, times = np.concatenate([positions, speeds]), np.linspace(0.0, 5.0, 11)
    solver = fm.Solver(image, scheme="dop853", tolerance=1e-12)
    solver.assemble(0.0)
    kept, run = [], []
    for t in times:
        solver.step(t)
        kept.append(solver.state_save())
        run.append(solver.read(both))
    sizes, free = np.maximum(1.0, np.abs(run).max(axis=0)), image.variables.states(both)
    most = 0.0
    for k in (0, 3, 6, 9):
        solver.state_load(kept[k])
        moved = run[k] + small * rng.standard_normal(len(both)) * np.maximum(1.0, np.abs(run[k]))
        solver.write(both[free], moved[free])
        solver.assemble(times[k])
        for t, before in zip(times[k:], run[k:], strict=True):
            solver.step(t)
            most = max(most, float(np.max(np.abs(solver.read(both) - before) / sizes)) / small)
    return most


@pytest.mark.parametrize(("name", "fmi"), first(2, [(name, 2 + k % 2) for k, name in enumerate(RUNS)]))
@pytest.mark.usefixtures("unlimited")
def test_by_cvode_with_constant_inputs_it_moves_as_by_the_solver(name: str, fmi: int, tmp_path: Path) -> None:
    model = read_model(name, SMALLER.get(name, {}))
    assert by_cvode(compile(model, everything=True), exported(model, tmp_path, fmi=fmi), 1e-10) < BY_CVODE


@pytest.mark.parametrize(("name", "fmi"), first(1, [(name, 2 + k % 2) for k, name in enumerate(GROWING)]))
@pytest.mark.usefixtures("unlimited")
@pytest.mark.filterwarnings("ignore::fmumbs.DeformationWarning")  # of multi_loop_flexible, by Solver and FMU
def test_by_cvode_errors_that_grow_are_those_of_its_tolerance(name: str, fmi: int, tmp_path: Path) -> None:
    """They fall with it, and are no larger than local errors that grow as perturbations of the Solver do."""
    model = read_model(name)
    image, path = compile(model, everything=True), exported(model, tmp_path, fmi=fmi)
    coarse, fine = by_cvode(image, path, 1e-10), by_cvode(image, path, 1e-12)
    assert coarse < OF_GROWTH * growth_of(image)
    assert fine < coarse / FALLEN
    assert fine < BY_CVODE or name in NEVER


@pytest.mark.parametrize("make", [kicked, mixed, lambda: rolling(0.5, (0, 0, 0, 0.3, 0), (0.4, 6.0, -0.9))])
def test_paths_quaternions_and_rolling_joints(make: Callable[[], fm.Model], tmp_path: Path) -> None:
    model = make()
    solver = solver_at(model, 0.4)
    with exchange(exported(model, tmp_path)) as one:
        one.run(0.4)
        names = state_names(one)
        assert one.get(*names) == pytest.approx([solver.get(n) for n in names], rel=NEAR, abs=NEAR)


@pytest.mark.parametrize("name", first(3, sorted(LOOPS, key=lambda name: name not in ("four_bar", *SINGULAR))))
def test_a_loop_stays_closed_without_a_completed_step(name: str, tmp_path: Path) -> None:
    path = exported(read_model(name), tmp_path)
    with exchange(path) as one:
        one.run(20.0)
        alone = one.evaluations
        assert one.get("solver.position_violation", "solver.velocity_violation").max() < CLOSED
    with exchange(path) as one:
        one.run(20.0, completed=True)
        assert one.evaluations <= COSTS * alone


@pytest.mark.parametrize("seed", seeds(4, 60, 300))
def test_random_mechanisms_by_both_kinds(seed: int, tmp_path: Path) -> None:
    try:
        model = draw(seed).model
        solver = solver_at(model, 0.0)
    except (Refused, fm.FmumbsError):
        pytest.skip("no mechanism")
    with exchange(exported(model, tmp_path)) as one:
        names = state_names(one)
        x, rates = one.x, one.rates(0.0, one.x)
        known = fm.compile(model, everything=True).variables
        listed = [k for k, n in enumerate(names) if known.find(n) is not None]
        assert x[listed] == pytest.approx([solver.get(names[k]) for k in listed], rel=1e-12, abs=1e-12)
        for k in listed:
            slope = solver.output_derivative(names[k])
            assert rates[k] == pytest.approx(slope, rel=1e-7, abs=1e-7 * np.max(np.abs(rates)) + 1e-12)


def is_smooth(variable: Any) -> bool:
    return variable.type == "Real" and not variable.name.startswith("solver.")  # the largest violation is not


def differences(f: Callable[[float], NDArray[np.float64]], h: float) -> NDArray[np.float64]:
    """Central differences of eighth order."""
    weights = (4 / 5, -1 / 5, 4 / 105, -1 / 280)
    return sum(w * (f((k + 1) * h) - f(-(k + 1) * h)) for k, w in enumerate(weights)) / h  # type: ignore[return-value]


@pytest.mark.parametrize("name", ["arm6", "four_bar", "heavy_top", "flexible_four_bar"])
def test_derivatives_of_rates_and_outputs(name: str, tmp_path: Path) -> None:
    with exchange(exported(read_model(name), tmp_path)) as one:
        x = one.x + 0.01 * np.cos(np.arange(one.states))
        one.place(0.0, x)
        states = [u.variable.derivative.valueReference for u in one.description.derivatives]
        rates = [u.variable.valueReference for u in one.description.derivatives]
        first, *outputs = [u.variable.valueReference for u in one.description.outputs if is_smooth(u.variable)][::7]
        unknowns = [first, *np.random.default_rng(7).permutation(rates + outputs).tolist()]
        mass = next(v for v in one.description.modelVariables if v.name.endswith(".mass"))

        def by(reference: int, start: float) -> Callable[[float], NDArray[np.float64]]:
            def f(h: float) -> NDArray[np.float64]:
                one.fmu.setReal([reference], [start + h])
                return np.array(one.fmu.getReal(unknowns))

            return f

        for reference, start in (*zip(states, x, strict=True), (mass.valueReference, float(mass.start))):
            f = by(reference, start)
            expected = np.array([differences(f, h) for h in (3e-3, 1e-3, 3e-4)])  # of stiff ones the shortest
            f(0.0)
            found = np.array(one.fmu.getDirectionalDerivative(unknowns, [reference], [1.0]))
            off = np.min(np.abs(expected - found), axis=0)
            assert np.max(off) <= SAME * max(1.0, np.max(np.abs(found)))


# Events ----------------------------------------------------------------------------------------------------------


def gate() -> fm.Model:
    """A gate that swings against an elastic stop."""
    model = fm.Model("gate")
    leaf = fm.Body.rod("leaf", length=1.0, mass=4.0)
    hinge = fm.Revolute("A", model.ground.at(), leaf.base, axis="y", q0=0.3)
    model.add(leaf, hinge, fm.Law("stop", hinge, pieces=[fm.Piece([[0], [-4000]], lower=0.8, origin=0.8)]))
    return model


def sliding() -> fm.Model:
    """A block that slides to rest on a rough floor."""
    model = fm.Model("sliding", gravity=(0, 0, 0))
    block = fm.Body("block", mass=1.0, inertia=(0.1, 0.1, 0.1))
    A = fm.Prismatic("A", model.ground.at(), block.at(), axis="x", u0=1.5)
    model.add(block, A, fm.Law.brake("floor", A, 2.0))
    return model


def switches(model: fm.Model, laws: tuple[str, ...], stop: float) -> list[float]:
    """The times at which the Solver's laws switch, by halving."""

    def at(t: float, law: str) -> float:
        solver = solver_at(model, t)
        return float(np.sign(solver.get(f"{law}.force")) * solver.get(f"{law}.slip"))  # 0: sticks, or does not act

    times, found = np.linspace(0.0, stop, 121), list[float]()
    result = fm.simulate(model, times=times, scheme="dop853", tolerance=1e-12)
    for law in laws:
        phases = np.sign(result[f"{law}.force"]) * result[f"{law}.slip"]
        for k in np.flatnonzero(np.diff(phases)):
            low, high = times[k], times[k + 1]
            while high - low > 0.1 * SWITCH:
                middle = 0.5 * (low + high)
                low, high = (middle, high) if at(middle, law) == phases[k] else (low, middle)
            found.append(high)
    return sorted(found)


@pytest.mark.parametrize("fmi", [2, 3])
@pytest.mark.parametrize(
    ("make", "laws", "stop", "count"),
    [(gate, ("stop",), 1.5, 5), (stick_slip, ("grip", "brake"), 1.2, 6), (sliding, ("floor",), 2.0, 1)],
)
def test_by_cvode_laws_switch_when_they_do_by_the_solver(
    make: Callable[[], fm.Model], laws: tuple[str, ...], stop: float, count: int, fmi: int, tmp_path: Path
) -> None:
    """With one event for each switch."""
    path = exported(make(), tmp_path, fmi=fmi)
    result = fmpy.simulate_fmu(
        str(path), fmi_type="ModelExchange", stop_time=stop, output_interval=0.01, relative_tolerance=1e-10
    )
    times = result["time"]
    events = times[np.flatnonzero(np.diff(times) == 0.0)]
    assert events.tolist() == pytest.approx(switches(make(), laws, stop), abs=SWITCH)
    assert len(events) == count


def test_time_events_are_the_pieces_of_paths(tmp_path: Path) -> None:
    with exchange(exported(kicked(), tmp_path)) as one:
        first = one.next
        assert 0.0 < first < np.inf
        one.run(first)
        assert one.next > first * (1.0 + 1e-6)


# The file --------------------------------------------------------------------------------------------------------


def test_the_description_is_valid_and_begins_with_the_time(tmp_path: Path) -> None:
    path = exported(read_model("four_bar"), tmp_path)
    assert validate_fmu(str(path)) == []
    description = read_model_description(str(path))
    variables = description.modelVariables
    assert (variables[0].name, variables[0].causality) == ("time", "independent")
    assert description.coSimulation is not None and description.modelExchange is not None
    assert [u.variable.name for u in description.derivatives][:2] == ["der(A.q)", "der(B.q)"]
    states = {u.variable.derivative.name for u in description.derivatives}
    assert states == {v.derivative.name for v in variables if v.derivative is not None}


@pytest.mark.parametrize(("kind", "found"), [("cs", (True, False)), ("me", (False, True)), ("cs+me", (True, True))])
def test_a_kind_is_chosen(kind: str, found: tuple[bool, bool], tmp_path: Path) -> None:
    description = read_model_description(str(exported(read_model("pendulum"), tmp_path, kind=kind)))
    assert (description.coSimulation is not None, description.modelExchange is not None) == found
    assert (description.modelVariables[0].name == "time") == (kind != "cs")


def test_a_kind_that_cannot_be_is_refused(tmp_path: Path) -> None:
    with pytest.raises(fm.ExportError, match=r"kind 'both' is unknown\. Choose one of: cs\+me, cs, me\."):
        exported(read_model("pendulum"), tmp_path, kind="both")
    with pytest.raises(fm.ExportError, match=r"makes FMUs for Co-Simulation only"):
        exported(read_model("pendulum"), tmp_path, kind="me", backend="pythonfmu")


def test_states_that_are_not_declared_are_named_as_well(tmp_path: Path) -> None:
    model = read_model("pendulum")
    model.output("angle", of="A.q")
    description = read_model_description(str(exported(model, tmp_path)))
    names = [u.variable.derivative.name for u in description.derivatives]
    assert names == ["angle", "A.qd"]
    assert validate_fmu(str(tmp_path / "model.fmu")) == []


@pytest.mark.parametrize("name", ["arm6", "four_bar"])
def test_rates_of_states_that_are_not_declared_depend_on_what_they_list(name: str, tmp_path: Path) -> None:
    model = read_model(name)
    model.output("energy", of="solver.energy")
    listed = 0
    with exchange(exported(model, tmp_path)) as one:
        one.place(0.0, one.x + 0.01 * np.cos(np.arange(one.states)))
        states = [u.variable.derivative for u in one.description.derivatives]
        for unknown in one.description.derivatives:
            for state in states:
                known = unknown.dependencies is None or state in unknown.dependencies
                by = [unknown.variable.valueReference], [state.valueReference], [1.0]
                assert known or one.fmu.getDirectionalDerivative(*by)[0] == 0.0, (unknown.variable.name, state.name)
            listed += unknown.dependencies is not None and len(unknown.dependencies) == 1
    assert listed == (6 if name == "arm6" else 0)


def test_a_declared_name_that_is_taken_is_refused(tmp_path: Path) -> None:
    model = read_model("pendulum")
    model.output("time", of="A.q")
    with pytest.raises(fm.ExportError, match=r"'time' is also the name of the time"):
        exported(model, tmp_path)


def test_flat_names_are_identifiers(tmp_path: Path) -> None:
    description = read_model_description(str(exported(read_model("heavy_top"), tmp_path, naming="flat")))
    assert all(v.name.isidentifier() for v in description.modelVariables)
