"""What holds a mechanism in its equilibrium and not in its motion: locks; and what does not: released programs."""

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from numpy.testing import assert_allclose

import fmumbs as fm
from fmumbs.cli import main
from fmumbs.readers import read_model
from support.slave import OK, Slave, unpacked_fmu
from support.statics import standing_loop, standing_tree
from support.sweeps import each_value, seeds

SAME = 1e-7  # [rad, m]: two searches for one equilibrium, each ended below 1e-9


def coordinates(joint: Any) -> list[str]:
    count = len(joint.free_modes)
    return [f"{joint.name}.q"] if count == 1 else [f"{joint.name}.q[{i + 1}]" for i in range(count)]


def movable(solver: fm.Solver, names: list[str]) -> int:
    """In how many ways loops let some coordinates move."""
    n = solver.image.sizes["speeds"]
    J = solver.jacobian[solver.active_rows]
    N = np.linalg.svd(J)[2][len(J) :].T if len(J) else np.eye(n)
    rates = list(solver.image.variables.names(solver.image.variables.speeds()))
    return int(np.linalg.matrix_rank(N[[rates.index(name.replace(".q", ".qd")) for name in names]], tol=1e-8))


@each_value
@pytest.mark.parametrize("dynamics", ["riccati", "copcod"])
@pytest.mark.parametrize("seed", seeds(12, 200))
def test_locks_keep_start_values_by_the_force_that_would_hold_them(seed: int, dynamics: str) -> None:
    """With that force as an input the mechanism stands there without locks."""
    model = standing_tree(seed) if seed % 2 else standing_loop(seed)
    rng = np.random.default_rng([seed, 11])
    scalar = [
        j
        for j in model.joints
        if j.free_modes and not j.name.startswith("c") and all(m.kind != "ball" for m in j.free_modes)
    ]
    if not scalar:
        model = standing_tree(seed)
        scalar = [j for j in model.joints if j.free_modes]
    joint = scalar[int(rng.integers(len(scalar)))]
    plain = fm.Solver(fm.compile(model, everything=True))
    plain.assemble()
    image = fm.compile(model, everything=True, equilibrium=True, locked=[joint.name]).with_options(dynamics=dynamics)
    found = fm.equilibrium(image)
    assert list(found.locks) == coordinates(joint)
    for name in found.locks:
        assert_allclose(found.solver.get(name), plain.get(name), rtol=0, atol=1e-9)
    slides = isinstance(joint, fm.Prismatic)
    inputs = {name.replace(".q", ".f" if slides else ".tau"): force for name, force in found.locks.items()}
    inputs = {name: force + plain.get(name) for name, force in inputs.items()}
    free = fm.compile(model, everything=True, starts=found.starts | inputs).with_options(dynamics=dynamics)
    other = fm.Solver(free.with_options(equilibrium=True))
    other.assemble()
    assert_allclose([other.get(name) for name in found.starts], list(found.starts.values()), rtol=0, atol=SAME)
    assert len(found.squares) == plain.mobility - movable(plain, list(found.locks))


@pytest.mark.parametrize("dynamics", ["riccati", "copcod"])
def test_a_locked_joint_is_free_when_the_motion_begins(dynamics: str) -> None:
    """A rod on a slide that a spring carries: the spring takes all weight, then the rod swings as a pendulum does."""
    model = fm.Model("machine", gravity=(0, 0, -9.81))
    frame, rod = fm.Body("frame", mass=2.0, inertia=(1, 1, 1)), fm.Body.rod("rod", length=1.0, mass=1.0)
    model.add(frame, fm.Prismatic("S", model.ground.at(), frame.at(), axis="z", stiffness=200.0))
    model.add(rod, fm.Revolute("A", frame.at(), rod.base, axis="y", q0=0.2))
    solver = fm.Solver(fm.compile(model, equilibrium=True, locked=["A"]).with_options(dynamics=dynamics))
    solver.assemble()
    assert_allclose([solver.get("A.q"), solver.get("S.q")], [0.2, -3.0 * 9.81 / 200.0], rtol=1e-9)
    assert_allclose(solver.locks["A.q"], -9.81 * 0.5 * np.cos(0.2), rtol=1e-9)
    assert solver.get("A.qd") == 0.0
    c = np.cos(0.2)  # M q'' = Q of the slide and the rod, about y downwards
    M = np.array([[3.0, -0.5 * c], [-0.5 * c, 1 / 3]])
    expected = np.linalg.solve(M, [0.0, 9.81 * 0.5 * c])
    assert_allclose([solver.get("S.qdd"), solver.get("A.qdd")], expected, rtol=1e-8)
    solver.step(0.3)
    assert abs(solver.get("A.q") - 0.2) > 0.1


@pytest.mark.parametrize("dynamics", ["riccati", "copcod"])
def test_a_crane_sags_with_its_hoist_locked(dynamics: str) -> None:
    """The load's moment about the hoist, which its lock carries, turns with the tip of the boom."""
    model = read_model("crane", {})
    image = fm.compile(model, everything=True, equilibrium=True, locked=["hoist"]).with_options(dynamics=dynamics)
    found = fm.equilibrium(image)
    assert [found.starts[name] for name in ("hoist.q[1]", "hoist.q[2]")] == pytest.approx([0.0, 0.0], abs=1e-12)
    hook, tip = found.solver.get("load.r"), found.solver.get("boom_tip.q[3]")
    centre = hook + fm.Rotation.quaternion(*found.solver.get("load.quat")).matrix @ (0, 0, -1.0)
    arm = centre - found.solver.get("boom_9.tip.r")
    assert_allclose(abs(found.locks["hoist.q[2]"]), 1000.0 * 9.81 * np.hypot(*arm[:2]), rtol=1e-6)
    assert abs(found.locks["hoist.q[2]"]) > 1000.0
    assert tip < 0.0
    free = fm.equilibrium(model)
    assert abs(free.starts["hoist.q[2]"]) > 0.02


def arm(
    transition: float = 0.0, programmed: bool = True, drives: bool = False, closed: bool = False, height: float = 0.0
) -> fm.Model:
    """Rods with springs whose tip follows a path, on a foundation that gives way; closed: a fourth ends a loop.

    height: of the foundation where its spring is at rest.
    """
    model = fm.Model("arm", gravity=(0, -9.81, 0))
    foot = fm.Body("foot", mass=1.0, inertia=(1, 1, 1))
    spring = {"stiffness": 400.0, "damping": 20.0, "rest": height}
    model.add(foot, fm.Prismatic("F", model.ground.at(), foot.at(), axis="y", **spring))
    place, joints = foot.at(), []
    for name, q0 in zip("abc", (0.3, 0.5, 0.4), strict=True):
        rod = fm.Body.rod(name, length=0.5, mass=1.0)
        joints.append(fm.Revolute(name.upper(), place, rod.base, q0=q0, stiffness=60.0, damping=1.0, rest=q0))
        model.add(rod, joints[-1])
        place = rod.tip
    if closed:
        across = 0.5 * np.cos(0.3) + 0.5 * np.cos(0.8) - 1.0, 0.5 * np.sin(0.3) + 0.5 * np.sin(0.8)
        rod = fm.Body.rod("d", length=np.hypot(*across), mass=1.0)
        model.add(rod, fm.Revolute("D", foot.at(1, 0, 0), rod.base, q0=np.arctan2(across[1], across[0])))
        model.add(fm.Revolute("E", joints[2].F, rod.tip, cut=True))
    if programmed:
        q = np.cumsum([0.3, 0.5, 0.4])
        begins = (0.5 * np.cos(q).sum(), 0.5 * np.sin(q).sum())
        path = fm.Path.line(begins, (begins[0] + 0.1, begins[1]), 1.0)
        given = {"drives": joints[1:] if closed else joints[:2], "insist": True} if drives else {}
        model.add(fm.ProgrammedPoint("P", place, path=path, directions="xy", transition=transition, **given))
    return model


@pytest.mark.parametrize("closed", [False, True])
@pytest.mark.parametrize("drives", [False, True])
@pytest.mark.parametrize("dynamics", ["riccati", "copcod"])
def test_released_programs_let_all_sag_and_fade_that_out(dynamics: str, drives: bool, closed: bool) -> None:
    rest = fm.equilibrium(arm(programmed=False, closed=closed))
    image = fm.compile(arm(0.5, drives=drives, closed=closed), everything=True).with_options(dynamics=dynamics)
    solver = fm.Solver(image, equilibrium=True, programs="released")
    solver.assemble()
    assert_allclose([solver.get(name) for name in rest.starts], list(rest.starts.values()), rtol=0, atol=SAME)
    sag = np.linalg.norm(solver.get("P.target") - solver.get("P.position"))
    assert sag > 0.01
    assert_allclose(solver.get("P.violation"), sag, rtol=1e-9)
    placed = fm.Solver(image)
    for name, value in rest.starts.items():
        placed.set(name, value)
    placed.assemble()
    for one in (solver, placed):
        one.step(0.02)
    speeds = [f"{joint}.qd" for joint in "FABC"]
    assert_allclose([solver.get(name) for name in speeds], [placed.get(name) for name in speeds], rtol=0, atol=1e-5)
    assert np.abs([solver.get(name) for name in speeds]).max() > 0.01
    if not drives:
        solver.step(0.5)
        assert solver.get("P.violation") < 1e-8
    found = fm.equilibrium(image, programs="released")
    assert_allclose(found.squares, rest.squares, rtol=1e-5)
    if drives and closed:
        return  # there is no equilibrium: see test_drives_in_a_loop_leave_the_foundation_to_balance
    held = fm.Solver(image, equilibrium=True)
    held.assemble()
    assert held.get("P.violation") < 1e-8
    assert np.abs(held.get("P.drive")).max() > 1.0
    assert abs(held.get("A.q") - solver.get("A.q")) > 1e-3


@cache
def poses() -> np.ndarray:
    """(n, 5) A, B, C, D and F along the curve on which the closed arm keeps its tip, from the start both ways."""
    across = np.array([0.5 * np.cos(0.3) + 0.5 * np.cos(0.8) - 1.0, 0.5 * np.sin(0.3) + 0.5 * np.sin(0.8)])
    tip = sum(0.5 * np.array([np.cos(q), np.sin(q)]) for q in (0.3, 0.8, 1.2))

    def open_by(x: np.ndarray) -> np.ndarray:
        ends = [0.5 * np.array([np.cos(q), np.sin(q)]) for q in np.cumsum(x[:3])]
        rod = np.hypot(*across) * np.array([np.cos(x[3]), np.sin(x[3])])
        return np.r_[ends[0] + ends[1] - rod - (1.0, 0.0), sum(ends) - tip + np.array([0.0, x[4]])]

    def tangents(x: np.ndarray) -> np.ndarray:
        return np.array([open_by(x + 1e-6 * e) - open_by(x - 1e-6 * e) for e in np.eye(5)]).T / 2e-6

    ways = []
    for way in (-1.0, 1.0):
        x, before, found = np.array([0.3, 0.5, 0.4, np.arctan2(across[1], across[0]), 0.0]), np.zeros(5), []
        for _ in range(120):
            along = np.linalg.svd(tangents(x))[2][-1]
            along *= np.sign(along @ before) or way * np.sign(along[0])
            x, before = x + 0.015 * along, along
            for _ in range(3):
                x = x - np.linalg.pinv(tangents(x)) @ open_by(x)
            found.append(x)
        ways.append(found)
    return np.array(ways[0][::-1] + ways[1])


@pytest.mark.parametrize("dynamics", ["riccati", "copcod"])
def test_drives_in_a_loop_leave_the_foundation_to_balance(dynamics: str) -> None:
    """Of two drives and the loop, nothing is free but the foundation: it stands where its spring bears five bodies.

    With its spring at rest at 0 that is lower than the tip lets it go; with one at rest higher up it is found.
    """
    curve, weight = poses(), 5 * 9.81 / 400.0
    lowest = curve[:, 4].min()
    assert -0.021 < lowest < -0.020
    model = arm(0.5, drives=True, closed=True)
    with pytest.raises(fm.EquilibriumError, match="no equilibrium was found"):
        fm.equilibrium(fm.compile(model, everything=True).with_options(dynamics=dynamics))
    for at in (1, 40, 80, 100, 139, 150):  # the start is at 120
        raised = arm(0.5, drives=True, closed=True, height=curve[at, 4] + weight)
        found = fm.equilibrium(fm.compile(raised, everything=True).with_options(dynamics=dynamics))
        assert_allclose(found.solver.get("F.q"), curve[at, 4], rtol=0, atol=1e-10)
        q = [found.solver.get(f"{joint}.q") for joint in "ABCDF"]
        assert np.linalg.norm(curve - q, axis=1).min() < 0.015  # at this height or the other place that has it


def test_a_released_program_without_a_transition_is_refused_with_its_deviation() -> None:
    with_it = fm.Solver(arm(0.5), equilibrium=True, programs="released")
    with_it.assemble()
    sag = with_it.get("P.violation")
    with pytest.raises(fm.EquilibriumError, match=rf"released programs 'P' is {sag:.6g} from its target.*transition"):
        fm.equilibrium(arm(), programs="released")
    level = fm.Model("level", gravity=(0, 0, 0))
    rod = fm.Body.rod("rod", length=1.0, mass=1.0)
    level.add(rod, A := fm.Revolute("A", level.ground.at(), rod.base, stiffness=10.0))
    level.add(fm.ProgrammedJoint("P", A, path=fm.Path.polynomial(0.0, 0.0, 1.0)))
    assert fm.equilibrium(level, programs="released").starts["A.q"] == pytest.approx(0.0, abs=1e-12)


def test_an_fmu_starts_as_the_solver_does(tmp_path: Path) -> None:
    image = fm.compile(arm(0.5), everything=True, equilibrium=True, locked=["B"], programs="released")
    fmu = unpacked_fmu(tmp_path / "arm", image)
    slave, solver = Slave(fmu), fm.Solver(image)
    for name, value in (("a.mass", 2.0), ("F.stiffness", 300.0)):
        slave.set(name, value)
        solver.set(name, value)
    slave.initialize()
    assert slave.call("fmi2ExitInitializationMode") == OK
    solver.assemble()
    names = ["A.q", "B.q", "C.q", "F.q", "P.violation"]
    for time in (0.0, 0.1, 0.2):
        assert [slave.get(name) for name in names] == [solver.get(name) for name in names]
        slave.step(time, 0.1)
        solver.step(time + 0.1)
    slave.free()
    started = Slave(fmu)  # held, as an importer may choose
    started.set_integer("solver.equilibrium", 1)
    started.start()
    assert started.get("P.violation") < 1e-8
    started.free()


def test_the_command_line_locks_and_releases(tmp_path: Path) -> None:
    run = CliRunner().invoke(
        main, ["run", "crane", "--stop", "0.02", "--equilibrium", "--locked", "hoist", "-o", str(tmp_path / "a.csv")]
    )
    assert run.exit_code == 0, run.output
    header, first, *_ = (tmp_path / "a.csv").read_text(encoding="utf-8").splitlines()
    columns = [name.split(" ")[0] for name in header.replace('"', "").split(",")]
    values = dict(zip(columns, map(float, first.split(",")), strict=True))
    found = fm.equilibrium(read_model("crane", {}), locked=["hoist"])
    for name in ("hoist.q[1]", "hoist.q[2]", "boom_tip.q[3]"):
        assert values[name] == pytest.approx(found.solver.get(name), abs=1e-9)
    export = CliRunner().invoke(
        main,
        [
            "export",
            "crane",
            "--equilibrium",
            "--locked",
            "hoist",
            "--programs",
            "released",
            "-o",
            str(tmp_path / "c.fmu"),
        ],
    )
    assert export.exit_code == 0, export.output
    info = CliRunner().invoke(main, ["info", str(tmp_path / "c.fmu"), "--json"])
    starts = {v["name"]: v["start"] for v in json.loads(info.output)["variables"]}
    assert starts["solver.equilibrium"] == 2
    refused = CliRunner().invoke(main, ["run", str(tmp_path / "c.fmu"), "--locked", "hoist"])
    assert refused.exit_code != 0
    assert "an FMU keeps the locks" in refused.output


def ball() -> fm.Model:
    model = fm.Model("ball")
    rod = fm.Body.rod("rod", length=1.0, mass=1.0)
    other = replace(rod, name="other")
    model.add(rod, fm.Spherical("S", model.ground.at(), rod.base))
    model.add(other, fm.Revolute("A", rod.tip, other.base, axis="y"))
    return model


@pytest.mark.parametrize(
    ("locked", "message"),
    [
        (["T"], r"no element 'T'"), (["rod"], r"'rod' is a Body. Give the name of a joint"),
        (["S"], r"joint 'S' has no coordinates that can be locked one by one"),
        (["A.q[2]"], r"'A.q\[2\]' is no coordinate"),
        (["A.tau"], r"'A.tau' is no coordinate"), ("A", r"Give a list of joints or coordinates, such as \['A'\]"),
    ],
)  # fmt: skip
def test_what_cannot_be_locked_is_named(locked: Any, message: str) -> None:
    with pytest.raises(fm.ModelError, match=message):
        fm.equilibrium(ball(), locked=locked)


def test_locks_and_releases_belong_to_an_equilibrium() -> None:
    model = arm(0.5)
    with pytest.raises(fm.ModelError, match=r"locked is given without equilibrium=True"):
        fm.compile(model, locked=["A"])
    with pytest.raises(fm.ModelError, match=r"programs='released' is given without equilibrium=True"):
        fm.compile(model).with_options(programs="released")
    with pytest.raises(fm.ModelError, match=r"programs 'loose' is unknown. Choose one of: held, released"):
        fm.compile(model, equilibrium=True, programs="loose")
    with pytest.raises(fm.ModelError, match=r"locked is part of the image 'arm'"):
        fm.simulate(fm.compile(model), equilibrium=True, locked=["A"])


@pytest.mark.parametrize("dynamics", ["riccati", "copcod"])
def test_a_lock_changes_nothing_of_a_motion_from_elsewhere(dynamics: str) -> None:
    """Nor do the reactions of a mechanism with more than it needs."""
    model = standing_loop(3)
    image = fm.compile(model, everything=True, equilibrium=True, locked=[model.joints[0].name])
    plain, locked = (
        fm.Solver(one.with_options(dynamics=dynamics, equilibrium=False))
        for one in (fm.compile(model, everything=True), image)
    )
    for solver in (plain, locked):
        solver.assemble()
        solver.step(0.5)
    assert plain.mobility == locked.mobility
    names = [v.name for v in plain.image.variables if v.causality == "output" and "solver" not in v.name]
    assert_allclose([locked.get(n) for n in names], [plain.get(n) for n in names], rtol=1e-6, atol=1e-7)
