"""Motors: a current as a state, or none without inductance; the rotor behind its gear; limits of the voltage."""

from pathlib import Path
from typing import Any

import fmpy
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import expm

import fmumbs as fm
from support.both_ways import goes_on_alike, runs
from support.exchange import exchange

CLOSED_FORM = 1e-8  # relative, of runs at a tolerance of 1e-11
TIGHT = {"tolerance": 1e-11}
R, L, K, N, ROTOR, INERTIA, FRICTION = 0.5, 2e-3, 0.05, 10.0, 1e-5, 0.01, 0.02
k, J = N * K, INERTIA + N**2 * ROTOR
A = np.array([[-FRICTION / J, k / J], [-k / L, -R / L]])


def drive(inductance: float = L, **given: Any) -> fm.Model:
    model = fm.Model("drive", gravity=(0, 0, 0))
    wheel = fm.Body("wheel", mass=1.0, inertia=(0.1, 0.1, INERTIA))
    hinge = fm.Revolute("h", model.ground.at(), wheel.at(), axis="z", damping=FRICTION)
    own: dict[str, Any] = {"resistance": R, "inductance": inductance, "constant": K, "gear": N, "rotor_inertia": ROTOR}
    model.add(wheel, hinge, fm.Motor("M", hinge, **(own | given)))
    return model


def response(t: Any, V: float) -> Any:
    """(n, 2) speed and current at times t from rest."""
    steps = [np.linalg.solve(A, (expm(A * one) - np.eye(2)) @ (0.0, V / L)) for one in t]
    return np.array(steps)


def test_the_linear_model_is_that_of_the_two_equations() -> None:
    found = fm.linearize(drive(), inputs=["M.voltage"], outputs=["M.torque", "M.current", "M.power"])
    assert list(found.states) == ["h.q", "h.qd", "M.current"]
    assert_allclose(found.A[1:, 1:], A, rtol=1e-9, atol=1e-9)
    assert_allclose(found.B[:, 0], (0.0, 0.0, 1.0 / L), rtol=1e-9, atol=1e-9)
    assert_allclose(found.C[:2, 2], (k, 1.0), rtol=1e-9)
    assert_allclose(found.D, 0.0, atol=1e-12)
    values = np.sort(np.linalg.eigvals(found.A))[:2]
    assert_allclose(values, np.sort(np.linalg.eigvals(A)), rtol=1e-9)


def test_the_rate_of_the_current_follows_the_voltage_up_to_its_limit(tmp_path: Path) -> None:
    path = fm.export_fmu(drive(voltage_limit=12.0), tmp_path / "drive.fmu")
    for voltage, expected in ((3.0, 1.0 / L), (30.0, 0.0)):
        with exchange(path, {"M.voltage": voltage}) as one:
            references = {v.name: v.valueReference for v in one.description.modelVariables}
            unknowns, known = [references["der(M.current)"], references["h.qdd"]], [references["M.voltage"]]
            found = one.fmu.getDirectionalDerivative(unknowns, known, [1.0])
        assert_allclose(found, (expected, 0.0), rtol=1e-12)


OPTIONS = [{"scheme": "dop853"}, {"scheme": "radau"}, {"scheme": "auto", "dynamics": "copcod"}]


@pytest.mark.parametrize("options", OPTIONS)
def test_it_starts_as_the_exponential_says(tmp_path: Path, options: Any) -> None:
    names = ["h.qd", "M.current", "M.torque", "M.power"]
    model = drive()
    for what, t, found in runs(
        tmp_path, model, names, stop=0.05, interval=5e-3, starts={"M.voltage": 12.0}, **(TIGHT | options)
    ):
        speed, current = response(t, 12.0).T
        scale = {"h.qd": 20.0, "M.current": 10.0}
        assert_allclose(found["h.qd"], speed, rtol=0, atol=CLOSED_FORM * scale["h.qd"], err_msg=what)
        assert_allclose(found["M.current"], current, rtol=0, atol=CLOSED_FORM * scale["M.current"], err_msg=what)
        assert_allclose(found["M.torque"], k * found["M.current"], rtol=1e-14, err_msg=what)
        assert_allclose(found["M.power"], 12.0 * found["M.current"], rtol=1e-14, err_msg=what)


def test_model_exchange_has_the_current_among_its_states(tmp_path: Path) -> None:
    for fmi in (2, 3):
        path = fm.export_fmu(drive(), tmp_path / f"drive{fmi}.fmu", fmi=fmi)
        found = fmpy.simulate_fmu(
            str(path), fmi_type="ModelExchange", stop_time=0.05, output_interval=5e-3, relative_tolerance=1e-10,
            start_values={"M.voltage": 12.0}, output=["h.qd", "M.current"],
        )  # fmt: skip
        speed, current = response(found["time"], 12.0).T
        assert_allclose(found["h.qd"], speed, atol=1e-6 * 20.0)
        assert_allclose(found["M.current"], current, atol=1e-6 * 10.0)


def test_stall_and_no_load() -> None:
    """A held shaft takes V / R; a free one runs at V / k, without current."""
    free = drive(voltage=6.0)
    hinge = fm.Revolute("h", free.ground.at(), free["wheel"].at(), axis="z", stiffness=100.0)
    held = fm.Model("held", gravity=(0, 0, 0))
    held.add(free["wheel"], hinge, fm.Motor("M", hinge, resistance=R, inductance=L, constant=K, gear=N, voltage=6.0))
    found = fm.equilibrium(held).solver
    assert_allclose([found.get("M.current"), found.get("M.torque")], [6.0 / R, k * 6.0 / R], rtol=1e-12)
    assert_allclose(found.get("h.q"), k * 6.0 / R / 100.0, rtol=1e-9)
    for inductance in (L, 0.0):
        solver = fm.Solver(without_friction(inductance, voltage=6.0), **TIGHT)
        solver.assemble()
        solver.step(1.0)
        assert_allclose(solver.get("h.qd"), 6.0 / k, rtol=1e-8)
        assert_allclose(solver.get("M.current"), 0.0, atol=1e-6)


@pytest.mark.parametrize("inductance", [L, 0.0])
def test_stall_and_no_load_in_fmus(tmp_path: Path, inductance: float) -> None:
    free, held = without_friction(inductance, voltage=6.0), fm.Model("held", gravity=(0, 0, 0))
    hinge = fm.Revolute("h", held.ground.at(), free["wheel"].at(), axis="z", stiffness=100.0)
    own = {"resistance": R, "inductance": inductance, "constant": K, "gear": N, "voltage": 6.0}
    held.add(free["wheel"], hinge, fm.Motor("M", hinge, **own))
    names = ["h.qd", "M.current", "M.torque"]
    for what, _, found in runs(tmp_path, held, names, stop=0.1, interval=0.1, equilibrium=True, **TIGHT):
        last = [found[name][-1] for name in names]
        assert_allclose(last, [0.0, 6.0 / R, k * 6.0 / R], rtol=CLOSED_FORM, atol=CLOSED_FORM, err_msg=what)
    for what, _, found in runs(tmp_path, free, names, stop=1.0, interval=1.0, **TIGHT):
        last = [found[name][-1] for name in names]
        assert_allclose(last, [6.0 / k, 0.0, 0.0], rtol=1e-8, atol=1e-6, err_msg=what)


def without_friction(inductance: float, **given: Any) -> fm.Model:
    model = drive(inductance, **given)
    other = fm.Model("free", gravity=(0, 0, 0))
    hinge = fm.Revolute("h", other.ground.at(), model["wheel"].at(), axis="z")
    own: dict[str, Any] = {"resistance": R, "inductance": inductance, "constant": K, "gear": N, "rotor_inertia": ROTOR}
    other.add(model["wheel"], hinge, fm.Motor("M", hinge, **(own | given)))
    return other


@pytest.mark.parametrize("inductance", [L, 0.0])
def test_power_goes_to_heat_and_to_energy(inductance: float) -> None:
    h = 1e-4
    result = without_friction(inductance, voltage=12.0).simulate(stop=0.02, interval=h, scheme="dop853", **TIGHT)
    left = result["M.power"] - R * result["M.current"] ** 2
    taken = h / 3.0 * (left[:-2:2] + 4.0 * left[1:-1:2] + left[2::2]).cumsum()
    energy = result["solver.energy"]
    assert_allclose(energy[2::2] - energy[0], taken, rtol=1e-6, atol=1e-7 * energy.max())


def test_without_inductance_the_current_follows_at_once() -> None:
    solver = fm.Solver(drive(0.0, voltage=12.0))
    solver.assemble()
    solver.set("h.qd", 3.0)
    current = (12.0 - k * 3.0) / R
    assert_allclose(solver.get("M.current"), current, rtol=1e-14)
    assert_allclose(solver.get("h.qdd"), (k * current - FRICTION * 3.0) / J, rtol=1e-13)
    found = solver.directional_derivative(["M.current", "M.torque", "M.power", "h.qdd"], ["M.voltage"], [1.0])
    assert_allclose(found, [1 / R, k / R, current + 12.0 / R, k / R / J], rtol=1e-13)
    assert "M.inductance" not in solver.image.variables.names()


def test_derivatives_with_inductance() -> None:
    solver = fm.Solver(drive(voltage=12.0))
    solver.assemble()
    solver.set("M.current", 2.0)
    found = solver.directional_derivative(["M.torque", "M.power", "h.qdd"], ["M.voltage"], [1.0])
    assert_allclose(found, [0.0, 2.0, 0.0], atol=1e-14)
    found = solver.directional_derivative(["M.torque", "M.power", "h.qdd"], ["M.current"], [1.0])
    assert_allclose(found, [k, 12.0, k / J], rtol=1e-9)
    exact = fm.Solver(drive(voltage=12.0), derivatives=True)
    exact.assemble()
    exact.set("M.current", 2.0)
    back = exact.adjoint(["M.torque", "M.power", "h.qdd"], ["M.current", "M.voltage"], [0.0, 0.0, 1.0])
    assert_allclose(back, [k / J, 0.0], rtol=1e-12)


@pytest.mark.parametrize("inductance", [L, 0.0])
def test_accelerations_wait_for_the_current_of_an_inductance(inductance: float) -> None:
    variables = fm.compile(drive(inductance)).variables
    voltage = next(one.index for one in variables if one.name == "M.voltage")
    for name in ("h.qdd", "M.torque", "M.current"):
        found = next(one.dependencies for one in variables if one.name == name)
        assert (voltage in (found if found is not None else (voltage,))) == (inductance == 0.0), name


def test_voltages_are_cut() -> None:
    solver = fm.Solver(drive(0.0, voltage_limit=5.0, voltage=12.0))
    solver.assemble()
    for given, cut in ((12.0, 5.0), (-7.0, -5.0), (3.0, 3.0)):
        solver.set("M.voltage", given)
        assert solver.get("M.current") == cut / R
        slope = solver.directional_derivative(["M.torque", "M.power"], ["M.voltage"], [1.0])
        assert_allclose(slope, 0.0 if cut != given else (k / R, 2.0 * given / R), rtol=1e-13)


def test_parameters_are_tuned_and_their_bounds_are_those_of_the_class() -> None:
    solver = fm.Solver(drive(voltage=12.0), **TIGHT)
    solver.set_all({"M.gear": 2.0 * N, "M.constant": 0.5 * K, "M.rotor_inertia": 0.25 * ROTOR})
    plain = fm.Solver(drive(voltage=12.0), **TIGHT)
    for one in (solver, plain):
        one.assemble()
        one.step(0.02)
    assert_allclose(solver.get("h.qd"), plain.get("h.qd"), rtol=1e-12)
    for name, wrong in (("resistance", 0.0), ("inductance", 0.0), ("constant", -1.0), ("rotor_inertia", -1.0),
                        ("voltage_limit", 0.0)):  # fmt: skip
        with pytest.raises(fm.FmumbsError):
            solver.set(f"M.{name}", wrong)
        if name != "inductance":
            with pytest.raises(fm.ModelError, match=f"Motor 'M': {name}"):
                drive(**{name: wrong})


def test_saved_states_and_start_values_hold_the_current() -> None:
    solver = fm.Solver(fm.compile(drive(current=1.0), starts={"M.current": 3.0}))
    solver.assemble()
    assert solver.get("M.current") == 3.0
    solver.step(0.01)
    goes_on_alike(solver, 0.02, "M.current")


def test_each_motor_has_its_own_start_value() -> None:
    model, hinges = fm.Model("two", gravity=(0, 0, 0)), []
    for name in "ab":
        wheel = fm.Body(name, mass=1.0, inertia=(0.1, 0.1, INERTIA))
        hinges.append(fm.Revolute(f"h{name}", model.ground.at(), wheel.at(), axis="z"))
        model.add(wheel, hinges[-1], fm.Motor(f"M{name}", hinges[-1], resistance=R, inductance=L, constant=K))
    solver = fm.Solver(fm.compile(model, starts={"Ma.current": 3.0, "Mb.current": -2.0}))
    solver.assemble()
    assert (solver.get("Ma.current"), solver.get("Mb.current")) == (3.0, -2.0)
    assert (solver.get("ha.qdd"), solver.get("hb.qdd")) == (K * 3.0 / INERTIA, K * -2.0 / INERTIA)


def test_in_a_loop_a_motor_does_what_its_torque_does() -> None:
    """A four-bar, driven by a motor and by the motor's torque as the joint's input."""
    model = fm.Model("bars")
    rods = [fm.Body.rod(name, length=size, mass=1.0) for name, size in (("a", 0.5), ("b", 1.5), ("c", 1.2))]
    a, b, c = rods
    crank = fm.Revolute("A", model.ground.at(), a.base, axis="y", q0=-1.2)
    model.add(*rods, crank, fm.Revolute("B", a.tip, b.base, axis="y", q0=1.0))
    model.add(fm.Revolute("C", b.tip, c.base, axis="y", q0=1.5))
    model.add(fm.Revolute("D", c.tip, model.ground.at(1.5), axis="y"))
    other = fm.Model("other", gravity=model.gravity)
    other.add(*model.elements, fm.Motor("M", crank, resistance=R, inductance=L, constant=K, gear=N, voltage=3.0))
    driven, plain = fm.Solver(other, scheme="radau"), fm.Solver(model)
    for solver in (driven, plain):
        solver.assemble()
    driven.step(0.01)
    plain.set_state(driven.read(driven.image.variables.positions()), driven.read(driven.image.variables.speeds()))
    plain.set(f"{crank.name}.tau", driven.get("M.torque"))
    assert_allclose(plain.get(f"{crank.name}.qdd"), driven.get(f"{crank.name}.qdd"), rtol=1e-9)


def test_what_a_motor_cannot_be() -> None:
    model = fm.Model("m")
    a = fm.Body("a", mass=1.0, inertia=(1, 1, 1))
    ball = fm.Spherical("S", model.ground.at(), a.at())
    with pytest.raises(fm.ModelError, match=r"Motor 'M': mode is 1, but joint 'S' has 0 free modes"):
        fm.Motor("M", ball, resistance=1.0, constant=1.0)
    hinge = fm.Revolute("h", model.ground.at(), a.at())
    with pytest.raises(fm.ModelError, match=r"current is given, but without inductance it follows"):
        fm.Motor("M", hinge, resistance=1.0, constant=1.0, current=1.0)
    model.add(a, fm.Motor("M", hinge, resistance=1.0, constant=1.0))
    with pytest.raises(fm.ModelError, match=r"Motor 'M' drives 'h', which is not in the model"):
        fm.compile(model)
