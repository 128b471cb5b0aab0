"""Hydraulic cylinders: closed forms, valves beside an integration by SciPy, at rest, in loops and in FMUs."""

import re
import warnings
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fmpy import simulate_fmu
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import fmumbs as fm
from fmumbs.play import Options, run_fmu
from support.both_ways import goes_on_alike, runs
from support.exchange import exchange
from support.sweeps import each_value

BETA, A, B, DEAD, MASS, CLOSED, STROKE, START = 1.4e9, 2e-3, 1.4e-3, 1e-4, 50.0, 0.6, 0.5, 0.85
SMALL = 1e-3  # [m/s]: so slow that the volumes, and with them the frequency, change by less than CLOSED_FORM
FROZEN = 2e-7  # relative, of motions that change the volumes by less, and of a pressure beside its nominal
CLOSED_FORM = 1e-8  # relative, of runs at a tolerance of 1e-12
FINE = 1e-8  # of places [m] beside SciPy's, at a tolerance of 1e-10 and speeds of 1 m/s
VALVE = {"rated_flow": 1e-3, "rated_drop": 35e5, "supply": 2e7, "tank": 1e5}
LEAKAGE = 1e-12


def ram(axis: str = "x", u0: float = 0.0, **given: Any) -> fm.Model:
    """A mass that a cylinder pushes, without gravity unless the axis is z."""
    model = fm.Model("ram", gravity=(0, 0, -9.81 if axis == "z" else 0.0))
    load = fm.Body("load", mass=MASS, inertia=(1, 1, 1))
    model.add(load, fm.Prismatic("s", model.ground.at(), load.at(), axis=axis, q0=START, u0=u0))
    model.add(fm.Cylinder("C", model.ground.at(), load.at(), **(SIZES | given)))
    return model


SIZES = {
    "area_A": A, "area_B": B, "stroke": STROKE, "closed_length": CLOSED, "dead_volume_A": DEAD, "dead_volume_B": DEAD,
    "vapour": -1e12,  # pressures swing about that of the surroundings
}  # fmt: skip


def volumes(q: Any) -> Any:
    return np.array([DEAD + A * (q - CLOSED), DEAD + B * (STROKE + CLOSED - q)])


def stiffness() -> float:
    """Of both shut chambers at the start: beta area^2 / V each."""
    return float(BETA * (np.array([A, B]) ** 2 / volumes(START)).sum())


def valved(**given: Any) -> fm.Model:
    return ram(valve=fm.Valve(**VALVE), leakage=LEAKAGE, pressure_A=3e6, pressure_B=4e6, **given)


def edge(u: float, drop: float) -> float:
    z = drop / VALVE["rated_drop"]
    return float(u * VALVE["rated_flow"] * z / (z * z + 1e-6) ** 0.25)


def flows(u: float, p: Any) -> Any:
    u, supply, tank = min(max(u, -1.0), 1.0), VALVE["supply"], VALVE["tank"]
    if u > 0.0:
        return edge(u, supply - p[0]), edge(u, tank - p[1])
    return edge(-u, tank - p[0]), edge(-u, supply - p[1])


def rates(t: float, y: Any, u: Any) -> list[float]:
    q, v, *p = y
    (into_A, into_B), lost, (V_A, V_B) = flows(u(t), p), LEAKAGE * (p[0] - p[1]), volumes(q)
    push = (A * p[0] - B * p[1]) / MASS
    return [v, push, BETA / V_A * (into_A - A * v - lost), BETA / V_B * (into_B + B * v + lost)]


def by_scipy(u: Any, stops: list[float]) -> Any:
    """The state (q, v, p_A, p_B) at the last of the stops, between which the opening is smooth."""
    y = np.array([START, 0.0, 3e6, 4e6])
    for one, other in pairwise(stops):
        y = solve_ivp(rates, (one, other), y, args=(u,), rtol=1e-12, atol=1e-9, method="DOP853").y[:, -1]
    return y


RAMP = ([0.0, 0.2], [1.4, -1.4])
"""An opening through both its ends and its middle, and when it passes them."""
STOPS = [0.0, 0.4 / 14, 0.1, 2.4 / 14, 0.2]


def test_a_shut_cylinder_is_a_spring_of_its_oil() -> None:
    found = np.linalg.eigvals(fm.linearize(ram()).A)
    assert_allclose(np.sort(np.abs(found)), [0, 0, *[np.sqrt(stiffness() / MASS)] * 2], rtol=1e-9, atol=1e-6)
    equal = np.linalg.eigvals(fm.linearize(ram(area_B=A)).A)
    V = DEAD + A * 0.5 * STROKE
    assert_allclose(np.abs(equal).max() ** 2, 2 * BETA * A**2 / (V * MASS), rtol=1e-9)


@pytest.mark.parametrize("options", [{"scheme": "dop853"}, {"scheme": "radau"},
                                     {"scheme": "auto", "dynamics": "copcod"},
                                     {"scheme": "rk4", "step": 1e-5}])  # fmt: skip
def test_it_swings_as_the_closed_form_says(tmp_path: Path, options: Any) -> None:
    """With w^2 = 2 beta A^2 / (V m), V of each chamber."""
    V = DEAD + A * 0.5 * STROKE
    model, omega = ram(area_B=A, u0=SMALL), np.sqrt(2 * BETA * A**2 / (V * MASS))
    tight = {} if options["scheme"] == "rk4" else {"tolerance": 1e-12}
    for what, t, found in runs(tmp_path, model, ["s.qd", "C.force"], stop=0.02, interval=1e-3, **(tight | options)):
        exact, most = SMALL * np.cos(omega * t), MASS * omega * SMALL
        assert_allclose(found["s.qd"], exact, rtol=0, atol=CLOSED_FORM * SMALL, err_msg=what)
        assert_allclose(found["C.force"], -most * np.sin(omega * t), rtol=0, atol=CLOSED_FORM * most, err_msg=what)


def test_stiff_shut_chambers_take_long_steps_by_radau() -> None:
    """A weight that sinks into oil of 1e12 Pa: without the stiffness of the chambers some 150 000 evaluations."""
    model = fm.Model("press", gravity=(0, 0, -9.81))
    load = fm.Body("load", mass=MASS, inertia=(1, 1, 1))
    model.add(load, fm.Prismatic("s", model.ground.at(), load.at(), axis="z", q0=START, damping=1e6))
    model.add(fm.Cylinder("C", model.ground.at(), load.at(), **(SIZES | {"bulk_modulus": 1e12})))
    result = model.simulate(stop=1.0, scheme="radau", tolerance=1e-6)
    assert result["solver.evaluations"][-1] < 1000
    assert_allclose(result["C.force"][-1], 9.81 * MASS, rtol=1e-4)


def test_pressures_that_leakage_ties_take_long_steps_by_radau() -> None:
    """The more oil leaks, the faster the pressures approach each other, at a difference that stays small."""
    found = []
    for leakage in (1e-9, 1e-7):
        result = ram(u0=0.1, leakage=leakage).simulate(stop=0.2, scheme="radau", tolerance=1e-4)
        found.append(result["solver.evaluations"][-1])
    assert found[1] < 2 * found[0]


def test_energy_stays_in_the_oil() -> None:
    result = ram(u0=1.0).simulate(stop=0.02, interval=1e-3, scheme="dop853", tolerance=1e-12)
    energy = result["solver.energy"]
    assert_allclose(energy, energy[0], rtol=1e-10)
    assert np.ptp(result["C.pressure_A"]) > 1e7


@each_value
@pytest.mark.parametrize("dynamics", ["riccati", "copcod"])
@pytest.mark.parametrize("scheme", ["dopri5", "dop853", "radau", "auto"])
def test_a_valve_that_passes_its_middle(scheme: Any, dynamics: Any) -> None:
    expected = by_scipy(lambda t: 1.4 - 14.0 * t, STOPS)
    result = valved().simulate(
        stop=0.2, interval=0.2, scheme=scheme, dynamics=dynamics, tolerance=1e-10, inputs={"C.opening": RAMP}
    )
    found = [result[name][-1] for name in ("s.q", "s.qd", "C.pressure_A", "C.pressure_B")]
    assert_allclose(found, expected, rtol=1e-8, atol=FINE)


def test_a_step_keeps_the_branch_of_a_valve_in_which_it_began() -> None:
    """Beyond its middle and its ends too, so that steps up to there are not made again: some 1250 evaluations, and a
    third more if each stage takes the branch that it finds.
    """
    result = valved().simulate(stop=0.2, scheme="dop853", tolerance=1e-6, inputs={"C.opening": RAMP})
    assert result["solver.evaluations"][-1] < 1450


@pytest.mark.parametrize("fmi", [2, 3])
@pytest.mark.parametrize("opening", [0.6, -0.3])
def test_valves_in_fmus(tmp_path: Path, fmi: Any, opening: float) -> None:
    expected = by_scipy(lambda t: opening, [0.0, 0.05])
    path = fm.export_fmu(valved(opening=opening), tmp_path / "ram.fmu", fmi=fmi, tolerance=1e-10)
    for kind in ("CoSimulation", "ModelExchange"):
        found = simulate_fmu(
            path, stop_time=0.05, output_interval=1e-3, relative_tolerance=1e-10, fmi_type=kind,
            output=["s.q", "C.pressure_A", "C.flow_A"],
        )[-1]  # fmt: skip
        assert_allclose([found["s.q"], found["C.pressure_A"]], expected[[0, 2]], rtol=1e-6)  # CVODE's own error
        assert_allclose(found["C.flow_A"], flows(opening, expected[2:])[0], rtol=1e-5)


def test_flows_of_the_orifice_law_are_right_at_zero_and_reversed() -> None:
    solver = fm.Solver(valved())
    solver.assemble()
    for p in ((3e6, 4e6), (2.5e7, -1e5), (2e7, 1e5), (1e5, 2e7)):
        solver.set_all({"C.pressure_A": p[0], "C.pressure_B": p[1]})
        for u in (0.0, 0.3, -0.3, 1.0, 2.0, -5.0):
            solver.set("C.opening", u)
            found = solver.get("C.flow_A"), solver.get("C.flow_B")
            assert_allclose(found, flows(u, p), rtol=1e-13, atol=1e-18)
            slope = solver.directional_derivative(["C.flow_A", "C.flow_B"], ["C.opening"], [1.0])
            beside = np.subtract(flows(u + 1e-6, p), flows(u - 1e-6, p)) / 2e-6
            if u != 0.0 and abs(u) != 1.0:
                assert_allclose(slope, beside, rtol=1e-6, atol=1e-12)


def test_flows_as_inputs_move_the_piston() -> None:
    """Oil in at one end and out at the other moves it at q / area, once its pressures have built up."""
    model = ram(flow_A=1e-4, flow_B=-1e-4 * B / A, u0=1e-4 / A)
    result = model.simulate(stop=0.1, tolerance=1e-10)
    assert_allclose(result["s.qd"], 1e-4 / A, rtol=1e-7)
    assert_allclose(result["C.length"][-1], START + 0.1 * 1e-4 / A, rtol=1e-8)


def test_rates_follow_their_inputs(tmp_path: Path) -> None:
    path = fm.export_fmu(valved(), tmp_path / "ram.fmu")
    p = 3e6, 4e6
    with exchange(path, {"C.opening": 0.4}) as one:
        references = {v.name: v.valueReference for v in one.description.modelVariables}
        unknowns = [references[f"der(C.pressure_{end})"] for end in "AB"]
        found = one.fmu.getDirectionalDerivative([*unknowns, references["s.qdd"]], [references["C.opening"]], [1.0])
    expected = BETA / volumes(START) * (np.subtract(flows(0.5, p), flows(0.3, p)) / 0.2)
    assert_allclose(found, [*expected, 0.0], rtol=1e-9)


def test_accelerations_wait_for_pressures_and_flows_do_not() -> None:
    variables = fm.compile(valved()).variables
    follows = {one.name: one.dependencies for one in variables if one.causality == "output"}
    opening = next(one.index for one in variables if one.name == "C.opening")
    assert list(follows["C.flow_A"] or ()) == [opening]
    for name in ("s.qdd", "C.force", "C.pressure_A"):
        assert opening not in (follows[name] if follows[name] is not None else (opening,)), name


def test_at_rest_shut_chambers_keep_their_oil() -> None:
    found = fm.equilibrium(ram("z", pressure_A=1e5, pressure_B=1e5)).solver

    def pressures(q: float) -> Any:
        return 1e5 + BETA * np.log(volumes(START) / volumes(q))

    q = brentq(lambda q: pressures(q) @ (A, -B) - 9.81 * MASS, 0.8, START, xtol=1e-15)
    assert_allclose(found.get("s.q"), q, rtol=1e-12)
    assert_allclose([found.get("C.pressure_A"), found.get("C.pressure_B")], pressures(q), rtol=1e-8)
    assert_allclose([found.get("s.qdd"), found.get("C.force")], [0.0, 9.81 * MASS], atol=1e-6)
    values = np.abs(np.linalg.eigvals(fm.linearize(ram("z"), at="equilibrium").A)).max()
    assert_allclose(values, np.sqrt(stiffness() / MASS), rtol=1e-3)


def test_at_rest_leaking_chambers_share_their_oil_and_open_ones_have_the_pressures_of_the_valve() -> None:
    found = fm.equilibrium(ram("z", leakage=1e-12)).solver
    p = 9.81 * MASS / (A - B)
    assert_allclose([found.get("C.pressure_A"), found.get("C.pressure_B")], p, rtol=1e-9)
    oil = volumes(START).sum() * np.exp(-p / BETA)
    assert_allclose(volumes(found.get("s.q")).sum(), oil, rtol=1e-10)
    held = ram(valve=fm.Valve(**VALVE), opening=0.5)
    held.add(fm.Spring("k", held.ground.at(), held["load"].at(), stiffness=1e6, free_length=START))
    found = fm.equilibrium(held).solver
    assert_allclose([found.get("C.pressure_A"), found.get("C.pressure_B")], [2e7, 1e5], rtol=1e-12)
    assert_allclose(found.get("s.q"), START + (2e7 * A - 1e5 * B) / 1e6, rtol=1e-12)


@pytest.mark.parametrize("options", [{}, {"dynamics": "copcod"}, {"scheme": "radau"}])
def test_in_a_loop_it_does_what_its_force_does(options: Any) -> None:
    """A four-bar, with a cylinder across it and with an actuator of the same force."""
    model = fm.Model("bars")
    a, b, c = (fm.Body.rod(name, length=size, mass=1.0) for name, size in (("a", 0.5), ("b", 1.5), ("c", 1.2)))
    model.add(a, b, c, fm.Revolute("A", model.ground.at(), a.base, axis="y", q0=-1.2))
    model.add(fm.Revolute("B", a.tip, b.base, axis="y", q0=1.0), fm.Revolute("C", b.tip, c.base, axis="y", q0=1.5))
    model.add(fm.Revolute("D", c.tip, model.ground.at(1.5), axis="y"))
    other = fm.Model("other", gravity=model.gravity)
    other.add(*model.elements, fm.Actuator("F", a.tip, c.at(0.3)))
    sizes = SIZES | {"closed_length": 0.4, "stroke": 2.0}
    model.add(fm.Cylinder("C1", a.tip, c.at(0.3), **sizes, valve=fm.Valve(**VALVE), opening=0.02))
    driven, plain = fm.Solver(model, tolerance=1e-8, **options), fm.Solver(other)
    for solver in (driven, plain):
        solver.assemble()
    driven.step(0.02)
    assert abs(driven.get("C1.force")) > 1.0
    plain.set_state(driven.read(driven.image.variables.positions()), driven.read(driven.image.variables.speeds()))
    plain.set("F.force", driven.get("C1.force"))
    for name in ("A.qdd", "F.length", "F.power"):
        assert_allclose(plain.get(name), driven.get(name.replace("F.", "C1.")), rtol=1e-8)


@pytest.mark.filterwarnings("ignore::fmumbs.CavitationWarning")
def test_cavitation_is_an_output() -> None:
    result = ram(u0=2.0, vapour=-1e5).simulate(stop=0.01, interval=1e-4)
    below = (result["C.pressure_A"] < -1e5) + 2 * (result["C.pressure_B"] < -1e5)
    assert (result["C.cavitation"] == below).all() and set(below.tolist()) == {0, 1, 2}


@pytest.mark.parametrize("options", [{"scheme": "dopri5"}, {"scheme": "radau", "dynamics": "copcod"}])
@pytest.mark.parametrize(("u0", "chamber"), [(0.01 * SMALL, "A"), (-0.01 * SMALL, "B")])
def test_cavitation_is_told_with_its_instant(tmp_path: Path, u0: float, chamber: str, options: Any) -> None:
    """The pressure of the chamber that grows falls as -beta area u0/(V omega) sin(omega t): a step ends where it is
    that of vapour, and every kind of run tells it by name."""
    omega = np.sqrt(stiffness() / MASS)
    most = BETA * np.array([A, B]) * abs(u0) / (volumes(START) * omega)
    model = ram(u0=u0, vapour=-0.5 * most["AB".index(chamber)])
    path = fm.export_fmu(model, tmp_path / "ram.fmu", tolerance=1e-11, **options)
    runs = (
        lambda: model.simulate(stop=0.02, interval=1e-3, tolerance=1e-11, **options),
        lambda: run_fmu(path, Options(stop=0.02, interval=1e-3)),
    )
    for run in runs:
        with pytest.warns(fm.CavitationWarning, match=f"chamber {chamber} of cylinder 'C' falls below") as seen:
            run()
        assert len(seen) == 1
        (told,) = re.findall(r"at t = (\S+) s", str(seen[0].message))
        assert_allclose(float(told), np.pi / 6 / omega, rtol=FROZEN)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ram(u0=u0, vapour=-1.01 * most.max()).simulate(stop=0.02, interval=1e-3)


@pytest.mark.parametrize("fmi", [2, 3])
def test_hosts_are_told_of_cavitation(tmp_path: Path, fmi: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """By the time of a step that the host completed at the crossing or after it.

    With FMPy's own logger, which prints: another one it would call for every FMU after this one, when it is long gone.
    """
    path = fm.export_fmu(ram(u0=SMALL, vapour=-1e3), tmp_path / "ram.fmu", fmi=fmi)
    simulate_fmu(path, stop_time=0.002, fmi_type="ModelExchange", debug_logging=True, output_interval=1e-4)
    told = capsys.readouterr().out.splitlines()
    assert sum("oil cavitates: at t = " in one and "chamber A of cylinder 'C'" in one for one in told) == 1


def test_oil_that_cavitates_at_the_start_is_told(tmp_path: Path) -> None:
    empty = ram(pressure_A=-3e5, pressure_B=-2e5, vapour=-1e5)
    with pytest.warns(fm.CavitationWarning, match="at t = 0 s the pressure of chamber A"):
        empty.simulate(stop=1e-3)
    path = fm.export_fmu(empty, tmp_path / "ram.fmu")
    with pytest.warns(fm.CavitationWarning, match="at t = 0 s the pressure of chamber A"):
        run_fmu(path, Options(stop=1e-3))
    solver = fm.Solver(ram(pressure_B=-2e5, vapour=-1e5))
    solver.assemble()
    assert "chamber B of cylinder 'C'" in solver.cavitation
    solver.set("C.pressure_B", 0.0)
    solver.assemble()
    assert solver.cavitation == ""


def test_a_piston_that_leaves_its_cylinder_is_named() -> None:
    out = ram(u0=1.0, valve=fm.Valve(**VALVE), opening=1.0)
    with pytest.raises(fm.SolverError, match=r"the piston of cylinder 'C' leaves a chamber no volume"):
        out.simulate(stop=2.0)
    solver = fm.Solver(ram())
    solver.set("C.closed_length", 1.0)
    with pytest.raises(fm.FmumbsError, match=r"the piston of cylinder 'C' leaves a chamber no volume"):
        solver.assemble()


def test_saved_states_and_start_values_hold_the_pressures() -> None:
    solver = fm.Solver(fm.compile(valved(opening=0.3), starts={"C.pressure_B": 5e6}))
    solver.assemble()
    assert (solver.get("C.pressure_A"), solver.get("C.pressure_B")) == (3e6, 5e6)
    solver.step(0.01)
    goes_on_alike(solver, 0.02, "C.pressure_A")


def test_derivatives_by_the_state() -> None:
    """By differences, and exact ones."""
    for exact, within in ((False, 1e-6), (True, 1e-14)):
        solver = fm.Solver(valved(), derivatives=exact)
        solver.assemble()
        found = solver.directional_derivative(["C.force", "s.qdd"], ["C.pressure_A"], [1.0])
        assert_allclose(found, [A, A / MASS], rtol=within)
    assert_allclose(solver.adjoint(["s.qdd"], ["C.pressure_A", "C.vapour"], [1.0]), [A / MASS, 0.0], rtol=within)


def test_what_a_cylinder_refuses() -> None:
    for name, wrong in {"area_A": 0.0, "area_B": -1.0, "stroke": 0.0, "closed_length": -0.1, "dead_volume_A": 0.0,
                        "bulk_modulus": 0.0, "leakage": -1.0}.items():  # fmt: skip
        with pytest.raises(fm.ModelError, match=f"Cylinder 'C': {name} is"):
            ram(**{name: wrong})
        with pytest.raises(fm.FmumbsError, match=f"C.{name}"):
            fm.Solver(valved()).set(f"C.{name}", wrong)
    for name in ("rated_flow", "rated_drop"):
        with pytest.raises(fm.ModelError, match=f"Valve: {name} is 0"):
            fm.Valve(**(VALVE | {name: 0.0}))
    with pytest.raises(fm.ModelError, match=r"Cylinder 'C': opening is given without a valve. Leave it out"):
        ram(opening=0.5)
    with pytest.raises(fm.ModelError, match=r"Cylinder 'C': flow_A is given beside a valve"):
        valved(flow_A=1.0)
    with pytest.raises(fm.ModelError, match=r"Cylinder 'C': valve is a float. Give an fm.Valve"):
        ram(valve=1.0)
