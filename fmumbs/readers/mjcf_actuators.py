"""Actuators of MJCF that become inputs of joints.

An actuator of gear g on a hinge or a slide has the length g q, and makes the force gain u + b0 + b1 g q + b2 g qd from
its command u, which acts on the joint by g: stiffness -g^2 b1, damping -g^2 b2, a constant g b0, and the input
g gain u.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fmumbs.readers.compiled_mjcf import Compiled
from fmumbs.readers.robots import Report

ONE_AXIS = (2, 3)  # mjtJoint: slide, hinge


@dataclass(frozen=True)
class Servo:
    """What an actuator does to its joint; factor: of the command."""

    number: int
    factor: float
    stiffness: float
    damping: float
    constant: float
    unit: str


def joint_servos(reader: Compiled, report: Report) -> dict[int, list[Servo]]:
    """The actuators that become inputs, by their joint; the others get a row."""
    m = reader.m
    found: dict[int, list[Servo]] = {}
    for i in range(m.nactuator):
        name = f"actuator '{reader.name('actuator', i)}'"
        reason = "actuation is disabled" if "actuation" in reader.disabled else _why_not(m, i)
        if reason:
            report.row("left out", name, reason)
            continue
        j = int(m.actuator_trnid[i][0])
        gear, gain = float(m.actuator_gear[i][0]), float(m.actuator_gainprm[i][0])
        b0, b1, b2 = (float(v) for v in m.actuator_biasprm[i][:3]) if m.actuator_biastype[i] else (0.0, 0.0, 0.0)
        turns = m.jnt_type[j] == 3
        unit = ""
        if gain and b1 == -gain:
            unit = "rad" if turns else "m"
        elif gain and not b1 and b2 == -gain:
            unit = "rad/s" if turns else "m/s"
        servo = Servo(i, gear * gain, 0.0 - gear * gear * b1, 0.0 - gear * gear * b2, gear * b0, unit)
        if servo.damping < 0.0:
            report.row("left out", name, "its bias grows with the velocity")
            continue
        found.setdefault(j, []).append(servo)
    return found


def _why_not(m: Any, i: int) -> str:
    """Why an actuator is left out, "" if it is not."""
    j = int(m.actuator_trnid[i][0])
    for reason, wrong in (
        ("only actuators of joints are read", m.actuator_trntype[i] not in (0, 1)),
        ("only actuators of hinges and slides are read", j < 0 or m.jnt_type[j] not in ONE_AXIS),
        ("it has several commands or outputs", m.actuator_ctrlnum[i] != 1 or m.actuator_outnum[i] != 1),
        ("it has states of its own, as a muscle or a filter", m.actuator_dyntype[i] != 0),
        ("its gain is not constant", m.actuator_gaintype[i] != 0),
        ("its bias is not affine", m.actuator_biastype[i] not in (0, 1)),
        ("it has damping or armature of its own", _any(m.actuator_damping[i], m.actuator_armature[i])),
        ("its command comes late", m.actuator_delay[i] != 0.0),
    ):
        if wrong:
            return reason
    return ""


def _any(*values: Any) -> bool:
    return any(np.any(value) for value in values)
