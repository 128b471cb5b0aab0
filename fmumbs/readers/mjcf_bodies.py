"""Bodies and joints of MJCF, from the model that MuJoCo compiles.

A body stands at X_PB in its parent; each of its joints in turn moves it, a hinge by X(p) R(axis, q - q0) X(p)', with p
its anchor and q0 its position in the file, a slide by (q - q0) axis. So q = q0 is the file's pose, and q is MuJoCo's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from fmumbs.mechanism import (
    Free,
    Joint,
    JointBase,
    Limits,
    Mesh,
    Mode,
    Point,
    Prismatic,
    Revolute,
    Slide,
    Spherical,
    Turn,
)  # fmt: skip
from fmumbs.mechanism.reading import What
from fmumbs.mechanism.triangles import Triangles
from fmumbs.readers.compiled_mjcf import Compiled
from fmumbs.readers.mjcf_actuators import Servo, joint_servos
from fmumbs.readers.robots import Array, Built, Connection, Draw, Inertia, Link, Make, Report
from fmumbs.spatial import Rotation, Transform

FREE, BALL, SLIDE, HINGE = range(4)
_SAME_FRAME, _TURNED_ALIKE = 1, (1, 3)  # mjtSameFrame, of a body and its inertia
_SEEN_GROUPS = 3  # geoms of the first groups are drawn


class Coordinate:
    """Where a MuJoCo joint went: the connection's name, and the number of the mode in it from 1 (0: not scalar)."""

    def __init__(self, connection: str, mode: int, alone: bool) -> None:
        self.connection, self.mode, self.alone = connection, mode, alone


class Mjcf(Compiled):
    """The links and joints of a compiled model."""

    def __init__(self, m: Any, report: Report, meshes: bool) -> None:
        super().__init__(m)
        self.report, self._meshes = report, meshes
        self.coordinates: dict[int, Coordinate] = {}
        self.servos: dict[int, list[Servo]] = joint_servos(self, report)

    def row(self, what: What, element: str, text: str) -> None:
        """Adds a row to the report."""
        self.report.row(what, element, text)

    # Links ----------------------------------------------------------------------------------------------------

    def links(self) -> list[Link]:
        found = [self._link(i) for i in range(self.m.nbody)]
        for i in range(self.m.nbody):
            found += [Link(name) for name, _, _ in self._parts(i)[:-1]]
        return found

    def _link(self, i: int) -> Link:
        m, same = self.m, int(self.m.body_sameframe[i])
        R = np.eye(3) if same in _TURNED_ALIKE else _rotation(m.body_iquat[i]).matrix
        com = np.zeros(3) if same == _SAME_FRAME else np.array(m.body_ipos[i])  # as MuJoCo's kinematics
        inertia = Inertia(float(m.body_mass[i]), com, R @ np.diag(m.body_inertia[i]) @ R.T)
        looks = self._looks(i) if i or self._meshes else ()
        own = np.flatnonzero(m.site_bodyid == i).tolist()
        sites = [(self.name("site", k), _pose(m.site_pos[k], m.site_quat[k])) for k in own]
        return Link(self.link_names[i], inertia.without_round_off(), tuple(looks), None, tuple(sites))

    def _looks(self, body: int) -> Iterator[tuple[Transform, Draw]]:
        m = self.m
        own = np.flatnonzero(m.geom_bodyid == body).tolist()
        geoms = [g for g in own if m.geom_type[g] == _MESH or int(m.geom_type[g]) in _DRAWN]
        seen = [g for g in geoms if m.geom_group[g] < _SEEN_GROUPS] or geoms
        for g in seen:
            rgba = m.mat_rgba[m.geom_matid[g]] if m.geom_matid[g] >= 0 else m.geom_rgba[g]
            if rgba[3] > 0.0 and (self._meshes or m.geom_type[g] != _MESH):
                yield _pose(m.geom_pos[g], m.geom_quat[g]), partial(self._draw, g, rgba)

    def _draw(self, g: int, rgba: Array, X: Transform) -> Mesh:
        m, kind = self.m, int(self.m.geom_type[g])
        colour = "#" + "".join(f"{round(255 * min(max(float(v), 0.0), 1.0)):02x}" for v in rgba[:3])
        placed: Any = {"color": colour, "opacity": min(float(rgba[3]), 1.0), "at": X.offset, "rotation": X.rotation}
        a, b, c = (float(v) for v in m.geom_size[g])
        if kind != _MESH:
            made: Mesh = _DRAWN[kind](a, b, c, placed)
            return made
        mesh = int(m.geom_dataid[g])
        first, count = int(m.mesh_vertadr[mesh]), int(m.mesh_vertnum[mesh])
        begin, faces = int(m.mesh_faceadr[mesh]), int(m.mesh_facenum[mesh])
        vertices = np.array(m.mesh_vert[first : first + count], float)
        triangles = Triangles(vertices, np.array(m.mesh_face[begin : begin + faces], np.int64))
        return Mesh.of_triangles(self.name("mesh", mesh), triangles, **placed)

    # Joints ---------------------------------------------------------------------------------------------------

    def connections(self) -> list[Connection]:
        found: list[Connection] = []
        for i in range(1, self.m.nbody):
            X_PB, parent = _pose(self.m.body_pos[i], self.m.body_quat[i]), self.link_names[int(self.m.body_parentid[i])]
            if self.m.body_mocapid[i] >= 0:
                self.row("changed", f"body '{self.link_names[i]}'", "is moved by a user in MuJoCo, and is fixed here")
            for name, (own, make, X_PF, X_CM) in self._connected(i, X_PB):
                found.append(Connection(own, parent, name, X_PF, X_CM, make))
                parent = name
        return found

    def _parts(self, body: int) -> list[tuple[str, list[int], str]]:
        """Links that carry each other from the parent to the body, the joints of each, and a name for these.

        A ball beside other joints stands alone, between links without mass.
        """
        first, count = int(self.m.body_jntadr[body]), int(self.m.body_jntnum[body])
        runs: list[list[int]] = []
        for j in range(first, first + count):
            apart = self.m.jnt_type[j] in (BALL, FREE)
            if runs and not apart and self.m.jnt_type[runs[-1][-1]] not in (BALL, FREE):
                runs[-1].append(j)
            else:
                runs.append([j])
        body_name = self.link_names[body]
        names = [f"{body_name}_carrier{k + 1}" for k in range(len(runs) - 1)] + [body_name]
        return [
            (name, run, self.joint_names[run[0]] if len(run) == 1 else f"{body_name}_joint{k + 1 if k else ''}")
            for k, (name, run) in enumerate(zip(names, runs or [[]], strict=True))
        ] if runs else [(body_name, [], f"{body_name}_weld")]  # fmt: skip

    def _connected(
        self, body: int, X_PB: Transform
    ) -> Iterator[tuple[str, tuple[str, Make | None, Transform, Transform]]]:
        for name, joints, own in self._parts(body):
            if not joints:
                yield name, (own, None, X_PB, Transform.identity())
            elif len(joints) > 1:
                yield name, self._several(joints, own, X_PB)
            else:
                yield name, self._single(joints[0], own, X_PB)
            X_PB = Transform.identity()

    def _single(self, j: int, own: str, X_PB: Transform) -> tuple[str, Make | None, Transform, Transform]:
        m, kind = self.m, int(self.m.jnt_type[j])
        at = Transform(None, m.jnt_pos[j])
        self.coordinates[j] = Coordinate(own, 0 if kind in (FREE, BALL) else 1, True)
        if kind == FREE:
            return own, *self._free(j), Transform.identity()
        if kind == BALL:
            return own, self._ball(j), X_PB @ at, at
        q0, axis = float(m.qpos0[m.jnt_qposadr[j]]), tuple(m.jnt_axis[j])
        law: Any = self._laws(j)
        make = Revolute if kind == HINGE else Prismatic
        back = Rotation.about(axis, -q0) if kind == HINGE else Rotation.identity()
        offset = np.zeros(3) if kind == HINGE else -q0 * np.array(axis)
        F = X_PB @ (at if kind == HINGE else Transform.identity()) @ Transform(back, offset)
        M = at if kind == HINGE else Transform.identity()
        return own, lambda name, P, Q: make(name, P, Q, axis=axis, q0=q0, **law), F, M

    def _laws(self, j: int) -> dict[str, float]:
        """Stiffness, damping, rest, rotor_inertia and the constant force of a hinge or a slide."""
        m, dof = self.m, int(self.m.jnt_dofadr[j])
        k = 0.0 if "spring" in self.disabled else float(m.jnt_stiffness[j])
        d = 0.0 if "damper" in self.disabled else float(m.dof_damping[dof])
        servos = self.servos.get(j, [])
        total = k + sum(servo.stiffness for servo in servos)
        rest = k * float(m.qpos_spring[m.jnt_qposadr[j]]) / total if k else 0.0
        return {
            "stiffness": total,
            "damping": d + sum(servo.damping for servo in servos),
            "rest": rest,
            "rotor_inertia": float(m.dof_armature[dof]),
            "tau": sum(servo.constant for servo in servos),
        }

    def _several(
        self, joints: Sequence[int], own: str, X_PB: Transform
    ) -> tuple[str, Make | None, Transform, Transform]:
        """Hinges and slides as one product of modes, with locked ones between their anchors."""
        m, modes, here = self.m, list[Mode](), np.zeros(3)
        laws: list[dict[str, float]] = []
        starts: list[float] = []
        for k, j in enumerate(joints):
            q0, axis, turns = float(m.qpos0[m.jnt_qposadr[j]]), tuple(m.jnt_axis[j]), m.jnt_type[j] == HINGE
            away = np.array(m.jnt_pos[j]) - here
            if turns and away.any():
                modes.append(Slide(tuple(away), role="locked", value=float(np.linalg.norm(away))))
                here = np.array(m.jnt_pos[j])
            make = Turn if turns else Slide
            if q0:
                modes.append(make(axis, role="locked", value=-q0))
            modes.append(make(axis))
            starts.append(q0)
            laws.append(self._laws(j))
            self.coordinates[j] = Coordinate(own, k + 1, False)
        law: Any = {what: tuple(one[what] for one in laws) for what in laws[0]}
        made = tuple(modes)
        return own, lambda name, P, Q: Joint(name, P, Q, modes=made, q0=starts, **law), X_PB, Transform(None, here)

    def _free(self, j: int) -> tuple[Make, Transform]:
        m, dof, at = self.m, int(self.m.jnt_dofadr[j]), int(self.m.jnt_qposadr[j])
        k = 0.0 if "spring" in self.disabled else float(m.jnt_stiffness[j])
        d = [0.0] * 6 if "damper" in self.disabled else [float(v) for v in m.dof_damping[dof : dof + 6]]
        self._no_armature(j, 6)
        X = _pose(m.qpos_spring[at : at + 3], m.qpos_spring[at + 3 : at + 7]) if k else Transform.identity()
        start = X.inverse() @ _pose(m.qpos0[at : at + 3], m.qpos0[at + 3 : at + 7])
        q0 = (*start.offset, *start.rotation.as_quaternion().tolist())
        law: Any = ({"stiffness": (k,) * 6} if k else {}) | ({"damping": d} if any(d) else {})
        return (lambda name, P, Q: Free(name, P, Q, q0=q0, **law)), X

    def _ball(self, j: int) -> Make:
        m, dof, at = self.m, int(self.m.jnt_dofadr[j]), int(self.m.jnt_qposadr[j])
        k = 0.0 if "spring" in self.disabled else float(m.jnt_stiffness[j])
        d = 0.0 if "damper" in self.disabled else float(m.dof_damping[dof])
        self._no_armature(j, 3)
        if k and abs(m.qpos_spring[at]) < 1.0:
            text = "the rest position of its spring, which acts about no rotation"
            self.row("left out", f"joint '{self.joint_names[j]}'", text)
        q0 = m.qpos0[at : at + 4].tolist()
        return lambda name, P, Q: Spherical(name, P, Q, q0=q0, stiffness=k, damping=d)

    def _no_armature(self, j: int, count: int) -> None:
        dof = int(self.m.jnt_dofadr[j])
        if self.m.dof_armature[dof : dof + count].any():
            self.row("left out", f"joint '{self.joint_names[j]}'", "armature, which is for hinges and slides")

    def name_coordinates(self, built: Built) -> None:
        """The names of MuJoCo's joints for the coordinates of joints that several became, and limits."""
        for j, place in self.coordinates.items():
            joint = built.joints.get(place.connection)
            if joint is None:
                continue
            coordinate = f"{joint.name}.q" if place.alone else f"{joint.name}.q[{place.mode}]"
            if not place.alone:
                built.source_names[coordinate] = self.joint_names[j]
                built.source_names.pop(joint.name, None)
            self._keep_limits(j, coordinate, place)

    def _keep_limits(self, j: int, coordinate: str, place: Coordinate) -> None:
        m = self.m
        what = f"joint '{self.joint_names[j]}'"
        if m.jnt_limited[j] and not place.mode:
            self.row("left out", what, "the limit of a ball")
            return
        lower, upper = map(float, m.jnt_range[j]) if m.jnt_limited[j] else (None, None)
        effort = max(abs(float(v)) for v in m.jnt_actfrcrange[j]) if m.jnt_actfrclimited[j] else None
        if lower is not None or effort is not None:
            self.report.limits[coordinate] = limits = Limits(lower, upper, effort)
            self.row("taken", what, f"limits as data: {limits}")

    def joint_of(self, j: int, built: Built) -> tuple[JointBase, Coordinate] | None:
        """The model's joint that has a hinge or a slide of MuJoCo, and where; None if it was fixed."""
        place = self.coordinates[j]
        joint = built.joints.get(place.connection)
        return None if joint is None else (joint, place)

    def point(self, body: int, X: Transform, built: Built) -> Point:
        """A frame on a body of MuJoCo's as a point of the model."""
        return built.point(self.link_names[body], X)


def _pose(position: Sequence[float], quaternion: Sequence[float]) -> Transform:
    return Transform(_rotation(quaternion), [float(v) for v in position])


def _rotation(quaternion: Sequence[float]) -> Rotation:
    w, x, y, z = (float(v) for v in quaternion)
    return Rotation.quaternion(w, x, y, z) if x or y or z else Rotation.identity()


_MESH = 7  # mjtGeom
_DRAWN: dict[int, Any] = {  # by mjtGeom, from the three sizes
    2: lambda a, b, c, placed: Mesh.ellipsoid((a, a, a), **placed),
    3: lambda a, b, c, placed: Mesh.capsule(a, 2.0 * b, **placed),
    4: lambda a, b, c, placed: Mesh.ellipsoid((a, b, c), **placed),
    5: lambda a, b, c, placed: Mesh.cylinder(a, 2.0 * b, **placed),
    6: lambda a, b, c, placed: Mesh.box((2.0 * a, 2.0 * b, 2.0 * c), **placed),
}
