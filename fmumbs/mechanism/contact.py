"""Shapes that touch, what presses them apart, and how they rub: parts of an fm.Contact (forces.py)."""

import math
from dataclasses import dataclass, field
from itertools import product

from fmumbs import _checks
from fmumbs._checks import Vec3
from fmumbs.errors import ModelError
from fmumbs.mechanism.placed import Placed, store
from fmumbs.mechanism.road import Road

__all__ = [
    "Box", "Capsule", "Coulomb", "Disc", "Ellipsoid", "Hertz", "Hollow", "Hull", "Plane", "Press", "Road", "Sphere",
]  # fmt: skip

_SERIES = 0.1  # below it, c v of a restitution is found by a series
_TERMS = 40
_THIN = 0.02  # thickness of a disc over its radius

Spot = tuple[Vec3, Vec3]  # where in the axes of a shape's point, and half axes, all 0 for a point


@dataclass(frozen=True)
class Sphere(Placed):
    """A sphere about the point `at`. radius: above 0 [m]."""

    radius: float

    def __post_init__(self) -> None:
        super().__post_init__()
        self._size("radius")

    @property
    def spots(self) -> list[Spot]:
        """The ellipsoids that it touches with."""
        return [((0.0, 0.0, 0.0), (self.radius,) * 3)]


@dataclass(frozen=True)
class Ellipsoid(Placed):
    """An ellipsoid about the point `at`, along its axes. half_axes: (3,) above 0 [m]."""

    half_axes: tuple[float, float, float]

    def __post_init__(self) -> None:
        super().__post_init__()
        self._sizes("half_axes")

    @property
    def spots(self) -> list[Spot]:
        """The ellipsoids that it touches with."""
        return [((0.0, 0.0, 0.0), self.half_axes)]


@dataclass(frozen=True)
class Disc(Placed):
    """A disc about the point `at`, across its z: a wheel, or a coin.

    radius: above 0 [m]. thickness: in its middle, above 0 and not above the radius; by default 0.02 radius [m].

    It is an ellipsoid of revolution, so its rim is a circle of the radius, and its faces are bulged a little: a flat
    disc that lies down would touch with all of its rim at once. A disc that leans by the angle a from lying flat
    touches at the distance radius sin a/sqrt(sin^2 a + q^2 cos^2 a), q = thickness/(2 radius), from its axis.
    """

    radius: float
    thickness: float = field(default=None, kw_only=True)  # type: ignore[assignment] # a number once it is made

    def __post_init__(self) -> None:
        super().__post_init__()
        self._size("radius")
        if self.thickness is None:
            store(self, "thickness", _THIN * self.radius)
        self._size("thickness")
        if self.thickness > self.radius:
            raise ModelError(
                f"Disc: thickness is {self.thickness:g} m, but must not be above the radius of {self.radius:g} m. Give "
                "an fm.Ellipsoid."
            )

    @property
    def spots(self) -> list[Spot]:
        """The ellipsoids that it touches with."""
        return [((0.0, 0.0, 0.0), (self.radius, self.radius, 0.5 * self.thickness))]


@dataclass(frozen=True)
class Capsule(Placed):
    """A cylinder about the point `at`, along its z, with half a sphere on each end.

    radius: above 0 [m]. length: from centre to centre of its half spheres, above 0 [m].
    """

    radius: float
    length: float

    def __post_init__(self) -> None:
        super().__post_init__()
        self._size("radius")
        self._size("length")

    @property
    def spots(self) -> list[Spot]:
        """The ellipsoids that it touches with."""
        return [((0.0, 0.0, end * self.length), (self.radius,) * 3) for end in (-0.5, 0.5)]


@dataclass(frozen=True)
class Box(Placed):
    """A box about the point `at`, along its axes, which touches with its eight corners. size: (3,) above 0 [m]."""

    size: tuple[float, float, float]

    def __post_init__(self) -> None:
        super().__post_init__()
        self._sizes("size")

    @property
    def spots(self) -> list[Spot]:
        """The points that it touches with."""
        x, y, z = self.size
        return [((a * x, b * y, c * z), (0.0, 0.0, 0.0)) for a, b, c in product((-0.5, 0.5), repeat=3)]


@dataclass(frozen=True)
class Hull(Placed):
    """A convex body, which touches with its corners. vertices: (n, 3) in the axes of the point `at` [m]."""

    vertices: tuple[Vec3, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        vertices = _checks.items(self.vertices, "Hull: vertices", "Give its corners, three numbers each.")
        if not vertices:
            raise ModelError("Hull: vertices are empty, so it touches nothing. Give its corners.")
        rows = [_checks.vector(one, f"Hull: vertices[{i}]") for i, one in enumerate(vertices)]
        store(self, "vertices", tuple(rows))

    @property
    def spots(self) -> list[Spot]:
        """The points that it touches with."""
        return [(vertex, (0.0, 0.0, 0.0)) for vertex in self.vertices]


@dataclass(frozen=True)
class Plane(Placed):
    """The plane through the point `at`, across its z axis, which points out of it."""


@dataclass(frozen=True)
class Hollow(Placed):
    """The inside of a sphere about the point `at`. radius: above 0 [m]."""

    radius: float

    def __post_init__(self) -> None:
        super().__post_init__()
        self._size("radius")


Shape = Sphere | Ellipsoid | Disc | Capsule | Box | Hull
Surface = Plane | Road | Sphere | Hollow
SHAPES = (Sphere, Ellipsoid, Disc, Capsule, Box, Hull)


@dataclass(frozen=True)
class Press:
    """What presses two surfaces apart that overlap by x: N = stiffness x^exponent (1 + damping dx/dt), never below 0.

    stiffness: above 0 [N/m^exponent]. exponent: from 1 to 10. damping: at least 0 [s/m].
    restitution, speed: in place of damping, the part of its speed [m/s] that a body keeps which strikes another with
        it, above 0 and up to 1; slower ones keep more. They are kept as the damping that they give.

    At the speed v and with v' after it, c the damping: c (v + v') = ln((1 + c v)/(1 - c v')).
    """

    stiffness: float
    exponent: float = field(default=1.0, kw_only=True)
    damping: float = field(default=0.0, kw_only=True)
    restitution: float | None = field(default=None, kw_only=True)
    speed: float | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        _store_damping(self)
        for name in ("stiffness", "exponent"):
            store(self, name, _checks.parameter("contact", name, getattr(self, name), f"Press: {name}"))


@dataclass(frozen=True)
class Hertz:
    """The fm.Press of two elastic bodies by Hertz: exponent 1.5 and 4/3 E sqrt(radius)/(1 - nu^2) as stiffness.

    E: modulus [Pa]; 1/((1 - nu1^2)/E1 + (1 - nu2^2)/E2) with nu=0 for two materials. nu: Poisson's ratio, from -1 to
    0.5. radius: 1/(1/R1 + 1/R2), R2 below 0 of a hollow [m]. damping, or restitution and speed: as of fm.Press.
    """

    E: float
    nu: float
    radius: float
    damping: float = field(default=0.0, kw_only=True)
    restitution: float | None = field(default=None, kw_only=True)
    speed: float | None = field(default=None, kw_only=True)

    exponent = 1.5

    def __post_init__(self) -> None:
        store(self, "E", _checks.positive(self.E, "Hertz: E"))
        store(self, "nu", _checks.number(self.nu, "Hertz: nu"))
        if not -1.0 < self.nu <= 0.5:
            raise ModelError(f"Hertz: nu is {self.nu:g}, but must lie above -1, and not above 0.5. Steel has 0.3.")
        store(self, "radius", _checks.size(self.radius, "Hertz: radius"))
        _store_damping(self)

    @property
    def stiffness(self) -> float:
        """[N/m^1.5]."""
        return 4.0 / 3.0 * self.E * math.sqrt(self.radius) / (1.0 - self.nu**2)


@dataclass(frozen=True)
class Coulomb:
    """Friction of a contact pressed by N, by bristles that hold, or by a law without states that creeps.

        mu(s) = mu + (static - mu) exp(-(s/stribeck)^2)
        bristles:   T = stiffness z + damping s;   |T| < mu(s) N: friction T, dz/dt = s;
                    beyond it: friction mu(s) N T/|T|, dz/dt = (friction - stiffness z)/damping
        creeping:   friction mu(s) N s/sqrt(s^2 + creep^2)

    s is the velocity of the surfaces past each other, z the deflection of the bristles, held in the second surface.

    mu: at least 0. static: at rest, at least mu; mu by default. stribeck: above 0 [m/s].
    stiffness: of the bristles, above 0 [N/m]. damping: above 0 [N.s/m]; by default half of what is critical for the
        masses of the two bodies, on all spots. Below its limit such a contact is a spring, which does not creep.
    rolling_arm, drilling_arm: at least 0, 0 by default [m]. The moments against rolling and against turning about the
        normal are at most these arms times N, with bristles of their own, so that a ball on a slope rests up to
        rolling_arm/radius. A steel wheel on a rail has 0.0005 m, a tyre 0.01 of its radius, a soft patch that turns
        2/3 of its radius times mu.
    turning_stiffness: of these bristles, needed with an arm, above 0 [N.m/rad]. turning_damping: above 0 [N.m.s/rad];
        by default half of what is critical for the inertias of the two bodies, on all spots.
    creep: in place of the stiffness, above 0 [m/s]: a force F below mu N makes the contact creep with
        creep F/sqrt((mu N)^2 - F^2), at half of mu N with 0.58 creep. It costs no states, and holds nothing for long.
    """

    mu: float
    static: float | None = field(default=None, kw_only=True)
    stribeck: float = field(default=0.01, kw_only=True)
    stiffness: float | None = field(default=None, kw_only=True)
    damping: float | None = field(default=None, kw_only=True)
    creep: float | None = field(default=None, kw_only=True)
    rolling_arm: float = field(default=0.0, kw_only=True)
    drilling_arm: float = field(default=0.0, kw_only=True)
    turning_stiffness: float | None = field(default=None, kw_only=True)
    turning_damping: float | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        if (self.stiffness is None) == (self.creep is None):
            what = "neither stiffness nor creep is" if self.creep is None else "stiffness and creep are both"
            raise ModelError(f"Coulomb: {what} given. Give stiffness= for bristles that hold, or creep= for none.")
        if self.creep is not None and self.damping is not None:
            raise ModelError("Coulomb: damping is given beside creep, which has no bristles. Leave one of them out.")
        kinds = {"stiffness": "tangential_stiffness", "damping": "tangential_damping"}
        names = (
            "mu", "static", "stribeck", "stiffness", "damping", "creep", "rolling_arm", "drilling_arm",
            "turning_stiffness", "turning_damping",
        )  # fmt: skip
        for name in names:
            value = getattr(self, name)
            if value is not None or name == "mu":
                store(self, name, _checks.parameter("contact", kinds.get(name, name), value, f"Coulomb: {name}"))
        if self.static is None:
            store(self, "static", self.mu)
        elif 0.0 < self.mu > self.static:
            raise ModelError(f"Coulomb: static is {self.static:g}, but must be at least mu, {self.mu:g}. Swap them.")
        _checks_of_turning(self)


def _checks_of_turning(law: Coulomb) -> None:
    if law.rolling_arm == law.drilling_arm == 0.0 and law.turning_stiffness is law.turning_damping is None:
        return
    if law.stiffness is None:
        raise ModelError(
            "Coulomb: rolling and drilling are resisted by bristles, but creep is given in place of their stiffness. "
            "Give stiffness= and turning_stiffness=."
        )
    if law.turning_stiffness is None:
        raise ModelError(
            "Coulomb: turning_stiffness is not given, but what resists rolling or drilling is. Give it in N.m/rad: a "
            "moment over the angle within which it acts."
        )


def _store_damping(law: Press | Hertz) -> None:
    """Checks the damping of a law, or puts that in place of a restitution and its speed which they give."""
    what = type(law).__name__
    damping = _checks.parameter("contact", "damping", law.damping, f"{what}: damping")
    if law.restitution is not None or law.speed is not None:
        if law.restitution is None or law.speed is None or damping:
            raise ModelError(
                f"{what}: restitution and speed go together, without damping. Give these two, or damping."
            )
        e, v = _checks.number(law.restitution, f"{what}: restitution"), _checks.positive(law.speed, f"{what}: speed")
        if not 0.0 < e <= 1.0:
            raise ModelError(f"{what}: restitution is {e:g}, but must be above 0 and not above 1. Give another.")
        damping = _checks.parameter("contact", "damping", _of_restitution(e) / v, f"{what}: damping at the speed")
    for name, value in (("damping", damping), ("restitution", None), ("speed", None)):
        store(law, name, value)


def _of_restitution(e: float) -> float:
    """Of a restitution e = v'/v its c v > 0, with (1 + e) c v = ln((1 + c v)/(1 - e c v)); 0 of e = 1."""
    low, high = 0.0, 1.0 / e
    if e == 1.0:
        return 0.0
    while low < (middle := 0.5 * (low + high)) < high:
        low, high = (middle, high) if _missing(e, middle) < 0.0 else (low, middle)
    return low


def _missing(e: float, u: float) -> float:
    """(ln((1 + u)/(1 - e u)) - (1 + e) u)/u^2, which rises from below 0 to above it."""
    if e * u >= 1.0:  # by round-off
        return math.inf
    if u < _SERIES:
        powers = (math.expm1(k * math.log(e)) if k % 2 == 0 else e**k + 1.0 for k in range(2, _TERMS))
        return sum(power * u**k / (k + 2) for k, power in enumerate(powers))
    return (math.log1p(u) - math.log1p(-e * u) - (1.0 + e) * u) / u**2
