"""Friction of joints: its modes, bristles, parameters and inputs (core/motion/friction.c)."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from fmumbs.compiler.links import Links
from fmumbs.mechanism import Cylindrical, JointBase, Universal

PARAMETERS = ("static", "kinetic", "stribeck", "stiffness", "damping", "viscous", "preload", "scale")


class _Contact(NamedTuple):
    """One bristle of a joint: its name's end, its modes from `first` on, and the sliding velocity of each per unit."""

    suffix: str
    first: int
    arms: tuple[float, ...]
    linear: bool


def _contacts(joint: JointBase) -> Iterator[_Contact]:
    assert joint.friction is not None
    if isinstance(joint, Universal):
        for i in range(2):
            yield _Contact(f"[{i + 1}]", i, (1.0,), False)
    elif isinstance(joint, Cylindrical):
        yield _Contact("", 0, (joint.friction.radius, 1.0), True)
    else:
        yield _Contact("", 0, (1.0,) * joint.velocities, joint.free_modes[0].linear)


def add_frictions(out: Links, joints: list[JointBase], put: Callable[[str], int]) -> None:
    """Adds the friction of all joints, after their rows; put: stores a text."""
    controls: list[float] = []

    def control(wanted: bool, start: float) -> int:
        if wanted:
            controls.append(start)
        return len(controls) - 1 if wanted else -1

    found = 0
    for index, joint in enumerate(joints):
        friction = joint.friction
        for contact in _contacts(joint) if friction is not None else ():
            assert friction is not None
            out.add(
                friction_name=put(f"{joint.name}.friction{contact.suffix}"),
                friction_joint=index,
                friction_u=out.rows["joint_u"][index] + contact.first,
                friction_count=len(contact.arms),
                friction_z=out.positions,
                friction_arm=[*contact.arms, *[0.0] * (3 - len(contact.arms))],
                friction_linear=int(contact.linear),
                friction_pressed=control(friction.pressed, 0.0),
                friction_scaled=control(friction.scaled, 1.0),
                friction_own=[0.0, 0.0, 0.0],
                friction_axis=[0.0, 0.0, 0.0],
                friction_on_M=0,
                **{f"friction_{name}": getattr(friction, name) for name in PARAMETERS},
            )
            for _ in contact.arms:
                out.add(start_p=0.0, bristle_friction=found)
            out.positions += len(contact.arms)
            found += 1
    out.rows["control_start"] = controls
