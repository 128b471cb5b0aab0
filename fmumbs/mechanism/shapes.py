"""Mass properties of homogeneous shapes.

Each function returns (mass [kg], moments [kg m2]) with the moments about the centre of mass, first about the
shape's axis and then about the two transverse axes. Exactly one of mass and density [kg/m3] is given.
"""

from math import pi

from fmumbs import _checks
from fmumbs._checks import Vec3
from fmumbs.errors import ModelError

Properties = tuple[float, tuple[float, ...]]


def rod(
    length: float, radius: float | None, mass: float | None, density: float | None, where: str
) -> Properties:
    """Solid cylinder; without a radius a thin rod, with no inertia about its axis."""
    length = _checks.size(length, f"{where}: length")
    if radius is None:
        if density is not None:
            raise ModelError(f"{where}: density is given without a radius. Give radius= or mass=.")
        radius = 0.0
    else:
        radius = _checks.size(radius, f"{where}: radius")
    m = mass_of(pi * radius**2 * length, mass, density, where)
    transverse = m * (length**2 / 12 + radius**2 / 4)
    return m, (m * radius**2 / 2, transverse, transverse)


def box(sizes: Vec3, mass: float | None, density: float | None, where: str) -> Properties:
    """Cuboid with edges `sizes` [m] along its three axes."""
    a, b, c = (_checks.size(s, f"{where}: size[{i + 1}]") for i, s in enumerate(sizes))
    m = mass_of(a * b * c, mass, density, where)
    return m, (m / 12 * (b**2 + c**2), m / 12 * (a**2 + c**2), m / 12 * (a**2 + b**2))


def sphere(radius: float, mass: float | None, density: float | None, where: str) -> Properties:
    """Solid sphere."""
    radius = _checks.size(radius, f"{where}: radius")
    m = mass_of(4 / 3 * pi * radius**3, mass, density, where)
    moment = 0.4 * m * radius**2
    return m, (moment, moment, moment)


def mass_of(volume: float, mass: float | None, density: float | None, where: str) -> float:
    """Mass [kg]: as given, or density [kg/m3] times volume [m3]. Raises ModelError unless exactly one is given."""
    if mass is None and density is None:
        raise ModelError(f"{where}: neither mass nor density is given. Give one of them.")
    if mass is not None and density is not None:
        raise ModelError(f"{where}: both mass and density are given. Leave one out.")
    if mass is not None:
        return _checks.not_negative(mass, f"{where}: mass")
    return volume * _checks.size(density, f"{where}: density")
