"""Friction of joints: its modes, bristles, parameters and inputs (core/motion/friction.c)."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from fmumbs.compiler.layout import lib
from fmumbs.compiler.links import Links
from fmumbs.errors import ModelError
from fmumbs.mechanism import JointBase

NOT_UNIQUE = lib.FM_NOT_UNIQUE
_ALONG = 1.0 - 1e-12
PARAMETERS = ("static", "kinetic", "stribeck", "stiffness", "damping", "viscous", "preload", "scale")


def add_frictions(out: Links, joints: list[JointBase], put: Callable[[str], int]) -> None:
    """Adds the friction of all joints, after their rows; put: stores a text."""
    controls: list[float] = out.rows.setdefault("control_start", [])

    def control(wanted: bool, start: float) -> int:
        if wanted:
            controls.append(start)
        return len(controls) - 1 if wanted else -1

    found = 0
    for index, joint in enumerate(joints):
        friction = joint.friction
        for contact in joint.contacts:
            assert friction is not None
            out.add(
                friction_name=put(f"{joint.name}.friction{contact.suffix}"),
                friction_joint=index,
                friction_u=out.rows["joint_u"][index] + contact.first,
                friction_count=len(contact.arms),
                friction_z=len(out.rows.get("bristle_friction", ())),
                friction_arm=[*contact.arms, *[0.0] * (3 - len(contact.arms))],
                friction_linear=int(contact.linear),
                friction_pressed=control(friction.pressed, 0.0),
                friction_scaled=control(friction.scaled, 1.0),
                friction_own=contact.own,
                friction_axis=contact.axis,
                friction_on_M=int(contact.on_M),
                **{f"friction_{name}": getattr(friction, name) for name in PARAMETERS},
            )
            for _ in contact.arms:
                out.add(start_z=0.0, bristle_friction=found)
            found += 1


def check_reactions(joints: list[JointBase], unique: NDArray[np.int32]) -> None:
    """Raises ModelError for friction on a reaction that is not unique; unique: (joints, 6), f and t in F's axes."""
    for joint, components in zip(joints, unique, strict=True):
        if joint.friction is None or joint.friction.insist:
            continue
        for contact in joint.contacts:
            if not any(contact.own):
                continue
            along = [abs(part) > _ALONG and not contact.on_M for part in contact.axis]  # nothing of it is across
            counts = [contact.own[1] > 0.0 or not along[i] for i in range(3)]
            wanted = [f"f[{i + 1}]" for i in range(3) if counts[i] and components[i] == NOT_UNIQUE]
            if contact.own[2]:
                wanted += [f"t[{i + 1}]" for i in range(3) if not along[i] and components[3 + i] == NOT_UNIQUE]
            if wanted:
                raise ModelError(
                    f"{joint.title} has friction on its own reaction, but this is not unique: "
                    f"self-stresses of the loops change {', '.join(wanted)}. Remove the redundancy as `fmumbs check` "
                    "shows, give a preload in place of own=True, or insist=True for the smallest reaction."
                )
