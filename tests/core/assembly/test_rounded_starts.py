"""Starts that are consistent to some printed digits: of one joint's values, those that hold are the ones with the
largest leverage, so that the others change by little more than the rounding."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fmumbs as fm
from fmumbs.mechanism.given import UnsetNumber, UnsetNumbers
from fmumbs.mechanism.joints.closing import Closing
from oracle import Oracle
from support.closed import ONLY_CLOSING, PRODUCTS, at, axis, body, closing_joint, orientation
from support.closed_agreement import started

UNITS = 10.0  # of the last printed digit, by which a value may change; half of one is the rounding itself
CUTS = (*ONLY_CLOSING, "spherical", "universal", "planar", "cylindrical", "revolute", "prismatic")


def several(rng: np.random.Generator, name: str, F: fm.Point, M: fm.Point) -> Any:
    """A joint of several coordinates at a random position, with random velocities."""
    a, b = rng.uniform(-1, 1, (2, 3))
    match rng.choice(("free", "free", "spherical", "planar", "cylindrical", "universal", "product")):
        case "free":
            q0 = (*rng.uniform(-1, 1, 3), *(v := rng.normal(size=4)) / np.linalg.norm(v))
            return fm.Free(name, F, M, q0=q0, u0=rng.uniform(-1, 1, 6))
        case "spherical":
            v = rng.normal(size=4)
            return fm.Spherical(name, F, M, q0=v / np.linalg.norm(v), u0=rng.uniform(-1, 1, 3))
        case "planar":
            return fm.Planar(name, F, M, normal=axis(rng), q0=rng.uniform(-1, 1, 3), u0=rng.uniform(-1, 1, 3))
        case "cylindrical":
            return fm.Cylindrical(name, F, M, axis=axis(rng), q0=rng.uniform(-1, 1, 2), u0=rng.uniform(-1, 1, 2))
        case "universal":
            second = tuple(np.cross(a, b))
            return fm.Universal(name, F, M, axes=(tuple(a), second), q0=rng.uniform(-1, 1, 2), u0=rng.uniform(-1, 1, 2))
        case _:
            modes = PRODUCTS[str(rng.choice(tuple(PRODUCTS)))]
            n = sum(mode.free for mode in modes)
            return fm.Joint(name, F, M, modes=modes, q0=rng.uniform(-1, 1, n), u0=rng.uniform(-1, 1, n))


def as_guess(joint: Any, q: Any = None, u: Any = None) -> Any:
    q, u = joint.q0 if q is None else q, joint.u0 if u is None else u
    if isinstance(joint.q0, float):
        return replace(joint, q0=UnsetNumber(np.ravel(q)[0]), u0=UnsetNumber(np.ravel(u)[0]))
    return replace(joint, q0=UnsetNumbers(map(float, q)), u0=UnsetNumbers(map(float, u)))


def mechanism(seed: int) -> fm.Model:
    """A chain whose joints are guesses, closed by a joint or two; J has several coordinates."""
    rng = np.random.default_rng(seed)
    ground = fm.Model("ground").ground
    bodies, joints = [body(rng, f"b{i}") for i in range(int(rng.integers(1, 4)))], []
    which = int(rng.integers(len(bodies)))
    for i, new in enumerate(bodies):
        F = at(bodies[i - 1] if i else ground, rng.uniform(-1, 1, 3), orientation(rng))
        M = at(new, rng.uniform(-1, 1, 3), orientation(rng))
        joints.append(as_guess(several(rng, "J" if i == which else f"j{i}", F, M)))
    tree = fm.Model("tree")
    tree.add(*bodies, *joints)
    frames = dict(Oracle(tree).state().frame)
    kinds = rng.choice(CUTS, rng.integers(1, 3))
    closing = [closing_joint(rng, str(kind), f"c{i}", (ground, bodies[-1]), frames) for i, kind in enumerate(kinds)]
    model = fm.Model("rounded", gravity=(0, 0, 0))
    model.add(*bodies, *joints, *(joint if isinstance(joint, Closing) else as_guess(joint) for joint in closing))
    return model


def start_of(solver: fm.Solver, joint: Any) -> tuple[np.ndarray, np.ndarray]:
    suffixes = {fm.Free: ("r q", "v w"), fm.Spherical: ("q", "w")}.get(type(joint), ("q", "qd"))
    q, u = (np.concatenate([np.ravel(solver.get(f"{joint.name}.{one}")) for one in s.split()]) for s in suffixes)
    return q, u


def altered(seed: int, digits: int) -> float:
    """By how many units of the last printed digit J's rounded start is changed, the most of all its numbers."""
    model = mechanism(seed)
    near, given = started(model), fm.Model("given", gravity=(0, 0, 0))
    state = {joint.name: start_of(near, joint) for joint in model.joints if not isinstance(joint, Closing)}
    q, u = state["J"] = tuple(np.round(values, digits) for values in state["J"])
    joints = [as_guess(joint, *state[joint.name]) if joint.name in state else joint for joint in model.joints]
    carries = any(not isinstance(joint, Closing) for joint in model.joints[len(model.bodies) :])
    cut = seed % 2 == 1 and carries and not isinstance(model["J"], fm.Free | fm.Joint)
    given.add(*model.bodies, *(replace(joint, q0=q, u0=u, cut=cut) if joint.name == "J" else joint for joint in joints))
    found = start_of(started(given), given["J"])
    if len(q) in (4, 7):  # a quaternion is made unit, and its sign is free
        q[-4:] /= np.linalg.norm(q[-4:])
        q[-4:] *= np.sign(q[-4:] @ found[0][-4:])
    return float(max(np.abs(found[0] - q).max(), np.abs(found[1] - u).max()) * 10**digits)


SEEDS = (*range(24), 43, 115, 207, 250, 273, 333, 352, 399, 450, 265)
"""43 to 450: component order amplifies their rounding; 265: the first of its guesses lead to a minimum of the gap."""


@pytest.mark.parametrize("seed", SEEDS)
def test_rounded_starts_change_by_little_more_than_their_rounding(seed: int) -> None:
    assert altered(seed, 4 + seed % 5) <= UNITS


@pytest.mark.parametrize("along", range(3))
def test_positions_across_a_rod_hold_and_the_one_along_it_changes(along: int) -> None:
    """Whichever comes first in the joint: a rod of 2 m that is a hundredth off its axis."""
    r = np.roll((2 * np.cos(0.01), 2 * np.sin(0.01) / np.sqrt(2), 2 * np.sin(0.01) / np.sqrt(2)), along)
    v = np.roll((0.0, 1.0, -1.0), along)
    model = fm.Model("rod")
    body = fm.Body("b", mass=1, inertia=(1, 1, 1))
    q0 = (*np.round(r, 6), 1, 0, 0, 0)
    model.add(body, fm.Free("J", model.ground.at(), body.at(), q0=q0, u0=(*v, 0, 0, 0)))
    model.add(fm.Distance("C", model.ground.at(), body.at(), length=2.0))
    solver = started(model)
    across = [k for k in range(3) if k != along]
    assert_allclose(solver.get("J.r")[across], np.array(q0[:3])[across], rtol=0, atol=0)
    assert_allclose(solver.get("J.v")[across], v[across], rtol=0, atol=0)
    assert {change.name for change in solver.start_changes} <= {f"J.r[{along + 1}]"}
    assert_allclose(solver.get("J.r"), r, rtol=0, atol=1e-6)


def test_of_coordinates_with_equal_leverage_the_first_holds() -> None:
    """A rod along the diagonal of a plane: x and y have the same leverage."""
    model = fm.Model("diagonal")
    body = fm.Body("b", mass=1, inertia=(1, 1, 1))
    model.add(body, fm.Planar("J", model.ground.at(), body.at(), normal="z", q0=(1.0, 1.2, 0.3)))
    model.add(fm.Distance("C", model.ground.at(), body.at(), length=np.sqrt(2.0)))
    solver = started(model)
    assert_allclose(solver.get("J.q"), (1.0, 1.0, 0.3), rtol=0, atol=1e-12)
    assert [change.name for change in solver.start_changes] == ["J.q[2]"]
