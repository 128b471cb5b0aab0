"""Cams: closed forms, mechanisms drawn at random beside the oracle, statics, parameters, and what no cam can be."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fmpy import simulate_fmu
from numpy.testing import assert_allclose

import fmumbs as fm
from support.both_ways import runs
from support.closed import Closed, cammed, tree_state
from support.closed_agreement import CLOSED, assert_agrees, assert_closed, started
from support.sweeps import each_value, seeds

E, J, M, G = 0.02, 0.003, 0.8, 9.81  # lift [m], shaft [kg.m2], follower [kg]
TURN = 2.0 * np.pi
TIGHT = {"tolerance": 1e-12, "scheme": "dop853"}
RATE = 1e-10  # [m/s]: rows close to 1e-12 of the model's velocities, tens of rad/s
ENERGY = 1e-10  # relative, of a run in which a tolerance of 1e-12 holds
ECCENTRIC = fm.Path.sine(E, 1.0 / TURN, phase=-np.pi / 2, offset=E)  # E (1 - cos phi), exact


def lifter(speed: float = 20.0, stiffness: float = 0.0, profile: Any = ECCENTRIC, **options: Any) -> fm.Model:
    """A shaft that turns freely, with a cam that lifts a mass."""
    model = fm.Model("lifter", gravity=(0, 0, -G))
    shaft, mass = fm.Body("shaft", mass=1.0, inertia=(1, J, 1)), fm.Body("mass", mass=M, inertia=(1, 1, 1))
    A = fm.Revolute("A", model.ground.at(), shaft.at(), axis="y", q0=0.0, u0=speed, stiffness=stiffness)
    B = fm.Prismatic("B", model.ground.at(), mass.at(), axis="z")
    model.add(shaft, mass, A, B, fm.Cam("C", A, B, profile, **options))
    return model


def eccentric(phi: Any) -> tuple[Any, Any, Any]:
    return E * (1 - np.cos(phi)), E * np.sin(phi), E * np.cos(phi)


@each_value
@pytest.mark.parametrize("dynamics", ["riccati", "copcod"])
@pytest.mark.parametrize("scheme", ["dopri5", "dop853", "radau", "auto", "rk4"])
def test_an_eccentric_keeps_energy(scheme: str, dynamics: str) -> None:
    """phi'^2 (J + M f'^2) / 2 + M g f is constant; the torque is E sin phi times the force."""
    steps = {"step": 2e-5} if scheme == "rk4" else {"tolerance": 1e-12}
    result = lifter().simulate(stop=0.4, interval=0.01, scheme=scheme, dynamics=dynamics, **steps)
    phi, w = result["A.q"], result["A.qd"]
    f, slope, bend = eccentric(phi)
    energy = 0.5 * J * 20.0**2
    assert phi[-1] > TURN
    assert_allclose(result["B.q"], f, rtol=0, atol=1e-12)
    assert_allclose(result["B.qd"], slope * w, rtol=0, atol=RATE)
    assert_allclose(w**2 * (J + M * slope**2) / 2 + M * G * f, energy, rtol=ENERGY)
    assert_allclose(result["solver.energy"], energy, rtol=ENERGY)
    force = M * (G + bend * w**2 + slope * result["A.qdd"])
    assert_allclose(result["C.tau[1]"], force, rtol=0, atol=1e-9 * np.abs(force).max())
    assert_allclose(result["C.tau[2]"], -slope * result["C.tau[1]"], rtol=0, atol=1e-12)
    assert_allclose(result["C.power"], force * slope * w, rtol=0, atol=1e-8 * np.abs(force * slope * w).max())


def test_an_eccentric_in_python_and_in_fmus(tmp_path: Path) -> None:
    names = ["A.q", "A.qd", "C.tau[1]", "C.tau[2]"]
    for what, _, found in runs(tmp_path, lifter(), names, stop=0.4, interval=0.05, **TIGHT):
        f, slope, _ = eccentric(found["A.q"])
        energy = found["A.qd"] ** 2 * (J + M * slope**2) / 2 + M * G * f
        assert_allclose(energy, 0.5 * J * 20.0**2, rtol=1e-8, err_msg=what)
        assert_allclose(found["C.tau[2]"], -slope * found["C.tau[1]"], rtol=0, atol=1e-9, err_msg=what)


def test_a_cam_that_is_driven_moves_its_follower() -> None:
    """At constant speed the follower's acceleration is f'' w^2, and the drive gives what it takes."""
    model = fm.Model("driven", gravity=(0, 0, -G))
    shaft, mass = fm.Body("shaft", mass=1.0, inertia=(1, J, 1)), fm.Body("mass", mass=M, inertia=(1, 1, 1))
    w, cam = 30.0, fm.Path.cam(0.01, rise=1.5, dwell=0.4, fall=1.5, period=TURN)
    turns = fm.Turn("y", role="excited", path=fm.Path.polynomial(0.0, w))
    A = fm.Joint("A", model.ground.at(), shaft.at(), modes=(turns,))
    B = fm.Prismatic("B", model.ground.at(), mass.at(), axis="z")
    model.add(shaft, mass, A, B, fm.Cam("C", A, B, cam))
    result = model.simulate(stop=1.0, interval=0.003)
    at = np.array([cam(w * t) for t in result.time])
    assert_allclose(result["B.q"], at[:, 0], rtol=0, atol=1e-11)
    assert_allclose(result["B.qdd"], w**2 * at[:, 2], rtol=0, atol=1e-8)
    assert_allclose(result["C.tau[1]"], M * (G + w**2 * at[:, 2]), rtol=0, atol=1e-8)
    assert_allclose(result["A.drive"], at[:, 1] * result["C.tau[1]"], rtol=0, atol=1e-10)


@pytest.mark.parametrize("closed", [False, True])
@pytest.mark.parametrize("seed", seeds(4, 30))
def test_cams_of_any_mechanism(seed: int, closed: bool) -> None:
    """Between coordinates of joints of any kind, in trees and beside loops: positions, rates, forces by the oracle."""
    case = cammed(700 + seed, closed)
    solver = started(case.model, case.inputs)
    for time in (0.0, 0.02, 0.05):
        solver.step(time)
        assert_on_the_cams(solver, case)
        if closed:
            assert_closed(solver, case.model)
            assert_agrees(solver, case)
        else:
            assert_agrees(solver, case, tree_state(solver, case.model))


def assert_on_the_cams(solver: fm.Solver, case: Closed) -> None:
    found = [one for one in case.model.couplings if isinstance(one, fm.Cam)]
    assert found
    for cam in found:
        q = [position(solver, joint, mode) for joint, mode in ((cam.A, cam.mode_A), (cam.B, cam.mode_B))]
        assert_allclose(q[1], cam.offset + cam.scale * cam.path(q[0] - cam.phase)[0], rtol=0, atol=100 * CLOSED)


def position(solver: fm.Solver, joint: Any, mode: int) -> float:
    free = len(joint.free_modes)
    name, k = ("q", mode - 1) if mode <= free else ("eta", mode - 1 - free)
    return float(np.ravel(solver.get(f"{joint.name}.{name}"))[k])


def test_statics_and_linear_models_know_the_bend_of_a_profile() -> None:
    """A torsion spring holds the shaft: k phi = -M g f'; w^2 = (k + M g f'') / (J + M f'^2)."""
    k = 1.2
    model = lifter(speed=0.0, stiffness=k, phase=-1.0)
    found = fm.equilibrium(model)
    phi = float(found.solver.get("A.q"))
    _, slope, bend = eccentric(phi + 1.0)
    assert_allclose(k * phi, -M * G * slope, rtol=1e-9)
    assert_allclose(found.solver.get("C.tau[1]"), M * G, rtol=1e-9)
    frequency = np.sqrt((k + M * G * bend) / (J + M * slope**2))
    assert_allclose(found.frequencies, [frequency], rtol=1e-8)
    linear = fm.linearize(model, at="equilibrium")
    assert_allclose(np.abs(np.linalg.eigvals(linear.A).imag).max(), frequency, rtol=1e-6)


def test_derivatives_are_those_of_the_reduced_inertia() -> None:
    solver = fm.Solver(fm.compile(lifter(), everything=True), derivatives=True)
    solver.assemble()
    solver.step(0.1)
    _, slope, _ = eccentric(float(solver.get("A.q")))
    inertia = J + M * slope**2
    wanted = {"A.tau": 1.0 / inertia, "B.f": slope / inertia}
    for name, value in wanted.items():
        assert_allclose(solver.directional_derivative(["A.qdd"], [name], [1.0]), [value], rtol=1e-9)
    assert_allclose(solver.adjoint(["A.qdd"], list(wanted), [1.0]), list(wanted.values()), rtol=1e-9)


def test_a_saved_state_goes_on_alike() -> None:
    solver = started(lifter())
    solver.step(0.1)
    kept = solver.state_save()
    solver.step(0.2)
    there = [solver.get(name) for name in ("A.q", "B.q", "C.tau[1]")]
    solver.state_load(kept)
    solver.step(0.2)
    assert [solver.get(name) for name in ("A.q", "B.q", "C.tau[1]")] == there


def test_parameters_move_the_follower_before_the_start() -> None:
    tuned = {"phase": -0.4, "offset": 0.05, "scale": 1.5}
    solver, plain = fm.Solver(lifter()), started(lifter(**tuned))
    solver.set_all({f"C.{name}": value for name, value in tuned.items()})
    solver.assemble()
    for one in (solver, plain):
        one.step(0.2)
    assert_allclose(solver.get("B.q"), 0.05 + 1.5 * eccentric(float(solver.get("A.q")) + 0.4)[0], rtol=0, atol=1e-11)
    assert_allclose(solver.get("B.q"), plain.get("B.q"), rtol=0, atol=1e-10)


TUNED = {"C.phase": -0.05, "C.offset": 0.001, "C.scale": 1.1}


def of_tuned(phi: Any) -> tuple[Any, Any, Any]:
    f, slope, bend = eccentric(phi + 0.05)
    return 0.001 + 1.1 * f, 1.1 * slope, 1.1 * bend


@pytest.mark.parametrize("options", [TIGHT, {"scheme": "radau", "dynamics": "copcod", "tolerance": 1e-11},
                                     {"scheme": "rk4", "step": 2e-5}])  # fmt: skip
def test_parameters_move_the_mechanism_in_a_run(options: Any) -> None:
    """At once to the new profile, with the least change in the mass norm, and on from there."""
    solver = fm.Solver(lifter(), **options)
    solver.assemble()
    solver.step(0.1)
    phi, w, v = (float(solver.get(name)) for name in ("A.q", "A.qd", "B.qd"))
    solver.set_all(TUNED)
    q, speed = float(solver.get("A.q")), float(solver.get("A.qd"))
    f, slope, _ = of_tuned(q)
    assert q != phi
    assert_allclose([solver.get("B.q"), solver.get("B.qd")], [f, slope * speed], rtol=0, atol=RATE)
    assert_allclose(J * (speed - w) + slope * M * (solver.get("B.qd") - v), 0.0, atol=1e-12)
    energy = speed**2 * (J + M * slope**2) / 2 + M * G * f
    solver.step(0.2)
    f, slope, bend = of_tuned(float(solver.get("A.q")))
    w = float(solver.get("A.qd"))
    assert_allclose(solver.get("B.q"), f, rtol=0, atol=1e-11)
    assert_allclose(w**2 * (J + M * slope**2) / 2 + M * G * f, energy, rtol=ENERGY)
    assert_allclose(solver.get("C.tau[1]"), M * (G + bend * w**2 + slope * solver.get("A.qdd")), rtol=1e-9)


@pytest.mark.parametrize("kind", ["CoSimulation", "ModelExchange"])
@pytest.mark.parametrize("fmi", [2, 3])
def test_parameters_move_the_mechanism_in_an_fmu(tmp_path: Path, fmi: int, kind: str) -> None:
    path = fm.export_fmu(lifter(), tmp_path / "lifter.fmu", fmi=fmi, tolerance=1e-10)
    at = np.array([(0.0, 0.0, 0.0, 1.0), (0.1, *TUNED.values())], [(name, float) for name in ("time", *TUNED)])
    found = simulate_fmu(path, stop_time=0.2, output_interval=0.05, relative_tolerance=1e-10, fmi_type=kind, input=at,
                         output=["A.q", "B.q", "B.qd", "A.qd"])[-1]  # fmt: skip
    f, slope, _ = of_tuned(found["A.q"])
    assert_allclose([found["B.q"], found["B.qd"]], [f, slope * found["A.qd"]], rtol=0, atol=1e-7)


def test_parameters_that_no_position_fits_are_named_and_can_be_taken_back() -> None:
    model = lifter(speed=0.0)
    model.add(fm.Coupling("hold", [(model["B"], 1.0)], offset=0.01))  # type: ignore[list-item]
    solver = started(model)
    there = solver.get("A.q")
    solver.set("C.offset", 1.0)
    for what in (lambda: solver.step(0.1), lambda: solver.get("A.q")):
        with pytest.raises(fm.SolverError, match=r"the coupling C .* cannot close where a parameter of a cam"):
            what()
    solver.set("C.offset", 0.0)
    assert_allclose(solver.get("A.q"), there, rtol=0, atol=1e-12)
    solver.step(0.1)


def test_derivatives_by_the_parameters() -> None:
    """Of A.qdd at the same positions and velocities, and of a run."""
    solver = fm.Solver(fm.compile(lifter(), everything=True), derivatives=True)
    solver.assemble()
    solver.step(0.1)
    q, w = (float(solver.get(name)) for name in ("A.q", "A.qd"))

    def rate(phase: float, scale: float) -> float:
        _, slope, bend = (scale * x for x in eccentric(q - phase))
        return float(-M * slope * (G + bend * w**2) / (J + M * slope**2))

    names, h = ["C.phase", "C.offset", "C.scale"], 1e-5
    wanted = [(rate(h, 1.0) - rate(-h, 1.0)) / (2 * h), 0.0, (rate(0.0, 1 + h) - rate(0.0, 1 - h)) / (2 * h)]
    found = [solver.directional_derivative(["A.qdd"], [name], [1.0])[0] for name in names]
    assert_allclose(found, wanted, rtol=1e-7, atol=1e-9)
    assert_allclose(solver.adjoint(["A.qdd"], names, [1.0]), found, rtol=1e-9, atol=1e-9)

    def end(name: str, by: float) -> float:
        tuned = {"phase": 0.0, "offset": 0.0, "scale": 1.0}
        tuned[name] += by
        return float(lifter(**tuned).simulate(stop=0.1, interval=0.1, **TIGHT)["B.q"][-1])

    of_run = fm.sensitivities(lifter(), ["B.q"], names, stop=0.1, interval=0.1, tolerance=1e-10)
    differences = [(end(name[2:], h) - end(name[2:], -h)) / (2 * h) for name in names]
    assert_allclose(of_run.forward[-1, 0], differences, rtol=1e-5, atol=1e-8)
    assert_allclose(of_run.adjoint([[0.0], [1.0]]), of_run.forward[-1, 0], rtol=1e-8, atol=1e-10)


TABLE = [(0.0, 0.01), (0.7, 0.012), (2.0, 0.03), (3.1, 0.02), (TURN, 0.01)]


def test_tables_are_splines() -> None:
    """Through their points, with a continuous second derivative; periodic, or straight beyond the ends."""
    for periodic in (False, True):
        path = lifter(profile=TABLE, periodic=periodic)["C"].path  # type: ignore[union-attr]
        for x, y in TABLE:
            assert_allclose(path(x)[0], y, rtol=1e-12)
            assert_allclose(path(x - 1e-9)[2], path(x + 1e-9)[2], rtol=0, atol=1e-7)
        if periodic:
            assert_allclose(path(TURN + 1.0), path(1.0), rtol=1e-12)
        else:
            assert path(-3.0)[2] == path(9.0)[2] == 0.0
            assert_allclose(path(9.0)[0], 0.01 + (9.0 - TURN) * path(TURN)[1], rtol=1e-12)


@pytest.mark.parametrize(
    ("profile", "options", "words"),
    [
        ([], {}, r"Cam 'C': profile has 0 points, but must have at least 2"),
        ([(0, 1)], {}, r"profile has 1 points"),
        ([(0, 0), (0, 1)], {}, r"profile\[2\] is at 0, not above the point before, 0\. Sort"),
        ([(0, 0), (2, 1), (1, 0)], {}, r"profile\[3\] is at 1, not above"),
        ([(0, 0), (1, 2, 3)], {}, r"profile\[2\]"),
        ([(0, 0), (1, 2), (TURN, 1)], {"periodic": True}, r"periodic, but ends at 1 and not where it begins, at 0"),
        (fm.Path.polynomial(0, 1), {"periodic": True}, r"a Path without a period"),
        (fm.Path((0, 1), ((0, 0, 1), (1, 2, 0)), continuity=1), {}, r"continuity=1"),
        (ECCENTRIC, {"scale": 0.0}, r"scale is 0, but it must not be zero"),
        (ECCENTRIC, {"phase": np.nan}, r"phase"),
        (ECCENTRIC, {"mode_A": 2}, r"mode 2 of joint 'A' does not exist"),
        ("abc", {}, r"profile"),
    ],
)  # fmt: skip
def test_what_no_cam_can_be(profile: Any, options: Any, words: str) -> None:
    with pytest.raises(fm.ModelError, match=words):
        lifter(profile=profile, **options)


def test_a_cam_of_a_joint_with_itself_or_of_one_that_closes_a_loop() -> None:
    A = lifter()["A"]
    with pytest.raises(fm.ModelError, match=r"Cam 'C': A and B are both joint 'A'\. Give two joints"):
        fm.Cam("C", A, A, ECCENTRIC)  # type: ignore[arg-type]
    with pytest.raises(fm.ModelError, match=r"Cam 'C': B is 3\. Give a joint"):
        fm.Cam("C", A, 3, ECCENTRIC)  # type: ignore[arg-type]


def test_pictures_show_cams() -> None:
    (look,) = fm.compile(lifter()).scene.couplings
    assert look.name == "C" and len(look.profile) == 73
    assert_allclose([y for _, y in look.profile], [E * (1 - np.cos(x)) for x, _ in look.profile], atol=1e-8)


def test_units_are_those_of_the_joints() -> None:
    variables = fm.Solver(lifter()).image.variables
    units = {"phase": "rad", "offset": "m", "scale": "", "tau[1]": "N", "tau[2]": "N.m", "power": "W"}
    assert {name: variables.find(f"C.{name}").unit for name in units} == units


def test_reactions_that_cams_leave_open() -> None:
    """Where a profile dwells, what holds the follower too shares its force; where it rises, the shaft is held."""
    for phase, lift, unique in ((1.0, 0.0, False), (-0.5, 0.005, True)):
        model = lifter(speed=0.0, profile=fm.Path.cam(0.01, rise=1.0, period=9.0, fall=1.0), phase=phase)
        model.add(fm.Coupling("hold", [(model["B"], 1.0)], offset=lift))  # type: ignore[list-item]
        assert all(one.unique == unique for one in fm.uniqueness(model).forces)
