"""Stops with a restitution: mechanisms that are struck at once, and impulses by brute force.

The oracle's bodies have velocities nu, inertia M and rows J of all joints and couplings; the stops have the velocities
v = G nu. The impulses p of those that are touched change v by A p, from M dnu = G' p + J' lambda with J dnu = 0.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

import fmumbs as fm
from oracle import Oracle
from support.closed import state_of
from support.host import Host

Array = np.ndarray[Any, np.dtype[np.float64]]

GRAVITY = 10.0
REACH = -1.55
"""Where the stop of the rocker is [rad]."""
ROUND_OFF = 1e-9
"""Of velocities of the order of one: the oracle's rows are of complex steps, its solutions of dense factors."""


@dataclass
class Struck:
    """What an impact did. before, after: nu; v, left: velocities of the stops away from them; p: impulses along these.
    A: of these. e: restitutions. loss: by the core. off: what J allows, and momentum that no row explains.
    """

    v: Array
    left: Array
    p: Array
    A: Array
    e: Array
    gained: float
    loss: float
    off: float
    unexplained: float
    count: Array


def four_bar(e: float) -> fm.Model:
    """A crank, a coupler, and a rocker whose angle a stop ends; the crank turns."""
    model = fm.Model("four_bar", gravity=(0, 0, -GRAVITY))
    crank, rod, rocker = (
        fm.Body.rod(name, length=length, mass=mass)
        for name, length, mass in (("crank", 0.3, 0.5), ("rod", 1.0, 1.0), ("rocker", 0.7, 1.5))
    )
    tip = 0.3 * np.exp(2.07j)  # where rods of 1.0 and 0.7 m from there and from (1, 0) meet
    away, half = abs(tip - 1.0), (abs(tip - 1.0) ** 2 + 0.7**2 - 1.0) / (2 * abs(tip - 1.0))
    meet = 1.0 + (half - 1j * np.sqrt(0.7**2 - half**2)) * (tip - 1.0) / away
    A = fm.Revolute("A", model.ground.at(), crank.base, axis="y", q0=-2.07, u0=6.0)
    D = fm.Revolute("D", model.ground.at(1.0), rocker.base, axis="y", q0=-float(np.angle(meet - 1.0)))
    B = fm.Revolute("B", crank.tip, rod.base, axis="y", q0=2.07 - float(np.angle(meet - tip)))
    model.add(crank, rod, rocker, A, D, B, fm.Revolute("C", rod.tip, rocker.tip, axis="y"))
    model.add(fm.Stop("stop", D, upper=REACH, restitution=e))
    return model


def scalar_joints(model: fm.Model, solver: fm.Solver) -> list[Any]:
    """Joints of the tree that a stop can act on."""
    tree = set(solver.image.variables.names(solver.image.variables.positions()))
    return [j for j in model.joints if isinstance(j, fm.Revolute | fm.Prismatic) and f"{j.name}.q" in tree]


def with_stops(model: fm.Model, rng: np.random.Generator, restitutions: Any, most: int) -> tuple[fm.Model, list[Any]]:
    """The model with stops where some of its joints are, on the sides to which they move, or on any."""
    solver = started(model)
    able = scalar_joints(model, solver)
    rng.shuffle(able)
    stops = []
    for k, joint in enumerate(able[:most]):
        at = float(solver.get(f"{joint.name}.q"))
        upper = bool(solver.get(f"{joint.name}.qd") > 0.0) if rng.random() < 0.8 else bool(rng.random() < 0.5)
        ends = {"upper": at} if upper else {"lower": at}
        stops.append(fm.Stop(f"stop{k}", joint, restitution=float(rng.choice(restitutions)), **ends))
    model.add(*stops)
    return model, stops


def started(model: fm.Model, **options: Any) -> fm.Solver:
    solver = fm.Solver(fm.compile(model, everything=True, **options))
    solver.assemble()
    return solver


def strike(model: fm.Model, stops: list[Any], **options: Any) -> Struck:
    """The impact at the start of a model."""
    oracle, solver = Oracle(model), started(model, **options)
    state = state_of(solver, model)
    nu, energy = oracle.velocities(state), solver.get("solver.energy")
    M = oracle.inertia(state)
    J = np.vstack([oracle._rows(state, joint)[0] for joint in oracle.joints] + [np.zeros((0, len(nu)))])
    J = np.vstack([J, *(oracle.coupling_rows(state, one)[0] for one in model.couplings)])
    for whole in oracle.products.values():  # excited modes keep their velocities
        J = np.vstack([J, *(oracle.coordinates(state, part)[0] for part in whole.parts_that_are("excited"))])
    sign = np.array([1.0 if stop.upper is None else -1.0 for stop in stops])
    G = np.vstack([s * oracle.coordinates(state, stop.on)[0] for s, stop in zip(sign, stops, strict=True)])
    Host(solver)
    after = oracle.velocities(state_of(solver, model))
    p = sign * [float(solver.get(f"{stop.name}.impulse")) for stop in stops]
    zero = np.zeros((len(J), len(J)))
    K = np.block([[M, J.T], [J, zero]])  # carriers of products have no mass
    answer = np.linalg.lstsq(K, np.vstack([G.T, np.zeros((len(J), len(G)))]), rcond=1e-12)[0][: len(nu)]
    gone = M @ (after - nu) - G.T @ p
    rest = gone - J.T @ np.linalg.lstsq(J.T, gone, rcond=None)[0] if len(J) else gone
    return Struck(
        G @ nu, G @ after, p, G @ answer, np.array([stop.restitution for stop in stops]),
        float(solver.get("solver.energy") - energy), float(sum(solver.get(f"{stop.name}.loss") for stop in stops)),
        float(np.abs(J @ (after - nu)).max(initial=0.0)), float(np.abs(rest).max()),
        np.array([solver.get(f"{stop.name}.impacts") for stop in stops]),
    )  # fmt: skip


def impulses(A: Array, v: Array, e: Array) -> Array:
    """p >= 0 with w = v + A p + e min(v, 0) >= 0 and p w = 0: of all sets of stops the one that fits."""
    want = v + e * np.minimum(v, 0.0)
    worst, best = np.inf, np.zeros(len(v))
    for chosen in product((False, True), repeat=len(v)):
        on = np.array(chosen)
        p = np.zeros(len(v))
        if on.any():
            p[on] = np.linalg.lstsq(A[np.ix_(on, on)], -want[on], rcond=1e-10)[0]
        w = want + A @ p
        off = max(float(-p.min(initial=0.0)), float(-w.min(initial=0.0)), float(np.abs(p * w).max(initial=0.0)))
        if off < worst:
            worst, best = off, p
    return best if worst < ROUND_OFF else impulses(A, v, 0.0 * e)  # no room to rebound


def gain(A: Array, v: Array, p: Array) -> float:
    return float(p @ v + 0.5 * p @ A @ p)


def stack(masses: Sequence[float]) -> fm.Model:
    """Masses above one another, each on a slide on the one before, with a hard stop 0.1 m above it."""
    model = fm.Model("stack", gravity=(0, 0, -GRAVITY))
    at: Any = model.ground.at()
    for i, mass in enumerate(masses):
        body = fm.Body(f"b{i}", mass=mass, inertia=(0.1, 0.1, 0.1))
        slide = fm.Prismatic(f"s{i}", at, body.at(), axis="z", q0=0.3 + 0.1 * i)
        model.add(body, slide, fm.Stop(f"c{i}", slide, lower=0.1, restitution=0.4))
        at = body.at()
    return model
