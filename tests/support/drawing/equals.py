"""Elements in place of others that do the same."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np

import fmumbs as fm
from fmumbs.mechanism.joints import JointBase
from support.drawing.rebuilding import Rebuilding, own_elements, rebuilt, uses

Rng = np.random.Generator
NAMED = (fm.Revolute, fm.Prismatic, fm.Screw, fm.Cylindrical, fm.Universal, fm.Planar)
COMMON = ("F", "M", "held", "cut", "stiffness", "damping", "rest", "rotor_inertia", "tau")


def common(one: Any) -> dict[str, Any]:
    """What every joint with scalar modes takes, by modes."""
    given = {name: getattr(one, name) for name in ("F", "M", "held", "cut")}
    n = len(one.free_modes)
    return given | {name: one.law(name) if n == one.velocities else getattr(one, name) for name in COMMON[4:8]}


def as_product(one: Any) -> Any:
    """A named joint as the product of its modes; a bushing without matrices too."""
    plain = type(one) in NAMED or (isinstance(one, fm.Bushing) and one.stiffness_matrix is None)
    if not plain or one.friction is not None or (isinstance(one, fm.Bushing) and one.damping_matrix is not None):
        return one
    q0, u0 = np.ravel(one.q0), np.ravel(one.u0)
    return fm.Joint(one.name, modes=one.modes, q0=q0, u0=u0, tau=one.applied, **common(one))


def weld_as_product(one: Any) -> Any:
    """A weld as a joint whose modes are all locked."""
    if type(one) is not fm.Weld:
        return one
    modes = [fm.Turn("z", role="locked", value=0.7), fm.Turn("-z", role="locked", value=0.7)]
    return fm.Joint(one.name, one.F, one.M, modes=modes, cut=one.cut)


def springs_as_law(rng: Rng, one: Any) -> Any:
    """The spring and the damper of a joint in the tree as a law on it."""
    if not isinstance(one, fm.Revolute | fm.Prismatic) or one.name[0] != "j" or not (one.stiffness or one.damping):
        return one
    k, d, rest = float(one.stiffness), float(one.damping), float(one.rest)
    bare = replace(one, stiffness=0.0, damping=0.0, rest=0.0)
    return [bare, fm.Law.polynomial(f"{one.name}_law", bare, [[k * rest, -d], [-k]])]


def line_spring_as_law(one: Any) -> Any:
    """A spring between two points as a law on one without stiffness."""
    if type(one) is not fm.Spring or not (one.stiffness or one.damping):
        return one
    k, d, rest = one.stiffness, one.damping, one.free_length
    bare = replace(one, stiffness=0.0, damping=0.0, free_length=0.0)
    return [bare, fm.Law.polynomial(f"{one.name}_law", bare, [[-k * rest, d], [k]])]


def load_elsewhere(rng: Rng, one: Any) -> Any:
    """A load as two halves at one place; its moment does not change."""
    if type(one) is not fm.Load:
        return one
    half = {"force": np.array(one.force) / 2, "torque": np.array(one.torque) / 2}
    return [replace(one, **half), replace(one, name=f"{one.name}_too", **half)]


def diagonal_as_matrix(one: Any) -> Any:
    """A bushing's six springs as matrices."""
    if not isinstance(one, fm.Bushing) or one.stiffness_matrix is not None:
        return one
    if not np.any(one.stiffness) and not np.any(one.damping):
        return one
    given = {f.name: getattr(one, f.name) for f in fields(one)} | {"stiffness": 0.0, "damping": 0.0}
    given |= {"stiffness_matrix": np.diag(one.law("stiffness")), "damping_matrix": np.diag(one.law("damping"))}
    return fm.Bushing(**given)


def spring_beside(one: Any) -> Any:
    """The spring and the damper of a joint in a bushing beside it, along its axis: turned frames make that their x."""
    if not isinstance(one, fm.Revolute | fm.Prismatic) or not (one.stiffness or one.damping):
        return one
    x = np.array(one.free_modes[0].axis)
    y = np.cross(np.eye(3)[np.abs(x).argmin()], x)
    y /= np.linalg.norm(y)
    Q = fm.Transform(fm.Rotation.columns(x, y, np.cross(x, y)))
    at = 0 if one.free_modes[0].linear else 3
    more = {"stiffness": one.stiffness, "damping": one.damping, "rest": one.rest, "q0": one.q0, "u0": one.u0}
    six = {name: tuple(float(value) if k == at else 0.0 for k in range(6)) for name, value in more.items()}
    ends = (replace(P, X_BP=P.X_BP @ Q, name=None) for P in (one.F, one.M))
    bare = replace(one, stiffness=0.0, damping=0.0, rest=0.0)
    return [bare, fm.Bushing(f"{one.name}_beside", *ends, cut=True, **six)]


def twice_the_terms(one: Any) -> Any:
    """A coupling multiplied by a number is the same coupling."""
    if type(one) is not fm.Coupling:
        return one
    terms = [(joint, mode, -3.0 * ratio) for joint, mode, ratio in one.coordinates]
    return replace(one, terms=terms, offset=None if one.offset is None else -3.0 * one.offset)


def coupling_as_cam(one: Any) -> Any:
    """A coupling of two coordinates as a cam with a straight profile."""
    if type(one) is not fm.Coupling or len(one.terms) != 2:
        return one
    (B, mode_B, ratio_B), (A, mode_A, ratio_A) = one.coordinates
    table = [(-0.5, 0.5 * ratio_A / ratio_B), (0.25, -0.25 * ratio_A / ratio_B)]
    return fm.Cam(one.name, A, B, table, mode_A=mode_A, mode_B=mode_B, offset=one.constant / ratio_B)


def brake_as_pieces(one: Any) -> Any:
    """A law in twice as many pieces."""
    if not isinstance(one, fm.Law):
        return one
    pieces = []
    for piece in one.pieces:
        low, high = max(piece.lower, -1e9), min(piece.upper, 1e9)
        middle = (low + high) / 2 + 0.01 * (high - low if high - low < 1e8 else 1.0)
        pieces += [replace(piece, upper=middle), replace(piece, lower=middle)]
    return replace(one, pieces=pieces)


def support_as_joints(one: Any) -> Any:
    """A flexible support as the joint of its base and those of its elements."""
    return list(one.parts) if isinstance(one, fm.FlexibleSupport) else one


EQUALS = {
    "product": lambda rng, one: as_product(one),
    "weld": lambda rng, one: weld_as_product(one),
    "law": springs_as_law,
    "line spring": lambda rng, one: line_spring_as_law(one),
    "load": load_elsewhere,
    "matrix": lambda rng, one: diagonal_as_matrix(one),
    "beside": lambda rng, one: spring_beside(one),
    "coupling": lambda rng, one: twice_the_terms(one),
    "cam": lambda rng, one: coupling_as_cam(one),
    "support": lambda rng, one: support_as_joints(one),
    "pieces": lambda rng, one: brake_as_pieces(one),
}


def replaced(rng: Rng, model: fm.Model) -> fm.Model:
    """Each element by one of its equals, or left."""

    hinges = {pulley.joint.name for rope in model.ropes for pulley in rope.pulleys}

    def change(one: Any) -> Any:
        if one.name in hinges:  # of a pulley, an fm.Revolute
            return one
        for name in rng.permutation(sorted(EQUALS)):
            if rng.random() < 0.5:
                made = EQUALS[name](rng, one)
                if made is not one:
                    return made
        return one

    return rebuilt(model, change)


# Bodies split in two -------------------------------------------------------------------------------------------------


def split(rng: Rng, model: fm.Model) -> fm.Model:
    """Every other rigid body as two that are welded; what acts on it acts on either."""
    R, far = {}, {}
    for one in own_elements(model):
        if type(one) is fm.Body and rng.random() < 0.7:
            size = float(np.sqrt(np.trace(np.array(one.inertia)) / one.mass)) if one.mass else 1.0
            far[one.name], R[one.name] = rng.uniform(-1, 1, 3) * size, fm.Rotation.rpy(*rng.uniform(-2, 2, 3))

    def change(one: Any) -> Any:
        if type(one) is not fm.Body or one.name not in far:
            return one
        return halves(rng, one, R[one.name], far[one.name])

    def point(P: fm.Point) -> fm.Point:
        name = P.body.name
        if name not in far or rng.random() < 0.5:
            return P
        X = fm.Transform(R[name], far[name])
        return fm.Point(made[f"{name}_half"], X.inverse() @ P.X_BP)

    making = Rebuilding(model, change, point)
    made = making.bodies
    return making.model()


def halves(rng: Rng, one: fm.Body, R: fm.Rotation, far: Any) -> list[Any]:
    """A part of the body, the rest in a frame of its own, and the weld between them."""
    share, inertia = rng.uniform(0.3, 0.7), np.array(one.inertia)
    size = np.sqrt(np.linalg.eigvalsh(inertia)[0] / one.mass) if one.mass else 0.0
    d = 0.2 * size * rng.uniform(-1, 1, 3)
    first, second = one.com + (1 - share) * d, one.com - share * d
    apart = one.mass * share * (1 - share) * (d @ d * np.eye(3) - np.outer(d, d))
    rest = inertia - apart
    kept = replace(one, mass=share * one.mass, com=first, inertia=share * rest)
    A = R.matrix
    turned = A.T @ ((1 - share) * rest) @ A
    own = {"com": A.T @ (second - far), "inertia": (turned + turned.T) / 2}
    half = fm.Body(f"{one.name}_half", mass=(1 - share) * one.mass, measured=one.measured, **own)
    ends = kept.at(*far.tolist(), rotation=R), half.at()
    return [kept, half, fm.Weld(f"{one.name}_weld", *(ends if rng.random() < 0.5 else ends[::-1]))]


# The world turned, and sides exchanged ----------------------------------------------------------------------------


def moved(model: fm.Model, R: fm.Rotation, far: Any) -> fm.Model:
    """The whole world turned by R and moved by far, with gravity and loads."""
    X = fm.Transform(R, far)

    def point(P: fm.Point) -> fm.Point:
        return replace(P, X_BP=X @ P.X_BP) if P.body.name == "ground" else P

    def change(one: Any) -> Any:
        if isinstance(one, fm.Load) and one.axes == "world":
            return replace(one, force=R.matrix @ one.force, torque=R.matrix @ one.torque)
        return one

    return rebuilt(model, change, point, gravity=R.matrix @ np.array(model.gravity))


def swapped(rng: Rng, model: fm.Model) -> tuple[fm.Model, dict[str, bool]]:
    """Some joints with F and M exchanged, as products of the reversed modes; by name, whether it is."""
    used, found = uses(model), {}

    def change(one: Any) -> Any:
        if not isinstance(one, JointBase) or one.friction is not None or one.velocity_rows or rng.random() < 0.3:
            return one
        turned = reverse(one, bool(used.get(one.name)))
        if turned is not None:
            found[one.name] = True
        return turned if turned is not None else one

    return rebuilt(model, change), found


def reverse(one: Any, used: bool) -> Any:
    """The joint from M to F; None for a kind that has no reverse, or whose coordinates something else refers to."""
    ends = {"F": one.M, "M": one.F}
    if isinstance(one, fm.Weld | fm.Distance):
        return replace(one, **ends)
    if isinstance(one, fm.Spherical):
        w, *v = one.q0
        R = one.transform().rotation.matrix
        return replace(one, **ends, q0=(w, *(-x for x in v)), u0=tuple((-R @ np.array(one.u0)).tolist()))
    if used or one.excited_modes or not one.free_modes or any(mode.kind == "ball" for mode in one.modes) or one.coupled:
        return None
    back = [replace(mode, axis=tuple(-x for x in mode.axis)) for mode in reversed(one.modes)]
    laws = {name: tuple(reversed(one.law(name))) for name in COMMON[4:8]}
    start = {"q0": np.ravel(one.q0)[::-1], "u0": np.ravel(one.u0)[::-1], "tau": tuple(reversed(one.applied))}
    return fm.Joint(one.name, modes=back, held=one.held, cut=one.cut, **ends, **laws, **start)
