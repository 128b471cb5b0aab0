"""What an MJCF model has beside bodies and joints: controls, equalities, friction, gravity compensation.

An equality of joints is q1 - q1_0 = a0 + a1 (q2 - q2_0), with the positions of the file as q_0.
"""

from __future__ import annotations

import numpy as np

from fmumbs.errors import ModelError
from fmumbs.mechanism import Control, Coupling, JointBase, Law, Load, Prismatic, Spherical, Weld
from fmumbs.readers.mjcf_actuators import ONE_AXIS
from fmumbs.readers.mjcf_bodies import Mjcf
from fmumbs.readers.robots import Built, Report
from fmumbs.spatial import Rotation, Transform

_CONNECT, _WELD, _JOINT = range(3)  # mjtEq
_EQUALITIES = ("connect", "weld", "joint", "tendon", "flex", "flexvert", "flexstrain", "distance")
_BODY = 1  # mjtObj


def add_elements(reader: Mjcf, built: Built, report: Report) -> None:
    """Controls, friction, gravity compensation and equalities."""
    _add_controls(reader, built, report)
    _add_friction(reader, built)
    _add_gravity_compensation(reader, built)
    if "equality" in reader.disabled:
        if reader.m.neq:
            reader.row("left out", "the equalities", "they are disabled in the file")
        return
    for k in range(reader.m.neq):
        _add_equality(reader, built, k)


def _add_controls(reader: Mjcf, built: Built, report: Report) -> None:
    m = reader.m
    for j, servos in reader.servos.items():
        found = reader.joint_of(j, built)
        for servo in servos:
            given = reader.name("actuator", servo.number)
            if found is None:
                reader.row("left out", f"actuator '{given}'", "its joint is fixed")
                continue
            joint, place = found
            what = "f" if isinstance(joint, Prismatic) else "tau"
            variable = f"{joint.name}.{what}" if place.alone else f"{joint.name}.tau[{place.mode}]"
            limited, bounds = m.actuator_ctrllimited[servo.number], m.actuator_ctrlrange[servo.number].tolist()
            low, high = bounds if limited else (None, None)
            gains = servo.factor, servo.unit, servo.stiffness, servo.damping
            report.controls[given] = Control(variable, *gains, low, high)
            text = f"the input {variable} is {servo.factor:g} times its command{' in ' * bool(servo.unit)}{servo.unit}"
            reader.row("taken", f"actuator '{given}'", text)
            if m.actuator_forcelimited[servo.number]:
                low, high = m.actuator_forcerange[servo.number]
                reader.row("left out", f"actuator '{given}'", f"its force is not limited to {low:g} to {high:g}")


def _add_friction(reader: Mjcf, built: Built) -> None:
    m = reader.m
    for dof in np.flatnonzero(m.dof_frictionloss):
        j = int(m.dof_jntid[dof])
        what, force = f"joint '{reader.joint_names[j]}'", float(m.dof_frictionloss[dof])
        found = reader.joint_of(j, built)
        if "frictionloss" in reader.disabled or found is None:
            reader.row("left out", what, "frictionloss, which is disabled or of a joint that is fixed")
        elif m.jnt_type[j] not in ONE_AXIS:
            reader.row("left out", what, "frictionloss, which is for hinges and slides")
        else:
            joint, place = found
            law = built.names.new(f"{joint.name}_friction{'' if place.alone else place.mode}", "friction")
            built.model.add(Law.brake(law, joint, force, mode=place.mode))
            built.source_names[law] = reader.joint_names[j]
            reader.row("taken", what, f"frictionloss of {force:g}, by the law '{law}'")


def _add_gravity_compensation(reader: Mjcf, built: Built) -> None:
    m, g = reader.m, reader.gravity()
    for body in np.flatnonzero(m.body_gravcomp):
        place = reader.point(int(body), Transform(None, m.body_ipos[body]), built)
        name = reader.link_names[body]
        if place.body.name == "ground" or not g.any() or not m.body_mass[body]:
            continue
        load = built.names.new(f"{name}_gravcomp", "gravcomp")
        force = -float(m.body_gravcomp[body] * m.body_mass[body]) * g
        built.model.add(Load(load, place, force=force.tolist()))
        reader.row("taken", f"body '{name}'", f"gravity compensation, by the load '{load}'")


# Equalities -------------------------------------------------------------------------------------------------


def _add_equality(reader: Mjcf, built: Built, k: int) -> None:
    m, kind = reader.m, int(reader.m.eq_type[k])
    given = reader.name("eq", k)
    what = f"equality {_EQUALITIES[kind]} '{given}'"
    if not m.eq_active0[k]:
        reader.row("left out", what, "it is not active at the start")
        return
    if kind not in (_CONNECT, _WELD, _JOINT):
        reader.row("left out", what, "only connect, weld and those of joints are read")
        return
    add = _coupled if kind == _JOINT else _closed
    try:
        reason, name = add(reader, built, k, given)
    except ModelError as error:
        reason, name = str(error), ""
    if reason:
        reader.row("left out", what, reason)
    else:
        built.source_names[name] = given
        reader.row("taken", what, f"by '{name}', which holds exactly, where MuJoCo's yields")


def _coupled(reader: Mjcf, built: Built, k: int, given: str) -> tuple[str, str]:
    m = reader.m
    a = [float(v) for v in m.eq_data[k][:5]]
    if any(a[2:]):
        return "it is not linear", ""
    first, second = int(m.eq_obj1id[k]), int(m.eq_obj2id[k])
    one, other = reader.joint_of(first, built), None if second < 0 else reader.joint_of(second, built)
    if one is None or (second >= 0 and other is None):
        return "its joint is fixed", ""
    offset = float(m.qpos0[m.jnt_qposadr[first]]) + a[0]
    terms: list[tuple[JointBase, int, float]] = [(one[0], one[1].mode, 1.0)]
    if other is not None and a[1]:
        offset -= a[1] * float(m.qpos0[m.jnt_qposadr[second]])
        terms.append((other[0], other[1].mode, -a[1]))
    name = built.names.new(given, "coupling", "_equality")
    built.model.add(Coupling(name, terms, offset=offset))
    return "", name


def _closed(reader: Mjcf, built: Built, k: int, given: str) -> tuple[str, str]:
    """A ball or a weld between points of two bodies."""
    m, weld = reader.m, reader.m.eq_type[k] == _WELD
    ids, data = (int(m.eq_obj1id[k]), int(m.eq_obj2id[k])), m.eq_data[k]
    if m.eq_objtype[k] == _BODY:
        turned = Rotation.quaternion(*data[6:10].tolist()) if weld else None
        at = (data[3:6], data[:3]) if weld else (data[:3], data[3:6])
        bodies, frames = ids, (Transform(turned, at[0]), Transform(None, at[1]))
    else:
        bodies = int(m.site_bodyid[ids[0]]), int(m.site_bodyid[ids[1]])
        frames = tuple(  # type: ignore[assignment]
            Transform(Rotation.quaternion(*m.site_quat[one].tolist()) if weld else None, m.site_pos[one]) for one in ids
        )
    if any(m.body_mocapid[body] >= 0 for body in bodies):
        return "one of its bodies is moved by a user in MuJoCo, so that it would hold the robot; drive its joints", ""
    F, M = (reader.point(body, X, built) for body, X in zip(bodies, frames, strict=True))
    if F.body.name == M.body.name or {F.body.name, M.body.name} <= _still(reader, built):
        return "both of its bodies are one here", ""
    name = built.names.new(given, "loop", "_equality")
    built.model.add(Weld(name, F, M, cut=True) if weld else Spherical(name, F, M, cut=True))
    return "", name


def _still(reader: Mjcf, built: Built) -> set[str]:
    """The ground, and the body of what is fixed to it."""
    root = built.places[reader.link_names[0]][0]
    return {"ground", "ground" if root is None else root.name}


# What is left out -----------------------------------------------------------------------------------------------

_BY_NAME = {  # kind of names: how many, what it is, and why it is left out
    "tendon": ("ntendon", "tendon", "tendons are not read"),
    "sensor": ("nsensor", "sensor", "every variable of the model can be an output"),
    "key": ("nkey", "keyframe", "the start is that of the file's positions"),
    "flex": ("nflex", "flex", "soft bodies are not read, so that its points move freely"),
    "plugin": ("nplugin", "plugin", "plugins are not read"),
    "pair": ("npair", "contact pair", "contact is not computed"),
}
_POLYNOMIALS = ("dof_dampingpoly", "jnt_stiffnesspoly", "jnt_springyield")


def leave_out(reader: Mjcf, report: Report) -> None:
    """Rows for all that has no part in the model."""
    m = reader.m
    for kind, (count, what, why) in _BY_NAME.items():
        for i in range(int(getattr(m, count, 0))):
            report.row("left out", f"{what} '{reader.name(kind, i)}'", why)
    touching = int(np.count_nonzero((m.geom_contype != 0) | (m.geom_conaffinity != 0)))
    if touching:
        report.row("left out", "contact", f"{touching} geoms could touch, and contact is not computed")
    planes = int(np.count_nonzero(~np.isin(m.geom_type, (2, 3, 4, 5, 6, 7))))
    for number, what, why in (
        (planes, "geoms", "planes, height fields and distance fields are not drawn"),
        (int(m.ncam), "cameras", "the view has its own"),
        (int(m.nlight), "lights", "the view has its own"),
        (int(m.nexclude), "contact exclusions", "contact is not computed"),
    ):
        if number:
            report.row("left out", what, f"{number}: {why}")
    if m.opt.density or m.opt.viscosity or np.any(m.opt.wind):
        report.row("left out", "option", "forces of the air or of a fluid (density, viscosity, wind)")
    for field in _POLYNOMIALS:
        values = np.asarray(getattr(m, field, np.zeros(0)))
        if values.any():
            report.row("left out", field, "springs and dampers that are not linear keep their linear part alone")
