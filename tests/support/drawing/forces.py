"""Forces, laws, couplings and programs at random."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

import fmumbs as fm
from fmumbs.mechanism.coupling import start
from oracle.joints import turn
from support.drawing.bodies import Rng, place_on

LAWS = ("polynomial", "table", "smooth", "damper", "stop", "brake", "brake")


def springs_and_loads(rng: Rng, model: fm.Model, parts: list[Any], force: float) -> None:
    """parts: bodies and links."""
    for k in range(int(rng.integers(0, 3))):
        first, second = rng.permutation(len(parts) + 1)[:2].tolist()
        ends = [model.ground.at(*rng.uniform(-2, 2, 3).tolist()) if i == len(parts) else place_on(rng, parts[i])
                for i in (first, second)]  # fmt: skip
        given = {"stiffness": 10 * force * rng.random(), "damping": force * rng.random() * rng.choice((0, 1))}
        if ends[0].body.name != ends[1].body.name:
            model.add(fm.Spring(f"s{k}", *ends, free_length=rng.uniform(0, 1), **given))
            if int(1e6 * given["stiffness"] / force) % 4 == 0:  # draws nothing, as seeds are pinned
                model.add(fm.Actuator(f"push{k}", *ends, force=0.3 * given["stiffness"]))
            if int(1e6 * given["stiffness"] / force) % 4 == 1:
                model.add(cylinder(f"ram{k}", ends, given["stiffness"], force))
    for k in range(int(rng.integers(0, 3))):
        push, twist = force * rng.uniform(-1, 1, (2, 3))
        axes = "point" if int(1e6 * abs(twist[2] / force)) % 3 == 0 else "world"  # draws nothing, as seeds are pinned
        model.add(fm.Load(f"l{k}", place_on(rng, parts[rng.integers(len(parts))]), force=push, torque=twist, axes=axes))


def cylinder(name: str, ends: list[fm.Point], stiffness: float, force: float) -> fm.Cylinder:
    """A soft one, with a valve or flows, whose piston is within its stroke wherever its ends are. Draws nothing."""
    area, part = 1e-3, stiffness / (10 * force)
    pressure = 0.3 * force * part / area
    given: dict[str, Any] = {"flow_A": 1e-5 * part, "flow_B": -2e-5}
    if part > 0.5:
        valve = fm.Valve(rated_flow=1e-4, rated_drop=pressure, supply=2.0 * pressure, tank=0.1 * pressure)
        given = {"valve": valve, "opening": 2.0 * part - 1.6}
    return fm.Cylinder(
        name, *ends, area_A=area, area_B=0.7 * area, stroke=40.0, closed_length=0.0, dead_volume_A=area,
        dead_volume_B=area, bulk_modulus=stiffness / area, leakage=1e-6 * part / pressure, pressure_A=pressure,
        pressure_B=0.5 * pressure, vapour=-pressure, **given,
    )  # fmt: skip


def scalars(joint: Any) -> int:
    """How many of its free modes can have a law."""
    if joint.velocity_rows or isinstance(joint, fm.Spherical | fm.Free):
        return 0
    return len(joint.free_modes)


def law(rng: Rng, name: str, on: Any, force: float) -> Any:
    """Any law on a joint's mode or on a spring."""
    spring = isinstance(on, fm.Spring)
    mode = 1 if spring else int(rng.integers(1, scalars(on) + 1))
    kind = str(rng.choice(LAWS))
    x, y = np.sort(rng.uniform(-1, 1, 4)) + (1.0 if spring else 0.0), force * np.sort(rng.uniform(-2, 2, 4))
    if kind == "polynomial":
        pull = force if spring else -force
        c = [[pull * rng.uniform(-1, 1), pull * rng.random()], [pull * rng.uniform(0, 5)], [0.0], [pull * rng.random()]]
        return fm.Law.polynomial(name, on, c, mode=mode)
    if kind == "stop":
        low, high = rng.uniform(-0.6, 0.0) + float(spring), rng.uniform(0.1, 0.6) + float(spring)
        stiff = 100 * force
        return fm.Stop(name, on, mode=mode, lower=low, upper=high, stiffness=stiff, damping=0.02 * stiff)
    if kind == "brake":
        breakaway = float(rng.choice((1.0, 1.3)))
        return fm.Law.brake(name, on, force * 10.0 ** rng.uniform(-2, 0.5), mode=mode, breakaway=breakaway)
    if kind == "damper":
        return fm.Law.damper(name, on, x - x.mean(), y if spring else y[::-1], mode=mode)
    return fm.Law.table(name, on, x, y if spring else y[::-1], mode=mode, smooth=kind == "smooth")


def jumps(one: Any) -> bool:
    """Whether it may stick."""
    return any(np.isfinite((piece.v_lower, piece.v_upper)).any() for piece in one.pieces)


def coupling(rng: Rng, name: str, joints: list[Any]) -> fm.Coupling | None:
    """Of two or three coordinates of joints in the tree, now and then a cam between two."""
    able = [(j, k + 1) for j in joints for k in range(scalars(j))]
    if len(able) < 3:
        return None
    chosen = [able[i] for i in rng.permutation(len(able))[: int(rng.integers(2, 4))]]
    if len(chosen) == 2 and rng.random() < 0.5:
        return cam(rng, name, *chosen)
    return fm.Coupling(name, [(*one, float(rng.uniform(0.5, 2) * rng.choice((-1, 1)))) for one in chosen])


def cam(rng: Rng, name: str, of_A: tuple[Any, int], of_B: tuple[Any, int]) -> fm.Cam:
    """A smooth profile on which both coordinates start."""
    (A, mode_A), (B, mode_B) = of_A, of_B
    here, phase, scale = start(A, mode_A), float(rng.uniform(-1, 1)), float(rng.uniform(0.5, 2) * rng.choice((-1, 1)))
    x = here - phase + np.linspace(-2.0, 2.0, 6)
    table = list(zip(x.tolist(), rng.uniform(-0.5, 0.5, 6).tolist(), strict=True))
    made = fm.Cam(name, A, B, table, mode_A=mode_A, mode_B=mode_B, phase=phase, scale=scale)
    return replace(made, offset=start(B, mode_B) - scale * made.path(here - phase)[0])


def program(rng: Rng, name: str, joints: list[Any], ground: Any, body: Any, pose: Any) -> Any:
    """A path or an input for a joint, a point, an orientation or their rates; pose: (p, R) of the body in the world.

    They begin near where the mechanism is, and a transition fades out the rest. What ground carries turns with it.
    """
    hinges = [j for j in joints if isinstance(j, fm.Revolute | fm.Prismatic)]
    if hinges and rng.random() < 0.35:
        return hinge_program(rng, name, hinges)
    arm, (p, R) = rng.uniform(-0.4, 0.4, 3), pose
    turned = turn(rng.uniform(-0.3, 0.3, 3))
    frame = ground.at(*(p + R @ arm + rng.uniform(-0.1, 0.1, 3)).tolist(), rotation=fm.Rotation(R @ turned))
    letters = "".join(rng.permutation(list("xyz"))[: int(rng.choice((1, 2, 3), p=(0.7, 0.2, 0.1)))])
    kind = str(rng.choice(("point", "point", "orientation", "rows")))
    level = "position" if kind != "rows" and rng.random() < 0.5 else "velocity"
    given: dict[str, Any] = {"frame": frame, "of": level, "transition": 0.4}
    if level == "velocity":
        given["axes"] = str(rng.choice(("frame", "point")))
    point = body.at(*arm.tolist())
    if kind == "rows":
        return row_program(rng, name, point, hinges, given)
    if kind == "orientation" and level == "position":
        return fm.ProgrammedOrientation(name, point, **given, **motion(rng, 3, level))
    make = fm.ProgrammedPoint if kind == "point" else fm.ProgrammedOrientation
    return make(name, point, directions=letters, **given, **motion(rng, len(letters), level))


def length_program(rng: Rng, name: str, ground: Any, body: Any, poses: dict[str, Any]) -> fm.ProgrammedLength:
    """The distance of a point of a body from one of the ground, along a path or by an input."""
    arm, (p, R) = rng.uniform(-0.4, 0.4, 3), poses[body.name]
    far = rng.uniform(-1, 1, 3) + np.array((0.0, 0.0, 1.5))
    ends, length = (ground.at(*(p + far).tolist()), body.at(*arm.tolist())), float(np.linalg.norm(far - R @ arm))
    if rng.random() < 0.4:
        return fm.ProgrammedLength(name, *ends, input="eta", cutoff=float(rng.uniform(5, 30)), start=length)
    path = fm.Path.quintic([0.0, float(rng.uniform(0.3, 0.6))], [length, length + float(rng.uniform(-0.1, 0.1))])
    return fm.ProgrammedLength(name, *ends, path=path)


def motion(rng: Rng, count: int, level: str) -> dict[str, Any]:
    """Paths from near zero, or inputs that stay at their start values."""
    low = rng.uniform(-0.1, 0.1, (2, count)).tolist()
    if rng.random() < 0.3:
        how = "kappa_dot" if level == "position" and rng.random() < 0.5 else "eta"
        cutoff = {"cutoff": float(rng.uniform(5, 30))} if how == "eta" else {}
        return {"input": how, "start": low[0], "rate": low[1], **cutoff}
    T = float(rng.uniform(0.3, 0.6))
    return {"path": tuple(fm.Path.quintic([0.0, T], [a, b]) for a, b in zip(*low, strict=True))}


def hinge_program(rng: Rng, name: str, hinges: list[Any]) -> fm.ProgrammedJoint:
    """The coordinate of a hinge or its rate; now and then a drive realises it."""
    one, T = hinges[rng.integers(len(hinges))], float(rng.uniform(0.3, 0.6))
    drives = {"drives": (hinges[rng.integers(len(hinges))],), "insist": True} if rng.random() < 0.4 else {}
    level = "velocity" if rng.random() < 0.3 else "position"
    here = one.q0 if level == "position" else one.u0
    path = fm.Path.quintic([0.0, T], [here, here + float(rng.uniform(-0.1, 0.1))])
    return fm.ProgrammedJoint(name, one, path=path, of=level, transition=0.4, **drives)


def row_program(rng: Rng, name: str, point: fm.Point, hinges: list[Any], given: dict[str, Any]) -> Any:
    """A combination of velocities, which changes with time or with a hinge."""
    rows = rng.uniform(-1, 1, (1, 6))
    turning = [one for one in hinges if isinstance(one, fm.Revolute)]
    if turning and rng.random() < 0.3:
        given |= {"slopes": 0.3 * rng.uniform(-1, 1, (1, 6)), "by": turning[rng.integers(len(turning))]}
    elif rng.random() < 0.3:
        given |= {"slopes": 0.3 * rng.uniform(-1, 1, (1, 6)), "by": fm.Path.polynomial(0.0, 1.0)}
    return fm.ProgrammedVelocity(name, point, rows=rows, **given, **motion(rng, 1, "velocity"))
