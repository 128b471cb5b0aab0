"""Cross-sections and materials of slender links.

A section lies in the plane of its axes y and z, which pass through its centroid and are principal. With E and G the
moduli and rho the density, a link of constant section has the stiffnesses E A (stretch), E Iy and E Iz (bending about y
and z) and G J (torsion), and, of each metre, the mass rho A and the moments of inertia rho (Iy + Iz), rho Iy, rho Iz.
"""

from dataclasses import dataclass
from math import pi, tanh

from fmumbs import _checks
from fmumbs.errors import ModelError

_TERMS = 40  # of the series for a rectangle's torsion: the next one is below 1e-10 of the sum
_SLACK = 1e-9  # rounding of what the user computed, relative


@dataclass(frozen=True)
class Section:
    """A cross-section: `Section(area=, Iy=, Iz=, J=)`, or `.rectangle`, `.circle`, `.tube`.

    area [m2]; Iy, Iz: second moments about its principal axes y and z [m4]; J: torsion constant [m4], at most Iy + Iz,
    which it is for round sections only.
    """

    area: float
    Iy: float
    Iz: float
    J: float

    def __post_init__(self) -> None:
        for what in ("area", "Iy", "Iz", "J"):
            object.__setattr__(self, what, _checks.size(getattr(self, what), f"Section: {what}"))
        if (1.0 + _SLACK) * (self.Iy + self.Iz) < self.J:
            raise ModelError(
                f"Section: J is {self.J:g} m4, but Iy + Iz, the torsion constant of the stiffest section, is only "
                f"{self.Iy + self.Iz:g} m4. Give a smaller J."
            )

    @classmethod
    def rectangle(cls, width: float, height: float) -> "Section":
        """Full, `width` [m] along y and `height` [m] along z; J from Saint-Venant's series."""
        b = _checks.size(width, "Section.rectangle: width")
        h = _checks.size(height, "Section.rectangle: height")
        long, short = max(b, h), min(b, h)
        series = sum(tanh(n * pi * long / (2 * short)) / n**5 for n in range(1, 2 * _TERMS, 2))
        J = long * short**3 / 3 * (1 - 192 / pi**5 * short / long * series)
        return cls(b * h, b * h**3 / 12, h * b**3 / 12, J)

    @classmethod
    def circle(cls, radius: float) -> "Section":
        """Full, of `radius` [m]."""
        r = _checks.size(radius, "Section.circle: radius")
        return cls(pi * r**2, pi * r**4 / 4, pi * r**4 / 4, pi * r**4 / 2)

    @classmethod
    def tube(cls, radius: float, wall: float) -> "Section":
        """A round tube of outer `radius` [m] and wall thickness `wall` [m], less than the radius."""
        r = _checks.size(radius, "Section.tube: radius")
        t = _checks.size(wall, "Section.tube: wall")
        if t >= r:
            raise ModelError(f"Section.tube: wall is {t:g} m, but radius only {r:g} m. Use Section.circle.")
        inner = r - t
        second = pi * (r**4 - inner**4) / 4
        return cls(pi * (r**2 - inner**2), second, second, 2 * second)


@dataclass(frozen=True)
class Material:
    """A linearly elastic isotropic material: `Material(E=, poisson=, density=)`.

    E: Young's modulus [Pa]; poisson: Poisson's ratio, from 0 to 0.5; density [kg/m3].
    damping: retardation time of a Kelvin-Voigt material [s]: its stress is E (strain + damping d strain/dt). A motion
    at the angular frequency w has the damping ratio damping w / 2.
    """

    E: float
    density: float
    poisson: float = 0.3
    damping: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "E", _checks.size(self.E, "Material: E"))
        object.__setattr__(self, "density", _checks.size(self.density, "Material: density"))
        object.__setattr__(self, "damping", _checks.not_negative(self.damping, "Material: damping"))
        object.__setattr__(self, "poisson", _checks.not_negative(self.poisson, "Material: poisson"))
        if self.poisson > 0.5:
            raise ModelError(f"Material: poisson is {self.poisson:g}, but at most 0.5. Give 0.3 for a metal.")

    @classmethod
    def steel(cls, damping: float = 0.0) -> "Material":
        """210 GPa, 7850 kg/m3, Poisson's ratio 0.3; damping: retardation time [s]."""
        return cls(210e9, 7850.0, 0.3, damping)

    @classmethod
    def aluminium(cls, damping: float = 0.0) -> "Material":
        """70 GPa, 2700 kg/m3, Poisson's ratio 0.33; damping: retardation time [s]."""
        return cls(70e9, 2700.0, 0.33, damping)

    @property
    def G(self) -> float:
        """Shear modulus [Pa], E / (2 (1 + poisson))."""
        return self.E / (2.0 * (1.0 + self.poisson))


@dataclass(frozen=True)
class Slender:
    """What Body.rod, Body.cylinder and Body.box know of their shape: enough to make them flexible.

    length: from base to tip [m]. along: the axis, as in these. section: None for a rod without a radius.
    """

    length: float
    along: str
    section: Section | None
