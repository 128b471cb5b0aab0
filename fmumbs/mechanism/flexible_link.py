"""Flexible links by the rigid finite element method in its modified formulation (copcod, sections 2.1 and 2.2.4).

A link of length L is divided into n equal parts of length D = L / n. At the middle of each stands a spring-damper
element (sde), in which the flexibility of the part is lumped; between them lie n + 1 rigid finite elements (rfe), those
at the ends half as long as the others. An sde has the coordinates psi (torsion, about the axis of the link), theta and
phi (bending about the section's y and z) and, where the link stretches, a slide e along the axis, with the stiffnesses

    s_psi = G J / D,   s_theta = E Iy / D,   s_phi = E Iz / D,   s_e = E A / D        (diagonal S of Eq 17.1)

and dampings of `damping` times these (D of Eq 17.2). Deflections, rotations and frequencies converge with D^2.

**Order of rotations.** An sde turns about x, y, z (x: the axis of the link). If its springs acted on these angles,
there would be an error of first order wherever the link bends in both planes at once: R = Rx Ry Rz has the rotation
vector (psi + theta phi / 2, theta - psi phi / 2, phi + psi theta / 2) to second order. So they act on the rotation
vector (Joint's rotation_spring), which has no order: each element is right to second order by itself, whatever stands
beside it, and one link of n elements moves as n links of one element that are welded together. The first, third, ...
sde slides before it turns, the others afterwards: a slide by itself is off by half its stretch, so that a chain of
links of one element that stretch has an error of the order strain times D.

Angles of each sde must stay small, as beam theory has it; the link as a whole may turn and roll up as it likes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from fmumbs import _checks
from fmumbs._checks import Vec3
from fmumbs.errors import ModelError
from fmumbs.mechanism.bodies import Body, Frame, Point, along_axis
from fmumbs.mechanism.element import Composite
from fmumbs.mechanism.joints import Joint, JointBase
from fmumbs.mechanism.joints.mode import Mode, Slide, Turn
from fmumbs.mechanism.section import Material, Section
from fmumbs.spatial import Rotation, Transform

_PLANES = {"xy": (0, 1), "xz": (0, 2), "yz": (1, 2)}
_LETTERS = "xyz"
_SLACK = 1e-9  # of the length, for rounding in what the user computed
_STIFFNESSES = ("EA", "EIy", "EIz", "GJ")


@dataclass(frozen=True)
class FlexibleLink(Composite):
    """A slender link that bends in two planes and twists: `FlexibleLink(name, length=, section=, material=)`.

    It stands where a Body.rod could: from `base`, the origin of its frame, to `tip`, `length` [m] along one of its
    axes; `.at(x, y, z)` is a point fixed to the cross-section there. Model.add() adds its parts: the bodies NAME_1 to
    NAME_{n+1} and the joints NAME_e1 to NAME_en between them, n being the number of `elements`.

    length: [m]. along: axis of its frame, "x", "y", "z" or with a minus sign. The section's y and z are the next two
        axes of the frame in cyclic order (for "x" they are y and z, for "y" z and x).
    section, material: from which follow stiffness, mass and damping; or in their place
    EA [N], EIy, EIz, GJ [N.m2]: the stiffnesses; mass: [kg]; axial_inertia: about its axis [kg.m2]. Then its
        cross-sections have no inertia about y and z. With section and material, mass and axial_inertia override theirs.
    damping: retardation time [s] (see Material); by default the material's.
    elements: how many spring-damper elements it has, 1 to 1000.
    plane: "xy", "xz" or "yz": it bends in that plane of its frame alone, and does not twist; by default in both.
    stretch: whether it stretches too, which needs EA.
    points: {name: (x, y, z)}, named points on it in its frame.

    Its deformation: the variables of the joint NAME_tip, which measures and does not constrain. NAME_tip.q[1..3] is
    the deflection of the tip in the axes of the base [m]: how far it is from the tip of the undeformed link; q[4..6]
    is its rotation against the base, by an angle about the section's y, then the axis of the link, then z [rad]; qd
    and qdd are their rates. `angles` names the coordinates of each element.

    Raises ModelError for missing stiffness or mass, a link that twists without axial inertia, and a place beyond its
    ends.
    """

    length: float = field(kw_only=True)
    section: Section | None = field(default=None, kw_only=True)
    material: Material | None = field(default=None, kw_only=True)
    EA: float | None = field(default=None, kw_only=True)
    EIy: float | None = field(default=None, kw_only=True)
    EIz: float | None = field(default=None, kw_only=True)
    GJ: float | None = field(default=None, kw_only=True)
    mass: float | None = field(default=None, kw_only=True)
    axial_inertia: float | None = field(default=None, kw_only=True)
    damping: float | None = field(default=None, kw_only=True)
    elements: int = field(default=10, kw_only=True)
    along: str = field(default="x", kw_only=True)
    plane: str | None = field(default=None, kw_only=True)
    stretch: bool = field(default=False, kw_only=True)
    points: Mapping[str, ArrayLike] | tuple[tuple[str, Vec3], ...] = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._store("length", _checks.size(self.length, self._where("length")))
        self._check_elements()
        along_axis(self.along, self._where("along"))
        if self.plane is not None:
            self._check_plane()
        self._check_stiffness()
        for what in ("mass", "axial_inertia", "damping", "EA"):
            if getattr(self, what) is not None:
                self._store(what, _checks.not_negative(getattr(self, what), self._where(what)))
        self._check_inertia()
        self._store("points", self._named_points())
        bodies = self._bodies()
        self._consist_of(*bodies, *self._joints(bodies), _measure(self, bodies))

    # Checks -------------------------------------------------------------------------------------------------

    def _check_elements(self) -> None:
        n = self.elements
        if not isinstance(n, int) or isinstance(n, bool) or not 1 <= n <= 1000:
            raise ModelError(
                f"{self._where('elements')} is {_checks.shown(n)}, but must be 1 to 1000. For none take Body.rod."
            )

    def _check_plane(self) -> None:
        k, _ = along_axis(self.along, self._where("along"))
        if not isinstance(self.plane, str) or k not in _PLANES.get(self.plane, ()):
            good = ", ".join(f"'{name}'" for name, axes in _PLANES.items() if k in axes)
            raise ModelError(
                f"{self._where('plane')} is {_checks.shown(self.plane)}, but it lies along {self.along}. Give one of "
                f"{good}, or None for a link that bends in both."
            )

    def _check_stiffness(self) -> None:
        if (self.section is None) != (self.material is None):
            one, other = ("material", "section") if self.section is None else ("section", "material")
            raise ModelError(f"{self._where(one)} is given without a {other}. Give both, or EIy, EIz, GJ and mass.")
        for what, kind in (("section", Section), ("material", Material)):
            value = getattr(self, what)
            if value is not None and not isinstance(value, kind):
                raise ModelError(f"{self._where(what)} is a {type(value).__name__}. Give a fm.{kind.__name__}.")
        for what in _STIFFNESSES:
            value = getattr(self, what)
            if value is not None:
                if self.section is not None:
                    raise ModelError(f"{self._where(what)} is given beside section and material. Leave it out.")
                self._store(what, _checks.size(value, self._where(what)))
        for what in self._needed():
            if self.section is None and getattr(self, what) is None:
                raise ModelError(f"{self._where(what)} is not given. Give it, or section= and material=.")

    def _needed(self) -> tuple[str, ...]:
        """The stiffnesses of its freedoms, in the order stretch, torsion, bending about y, about z."""
        stretch = ("EA",) if _checks.flag(self.stretch, self._where("stretch")) else ()
        if self.plane is None:
            return (*stretch, "GJ", "EIy", "EIz")
        k, _ = along_axis(self.along, self.name)
        normal = ({0, 1, 2} - set(_PLANES[self.plane])).pop()
        return (*stretch, "EIy" if normal == (k + 1) % 3 else "EIz")

    def _check_inertia(self) -> None:
        if self.section is None and not self.mass:
            raise ModelError(f"{self._where('mass')} is not given. Give it, or section= and material=.")
        if self.mass is not None:
            _checks.size(self.mass, self._where("mass"))
        if self.plane is None and not self.total_axial_inertia:
            raise ModelError(
                f"{self._where('axial_inertia')} is zero, but the link twists, which needs an inertia about its axis. "
                "Give axial_inertia=, or section= and material=, or plane= for a link that bends in that plane alone."
            )

    def _named_points(self) -> tuple[tuple[str, Vec3], ...]:
        found = []
        fix = "Give {name: (x, y, z)}."
        points = {} if isinstance(self.points, tuple) and not self.points else self.points
        given = _checks.mapping(points, self._where("points"), fix)
        for name, value in given.items():
            where = f"Point on '{self.name}': '{name}'"
            if name in ("base", "tip"):
                raise ModelError(f"{where} exists on every link. Give it another name.")
            found.append((name, _checks.vector(value, where)))
        return tuple(found)

    # Properties ---------------------------------------------------------------------------------------------

    def stiffness(self, what: str) -> float:
        """A stiffness, given or from section and material; what: "EA" [N], "EIy", "EIz" or "GJ" [N.m2]."""
        if self.section is None or self.material is None:
            return float(getattr(self, what) or 0.0)
        s, m = self.section, self.material
        return {"EA": m.E * s.area, "EIy": m.E * s.Iy, "EIz": m.E * s.Iz, "GJ": m.G * s.J}[what]

    @property
    def total_mass(self) -> float:
        """[kg]."""
        if self.mass is not None:
            return self.mass
        assert self.section is not None and self.material is not None
        return self.material.density * self.section.area * self.length

    @property
    def total_axial_inertia(self) -> float:
        """About its axis [kg.m2]."""
        if self.axial_inertia is not None:
            return self.axial_inertia
        if self.section is None:
            return 0.0
        return self.total_mass * (self.section.Iy + self.section.Iz) / self.section.area

    @property
    def retardation(self) -> float:
        """Damping over stiffness [s]."""
        if self.damping is not None:
            return self.damping
        return 0.0 if self.material is None else self.material.damping

    @property
    def axis(self) -> Vec3:
        """From base to tip, a unit vector in its frame."""
        k, sign = along_axis(self.along, self.name)
        return tuple(sign if i == k else 0.0 for i in range(3))  # type: ignore[return-value]

    @property
    def bodies(self) -> tuple[Body, ...]:
        """The rigid finite elements, from base to tip."""
        return tuple(part for part in self.parts if isinstance(part, Body))

    @property
    def joints(self) -> tuple[JointBase, ...]:
        """The spring-damper elements, from base to tip."""
        return tuple(part for part in self.parts if isinstance(part, JointBase))[:-1]

    @property
    def angles(self) -> tuple[dict[str, str], ...]:
        """Of each element the names of its coordinates, by "stretch", "torsion", "y" and "z" (bending about these)."""
        called = {"EA": "stretch", "GJ": "torsion", "EIy": "y", "EIz": "z"}
        found = []
        for i in range(self.elements):
            order = self._order(i)
            index = [f"[{k + 1}]" for k in range(len(order))] if len(order) > 1 else [""]
            found.append({called[what]: f"{self.name}_e{i + 1}.q{k}" for what, k in zip(order, index, strict=True)})
        return tuple(found)

    # Points -------------------------------------------------------------------------------------------------

    @property
    def base(self) -> Point:
        """Where it begins."""
        return self.bodies[0].base

    @property
    def tip(self) -> Point:
        """Where it ends."""
        return self.bodies[-1].tip

    def point(self, name: str) -> Point:
        """Its named point; ModelError with the nearest name if there is none."""
        for body in self.bodies:
            if any(frame.name == name for frame in body.points):
                return body.point(name)
        names = ["base", "tip", *dict(self.points)]
        raise ModelError(
            f"FlexibleLink '{self.name}' has no point '{name}'. {_checks.nearest(name, names)} "
            f"Use {self.name}.at(x, y, z) or points= for another."
        )

    def at(
        self,
        x: float = 0.0,
        y: float = 0.0,
        z: float = 0.0,
        *,
        rotation: Rotation | None = None,
        name: str | None = None,
    ) -> Point:
        """A point at x, y, z [m] in the frame of the undeformed link, fixed to the cross-section there.

        rotation: of its axes. name: makes its position, velocity and acceleration variables of the FMU, as those of
        the rfe that it is on. Raises ModelError for a place beyond the ends.
        """
        i, start = self._element_at((x, y, z), f"Point on '{self.name}'")
        a, b, c = (np.array((x, y, z), float) - start * np.array(self.axis)).tolist()
        return self.bodies[i].at(a, b, c, rotation=rotation, name=name)

    def _element_at(self, place: ArrayLike, where: str) -> tuple[int, float]:
        """Which rfe a place is on, and how far from the base that begins."""
        s = float(np.dot(self.axis, _checks.vector(place, where)))
        if not -_SLACK * self.length <= s <= (1 + _SLACK) * self.length:
            raise ModelError(
                f"{where} is {s:g} m along the link, which is {self.length:g} m long. Give a place between its ends."
            )
        i = min(max(int(np.floor(s / self.length * self.elements + 0.5)), 0), self.elements)
        return i, self._starts()[i]

    def _starts(self) -> list[float]:
        """Where each rfe begins, along the axis [m]."""
        part = self.length / self.elements
        return [0.0, *((i + 0.5) * part for i in range(self.elements))]

    # Parts --------------------------------------------------------------------------------------------------

    def _bodies(self) -> list[Body]:
        starts = [*self._starts(), self.length]
        placed: dict[int, list[Frame]] = {i: [] for i in range(self.elements + 1)}
        placed[0].append(Frame("base", Transform.identity()))
        for name, place in dict(self.points).items():
            i, start = self._element_at(place, f"Point on '{self.name}': '{name}'")
            placed[i].append(Frame(name, Transform(None, np.array(place) - start * np.array(self.axis))))
        last = self.length - starts[-2]
        placed[self.elements].append(Frame("tip", Transform(None, last * np.array(self.axis))))
        return [self._rfe(i, starts[i + 1] - starts[i], placed[i]) for i in range(self.elements + 1)]

    def _rfe(self, i: int, length: float, points: list[Frame]) -> Body:
        """A rigid finite element; its frame is parallel to that of the link, its origin where it begins."""
        k, sign = along_axis(self.along, self.name)
        share = length / self.length
        mass, axial = share * self.total_mass, share * self.total_axial_inertia
        section = self.section
        own = (0.0, 0.0) if section is None else (mass * section.Iy / section.area, mass * section.Iz / section.area)
        moments = [0.0] * 3
        moments[k] = axial
        moments[(k + 1) % 3], moments[(k + 2) % 3] = (mass * length**2 / 12 + each for each in own)
        com = [0.0] * 3
        com[k] = sign * length / 2
        name = f"{self.name}_{i + 1}"
        return Body(name, mass=mass, com=com, inertia=moments, points=points, measured=True)

    def _order(self, i: int) -> tuple[str, ...]:
        slide, turns = (("EA",) if self.stretch else ()), tuple(what for what in self._needed() if what != "EA")
        return (*slide, *turns) if i % 2 == 0 else (*turns, *slide)

    def _joints(self, bodies: list[Body]) -> list[_Element]:
        k, _ = along_axis(self.along, self.name)
        axes = {"GJ": k, "EIy": (k + 1) % 3, "EIz": (k + 2) % 3}
        starts, part = [*self._starts(), self.length], self.length / self.elements

        def mode(what: str) -> Mode:
            return Slide(self.axis) if what == "EA" else Turn(_LETTERS[axes[what]])

        found = []
        for i in range(self.elements):
            order, behind = self._order(i), (starts[i + 1] - starts[i]) * np.array(self.axis)
            stiffness = [self.stiffness(what) / part for what in order]
            x, y, z = behind.tolist()
            found.append(
                _Element(
                    f"{self.name}_e{i + 1}",
                    bodies[i].at(x, y, z),
                    bodies[i + 1].at(),
                    modes=tuple(mode(what) for what in order),
                    stiffness=stiffness,
                    damping=[self.retardation * value for value in stiffness],
                    rotation_spring=self.plane is None,
                    part=part,
                    q0=[0.0] * len(order),  # given, so that loops are closed without deforming it where they can be
                )
            )
        return found


@dataclass(frozen=True)
class _Element(Joint):
    """A spring-damper element. part: the length of the link that is lumped in it [m]."""

    part: float = field(default=1.0, kw_only=True)

    @property
    def strains(self) -> tuple[float, ...]:
        return tuple(1.0 / self.part if mode.linear else 1.0 for mode in self.modes)


def _measure(link: FlexibleLink, bodies: list[Body]) -> Joint:
    """Where the tip is, seen from the base: a joint of six freedoms, which constrains nothing."""
    k, _ = along_axis(link.along, link.name)
    turns = tuple(Turn(_LETTERS[i % 3]) for i in (k + 1, k, k + 2))
    x, y, z = (link.length * np.array(link.axis)).tolist()
    return Joint(
        f"{link.name}_tip",
        bodies[0].at(x, y, z),
        bodies[-1].tip,
        modes=(Slide("x"), Slide("y"), Slide("z"), *turns),
        cut=True,
    )
