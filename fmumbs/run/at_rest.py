"""The mechanism whose equilibrium is computed: excited modes stand still, and friction drops out of the laws."""

from collections.abc import Collection
from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.polynomial import Polynomial

from fmumbs.mechanism import Coupling, ForceLaw, Joint, JointBase, Law, Mode, Model, Piece
from fmumbs.mechanism.forces import Force
from fmumbs.mechanism.joints._multi_mode import MultiModeJoint

_POWERS = 6


def at_rest(model: Model, relaxed: float = 0.0, geared: Collection[str] = ()) -> Model:
    """A model with excited modes locked where they are at t = 0, and with laws that depend on the position alone.

    relaxed: a time squared [s2]; the joints named in `geared` have their stiffness times this as rotor inertia besides.
    """
    still = Model(model.name, model.gravity)
    joints = {j.name: _geared(_locked(_smooth(j)), relaxed if j.name in geared else 0.0) for j in model.joints}
    still.add(*model.bodies, *joints.values(), *(e for e in model.elements if isinstance(e, Force)))
    for coupling in model.couplings:
        left = _recoupled(coupling, joints)
        if left is not None:
            still.add(left)
    for law in model.laws:
        on = joints.get(law.on.name, law.on) if isinstance(law.on, JointBase) else law.on
        still.add(Law(law.name, on, mode=law.mode, pieces=_without_velocity(law)))
    return still


def _smooth(joint: JointBase) -> JointBase:
    return joint if joint.friction is None else replace(joint, friction=None)


def _geared(joint: JointBase, relaxed: float) -> JointBase:
    if relaxed == 0.0:
        return joint
    pairs = zip(joint.law("stiffness"), joint.law("rotor_inertia"), strict=True)
    rotors = [own + relaxed * stiffness for stiffness, own in pairs]
    return replace(joint, rotor_inertia=rotors if isinstance(joint, MultiModeJoint) else rotors[0])


def can_be_geared(joint: JointBase) -> bool:
    """Whether it has springs on scalar modes of the spanning tree, beside which a rotor inertia can stand."""
    scalar = all(mode.kind != "ball" for mode in joint.modes) and not joint.velocity_rows and not joint.excited_modes
    return scalar and any(joint.law("stiffness"))


def _locked(joint: JointBase) -> JointBase:
    if not isinstance(joint, Joint) or not joint.excited_modes:
        return joint
    modes = tuple(
        Mode(m.kind, m.axis, role="locked", pitch=m.pitch, value=m.prescribed()[0]) if m.role == "excited" else m
        for m in joint.modes
    )
    return replace(joint, modes=modes)


def _recoupled(coupling: Coupling, joints: dict[str, JointBase]) -> Coupling | None:
    """The coupling of the free modes; what excited ones add goes into the offset."""
    offset, terms = coupling.constant, []
    for joint, mode, ratio in coupling.coordinates:
        free = len(joint.free_modes)
        if mode <= free:
            terms.append((joints[joint.name], mode, ratio))
        else:
            offset -= ratio * joint.excited_modes[mode - 1 - free].prescribed()[0]
    return Coupling(coupling.name, terms, offset=offset) if terms else None


def _without_velocity(law: ForceLaw) -> tuple[Piece, ...]:
    """Of the position alone: the mean of the forces at small velocities of either sign, which friction drops out of."""
    bounds = sorted({bound for piece in law.pieces for bound in (piece.lower, piece.upper)})
    found = []
    for lower, upper in pairwise([-np.inf, *(b for b in bounds if np.isfinite(b)), np.inf]):
        here = [piece for piece in law.pieces if piece.lower <= lower and upper <= piece.upper]
        origin = next((b for b in (lower, upper) if np.isfinite(b)), here[0].origin if here else 0.0)
        force = Polynomial([0.0])
        for piece in here:
            sides = (piece.v_lower <= 0.0 < piece.v_upper) + (piece.v_lower < 0.0 <= piece.v_upper)
            own = Polynomial([row[0] for row in piece.coefficients])
            force = force + sides / 2 * own(Polynomial([origin - piece.origin, 1.0]))
        found.append(Piece([[c] for c in force.coef[:_POWERS]], lower=lower, upper=upper, origin=origin))
    return tuple(found)
