"""The same mechanism in other units: numbers of kilograms, meters and seconds change, the mechanism does not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

import fmumbs as fm
from fmumbs.mechanism.coupling import moving
from fmumbs.mechanism.joints import JointBase
from fmumbs.mechanism.laws import ForceLaw
from fmumbs.mechanism.program import Program
from fmumbs.spatial import Transform
from support.drawing.rebuilding import rebuilt

BASE = {"kg": (1, 0, 0), "m": (0, 1, 0), "s": (0, 0, 1), "rad": (0, 0, 0)}
BASE |= {"Pa": (1, -1, -2), "N": (1, 1, -2), "J": (1, 2, -2), "W": (1, 2, -3)}
BASE |= {"A": (0, 0, 0), "V": (1, 2, -3), "Ohm": (1, 2, -3), "H": (1, 2, -2)}  # an ampere stays what it is


def powers(unit: str) -> tuple[int, int, int]:
    """Of kilogram, meter and second in a unit such as "N.m.s/rad" or "rad/s2"."""
    found = np.zeros(3, int)
    top, *below = unit.split("/")
    for sign, part in ((1, top), *((-1, one) for one in below)):
        for one in part.split(".") if part not in ("", "1") else ():
            name, power = (one[:-1], int(one[-1])) if one[-1].isdigit() else (one, 1)
            found += sign * power * np.array(BASE[name])
    return tuple(found.tolist())


class Units:
    """What numbers are multiplied by if a kilogram, a meter and a second become M, L and T."""

    def __init__(self, units: tuple[float, float, float]) -> None:
        self.M, self.L, self.T = units

    def of(self, unit: str) -> float:
        mass, length, time = powers(unit)
        return float(self.M**mass * self.L**length * self.T**time)

    def output(self, name: str, unit: str, value: float) -> float:
        """An output in these units; that no series of impacts has ended yet is -1 in any."""
        return value if name.endswith(".rested") and value == -1.0 else value * self.of(unit)

    def coordinate(self, mode: Any) -> float:
        return self.L if mode.linear else 1.0

    def force(self, mode: Any) -> float:
        return self.of("N") if mode.linear else self.of("N.m")

    # Elements -------------------------------------------------------------------------------------------------

    def point(self, P: fm.Point) -> fm.Point:
        return replace(P, X_BP=self.pose(P.X_BP))

    def pose(self, X: Transform) -> Transform:
        return Transform(X.rotation, np.array(X.translation) * self.L)

    def change(self, one: Any) -> Any:
        match one:
            case fm.ModalBody():
                return self.modal(one)
            case fm.Body():
                return replace(one, **self.rigid(one))
            case fm.FlexibleLink():
                return self.link(one)
            case JointBase():
                return self.joint(one)
            case fm.FlexibleSupport():
                return replace(one, layers=[self.layer(layer) for layer in one.layers])
            case fm.Spring():
                k, d = one.stiffness * self.of("N/m"), one.damping * self.of("N.s/m")
                return replace(one, stiffness=k, damping=d, free_length=one.free_length * self.L)
            case fm.Actuator():
                return replace(one, force=one.force * self.of("N"))
            case fm.Cylinder():
                return self.cylinder(one)
            case fm.Rope():
                return self.rope(one)
            case fm.Motor():
                return self.motor(one)
            case fm.Gear():
                return self.gear(one)
            case fm.Contact():
                return self.contact(one)
            case fm.Load():
                force, torque = np.array(one.force) * self.of("N"), np.array(one.torque) * self.of("N.m")
                return replace(one, force=force, torque=torque)
            case ForceLaw():
                return self.law(one)
            case fm.Cam():
                a, b = (self.coordinate(moving(j)[k - 1]) for j, k in ((one.A, one.mode_A), (one.B, one.mode_B)))
                profile = self.path(one.path, b, a)
                return replace(one, profile=profile, periodic=False, offset=one.offset * b, phase=one.phase * a)
            case fm.Coupling():
                terms = [(j, k, r / self.coordinate(j.free_modes[k - 1])) for j, k, r in one.coordinates]
                return replace(one, terms=terms)
            case Program():
                return self.program(one)
        raise AssertionError(f"units of a {type(one).__name__}")

    def cylinder(self, one: fm.Cylinder) -> fm.Cylinder:
        units = {"area_A": "m2", "area_B": "m2", "stroke": "m", "closed_length": "m", "leakage": "m3/s.Pa"}
        units |= dict.fromkeys(("dead_volume_A", "dead_volume_B"), "m3") | dict.fromkeys(("flow_A", "flow_B"), "m3/s")
        units |= dict.fromkeys(("bulk_modulus", "vapour", "pressure_A", "pressure_B"), "Pa")
        of_valve = {"rated_flow": "m3/s", "rated_drop": "Pa", "supply": "Pa", "tank": "Pa"}
        valve = one.valve and replace(
            one.valve, **{name: getattr(one.valve, name) * self.of(unit) for name, unit in of_valve.items()}
        )
        return replace(one, valve=valve, **{name: getattr(one, name) * self.of(unit) for name, unit in units.items()})

    def rope(self, one: fm.Rope) -> fm.Rope:
        way = [replace(P, radius=P.radius * self.L) if isinstance(P, fm.Pulley) else P for P in one.points]
        k, d = one.stiffness * self.of("N"), one.damping * self.of("N.s")
        return replace(one, points=way, stiffness=k, damping=d, length=np.multiply(one.length, self.L).tolist())

    def motor(self, one: fm.Motor) -> fm.Motor:
        units = {"resistance": "Ohm", "inductance": "H", "constant": "N.m/A", "rotor_inertia": "kg.m2", "voltage": "V"}
        units |= {"voltage_limit": "V"} if one.voltage_limit else {}
        units |= {"current_limit": "A"} if one.current_limit else {}
        given = {name: getattr(one, name) * self.of(unit) for name, unit in units.items()}
        return replace(one, gear=one.gear / self.coordinate(one.on.free_modes[one.mode - 1]), **given)

    def gear(self, one: fm.Gear) -> fm.Gear:
        """Its play is that of A."""
        modes = moving(one.A)[one.mode_A - 1], moving(one.B)[one.mode_B - 1]
        a, b = (self.coordinate(mode) for mode in modes)
        k = self.force(modes[0]) / a
        return replace(
            one, ratio=one.ratio * a / b, backlash=one.backlash * a, offset=one.offset * a,
            stiffness=one.stiffness * k, damping=one.damping * k * self.T,
        )  # fmt: skip

    def contact(self, one: fm.Contact) -> fm.Contact:
        """Shapes, what presses them apart, and how they rub; also of a tyre."""
        shapes = {name: self.shape(getattr(one, name)) for name in "AB"}
        normal: Any = one.normal
        if isinstance(normal, fm.Hertz):
            normal = replace(normal, E=normal.E * self.of("Pa"), radius=normal.radius * self.L)
        else:
            normal = replace(normal, stiffness=normal.stiffness * self.of("N") / self.L**normal.exponent)
        normal = replace(normal, damping=normal.damping * self.of("s/m"))
        if isinstance(one, fm.Tyre):
            units = {"slip_stiffness": "N", "relaxation": "m", "damping": "N.s/m"}
            return replace(one, **shapes, normal=normal, **self.some(one, units))
        units = {"stribeck": "m/s", "stiffness": "N/m", "damping": "N.s/m", "creep": "m/s", "rolling_arm": "m"}
        units |= {"drilling_arm": "m", "turning_stiffness": "N.m/rad", "turning_damping": "N.m.s/rad"}
        rub = one.friction and replace(one.friction, **self.some(one.friction, units))
        return replace(one, **shapes, normal=normal, friction=rub)

    def some(self, one: Any, units: dict[str, str]) -> dict[str, Any]:
        """The fields that are given, in these units."""
        given = {name: getattr(one, name) for name in units if getattr(one, name) is not None}
        return {
            name: np.multiply(value, self.of(units[name])).tolist() if np.ndim(value) else value * self.of(units[name])
            for name, value in given.items()
        }

    def shape(self, one: Any) -> Any:
        names = ("radius", "half_axes", "thickness", "length", "size", "vertices", "profile")
        return replace(one, **self.some(one, {name: "m" for name in names if hasattr(one, name)}))

    def rigid(self, one: fm.Body) -> dict[str, Any]:
        points = [replace(frame, X_BP=self.pose(frame.X_BP)) for frame in one.points]
        inertia = np.array(one.inertia) * self.of("kg.m2")
        return {"mass": one.mass * self.M, "com": np.array(one.com) * self.L, "inertia": inertia, "points": points}

    def modal(self, one: fm.ModalBody) -> fm.ModalBody:
        """Its modal coordinates are lengths; its shapes' rotations are per length."""
        at = np.array([1.0] * (2 if one.plane else 3) + [1.0 / self.L] * (1 if one.plane else 3))
        shapes = {name: np.array(rows) * at for name, rows in one.shapes}
        bent = one.bending
        if bent is not None:
            modes = tuple(replace(mode, twist=tuple(np.array(mode.twist) / self.L)) for mode in bent.modes)
            bent = replace(bent, length=bent.length * self.L, modes=modes)
        return replace(
            one, **self.rigid(one), shapes=shapes, bending=bent, stiffness=np.array(one.stiffness) * self.of("N/m"),
            damping=np.array(one.damping) * self.of("N.s/m"), modal_mass=np.array(one.modal_mass) * self.M,
            shape_mass=np.array(one.shape_mass) * self.M, shape_product=np.array(one.shape_product) * self.M,
            shape_moment=np.array(one.shape_moment) * self.M * self.L, q0=np.array(one.q0) * self.L,
            u0=np.array(one.u0) * self.L / self.T,
        )  # fmt: skip

    def link(self, one: fm.FlexibleLink) -> fm.FlexibleLink:
        units = {"EA": "N", "EIy": "N.m2", "EIz": "N.m2", "GJ": "N.m2", "mass": "kg", "axial_inertia": "kg.m2",
                 "damping": "s", "length": "m"}  # fmt: skip
        given = {name: getattr(one, name) for name in units}
        return replace(one, **{name: v if v is None else v * self.of(units[name]) for name, v in given.items()})

    def layer(self, one: fm.Layer) -> fm.Layer:
        k, d = (np.array(v) * self.of(unit) for v, unit in ((one.stiffness, "N/m"), (one.damping, "N.s/m")))
        return replace(one, points=np.array(one.points) * self.L, stiffness=k, damping=d)

    # Joints ------------------------------------------------------------------------------------------------------

    def joint(self, one: Any) -> Any:
        names = (name for name in ("length", "height", "radius", "pitch") if hasattr(one, name))
        lengths = {name: getattr(one, name) * self.L for name in names}
        if isinstance(one, fm.Joint):
            lengths["modes"] = [self.mode(mode) for mode in one.modes]
            for name in ("velocity_rows", "speed_rows"):
                lengths[name] = [self.row(row) for row in getattr(one, name)]
        if isinstance(one, fm.Bushing) and (one.stiffness_matrix is not None or one.damping_matrix is not None):
            arms = np.array([1.0] * 3 + [self.L] * 3)
            for name, unit in (("stiffness_matrix", "N/m"), ("damping_matrix", "N.s/m")):
                matrix = getattr(one, name)
                lengths[name] = None if matrix is None else np.array(matrix) * np.outer(arms, arms) * self.of(unit)
        else:
            lengths |= self.laws(one)
        if one.friction is not None:
            lengths["friction"] = self.friction(one)
        if hasattr(one, "q0"):
            lengths |= self.starts(one)
        return replace(one, **lengths)

    def mode(self, mode: Any) -> Any:
        x = self.coordinate(mode)
        path = None if mode.path is None else self.path(mode.path, x)
        motion = {"value": mode.value * x, "eta0": mode.eta0 * x, "kappa0": mode.kappa0 * x / self.T}
        return replace(mode, pitch=mode.pitch * self.L, path=path, cutoff=mode.cutoff / self.T, **motion)

    def row(self, row: Any) -> Any:
        """Of velocities if it has a linear part, else of angular velocities."""
        angular, linear = np.array(row[:3]), np.array(row[3:])
        return (*(angular * self.L if linear.any() else angular), *linear)

    def laws(self, one: Any) -> dict[str, Any]:
        modes = one.free_modes
        found: dict[str, Any] = {}
        for name, over in (("stiffness", 1.0), ("damping", self.T), ("rest", None), ("rotor_inertia", self.T**2)):
            value = getattr(one, name)
            per = [self.coordinate(m) if over is None else self.force(m) / self.coordinate(m) * over for m in modes]
            if isinstance(value, tuple):
                turns = [self.of("N.m") * (over or 0.0)] * len(value)
                found[name] = np.array(value) * (per if len(per) == len(value) else turns)[: len(value)]
            elif value:
                found[name] = value * per[0]
        tau = one.tau
        if np.any(tau):
            found["tau"] = np.array(one.applied) * self.speeds(one, self.force)
            found["tau"] = found["tau"] if np.ndim(tau) else float(found["tau"][0])
        return found

    def speeds(self, one: Any, of: Any) -> Any:
        """(velocities,) a factor for each velocity variable."""
        if one.velocity_rows:
            linear = [any(row[3:]) for row in one.speed_rows]
            return np.array([of(fm.Slide("x") if slides else fm.Turn("x")) for slides in linear])
        return np.array([of(mode) for mode in one.free_modes for _ in range(mode.velocities)])

    def starts(self, one: Any) -> dict[str, Any]:
        q, u = np.ravel(np.array(one.q0, float)), np.ravel(np.array(one.u0, float))
        x = [self.coordinate(m) if m.kind != "ball" else 1.0 for m in one.free_modes for _ in range(m.positions)]
        q, u = q * np.array(x), u * self.speeds(one, self.coordinate) / self.T
        return {"q0": q if np.ndim(one.q0) else float(q[0]), "u0": u if np.ndim(one.u0) else float(u[0])}

    def friction(self, one: Any) -> fm.LuGre:
        """Sliding is an angle in turning joints, a length in others; the normal force is a torque in turning joints."""
        rub, slides = one.friction, any(mode.linear for mode in one.free_modes)
        x = self.L if slides else 1.0
        per = {"stribeck": x / self.T, "stiffness": 1 / x, "damping": self.T / x, "viscous": self.T / x}
        per |= {"preload": self.of("N" if slides else "N.m")} | dict.fromkeys(("radius", "collar", "guide"), self.L)
        return replace(rub, **{name: getattr(rub, name) * factor for name, factor in per.items()})

    # Laws and programs --------------------------------------------------------------------------------------------

    def law(self, one: Any) -> Any:
        spring = isinstance(one.on, fm.Spring)
        mode = fm.Slide("x") if spring else one.on.free_modes[one.mode - 1]
        x, f = self.coordinate(mode), self.force(mode)
        if isinstance(one, fm.Stop):
            ends = {name: getattr(one, name) for name in ("lower", "upper")}
            ends = {name: end if end is None else end * x for name, end in ends.items()}
            if one.hard:
                return replace(one, **ends)
            return replace(one, **ends, stiffness=one.stiffness * f / x, damping=one.damping * f / x * self.T)
        return replace(one, pieces=[self.piece(piece, x, f) for piece in one.pieces])

    def piece(self, piece: fm.Piece, x: float, f: float) -> fm.Piece:
        c = [[v * f / x**i * (self.T / x) ** j for j, v in enumerate(row)] for i, row in enumerate(piece.coefficients)]
        ends = {"lower": x, "upper": x, "origin": x, "v_lower": x / self.T, "v_upper": x / self.T}
        return replace(piece, coefficients=c, **{name: getattr(piece, name) * by for name, by in ends.items()})

    def path(self, path: Any, x: float, over: float | None = None) -> Any:
        """Values times x; over: of what they are a function, by default the time."""
        over = self.T if over is None else over
        if isinstance(path, fm.Curve):
            return fm.Curve([self.path(one, x) for one in path.paths])
        if isinstance(path, tuple):
            return tuple(self.path(one, x) for one in path)
        if not isinstance(path, fm.Path):
            return path * x
        angle = 1.0 if path.wave else x
        rows = [[c * angle / over**k for k, c in enumerate(row)] for row in path.coefficients]
        wave = path.wave and (path.wave[0] * x, path.wave[1] * x, path.wave[2])
        breaks = [t * over for t in path.breaks]
        return fm.Path(breaks, rows, continuity=path.continuity, period=path.period * over, wave=wave)

    def program(self, one: Any) -> Any:
        mode = one.drive.excited_modes[0]
        x = self.coordinate(mode) / self.T**one.level
        given = {"start": np.array(one.start) * x, "rate": np.array(one.rate) * x / self.T} if one.path is None else {}
        given |= {"path": None if one.path is None else self.path(one.path, x), "transition": one.transition * self.T}
        if isinstance(one, fm.ProgrammedVelocity):
            arms = np.array([self.coordinate(mode)] * 3 + [1.0] * 3)  # their product has the unit of the path
            given |= {"rows": np.array(one.rows) * arms}
            given |= {} if one.slopes is None else {"slopes": np.array(one.slopes) * arms}
            given |= {"by": self.path(one.by, 1.0)} if isinstance(one.by, fm.Path) else {}  # an angle over time
        return replace(one, cutoff=one.cutoff / self.T, **given)


def scaled(model: fm.Model, units: tuple[float, float, float]) -> fm.Model:
    """The model with a kilogram, a meter and a second that are `units` of before."""
    by = Units(units)
    return rebuilt(model, by.change, by.point, gravity=np.array(model.gravity) * by.of("m/s2"))
