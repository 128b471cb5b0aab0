"""Flexible supports: a base on layers of spring-damper elements (copcod, section 2.2.3).

The base has six freedoms. The element j of layer i stands at the point E_ij of the base; with r its present position
and r0 that of the undeformed support, in the axes of F, its deformation and its force on the base are

    d = r - r0,    f = -S d - D d',    S = diag(s_x, s_y, s_z),   D = diag(d_x, d_y, d_z)        (Eqs 15.1, 15.2)

The position of the base is not linearised.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from numpy.typing import ArrayLike

from fmumbs import _checks
from fmumbs._checks import Vec3
from fmumbs.errors import ModelError
from fmumbs.mechanism.bodies import Ground, Point, point
from fmumbs.mechanism.element import Composite
from fmumbs.mechanism.joints import Joint, JointBase, Slide, Turn, Weld
from fmumbs.spatial import Transform

_FREEDOMS = (Slide("x"), Slide("y"), Slide("z"), Turn("x"), Turn("y"), Turn("z"))


@dataclass(frozen=True)
class Layer:
    """Equal spring-damper elements at some points of a support: `Layer(points, stiffness=, damping=)`.

    points: (n, 3) in the axes of the support's F, from its origin [m].
    stiffness, damping: (3,) along the axes of F [N/m], [N.s/m], or one number for all three.
    """

    points: Iterable[ArrayLike]
    stiffness: float | Sequence[float] = field(kw_only=True)
    damping: float | Sequence[float] = field(default=0.0, kw_only=True)

    def __post_init__(self) -> None:
        given = _checks.items(self.points, "Layer: points", "Give a list of places (x, y, z).")
        places = tuple(_checks.vector(p, f"Layer: points[{i + 1}]") for i, p in enumerate(given))
        if not places:
            raise ModelError("Layer: points are none. Give one or more.")
        object.__setattr__(self, "points", places)
        for what in ("stiffness", "damping"):
            value = getattr(self, what)
            three = value if isinstance(value, Iterable) else (value,) * 3
            three = _checks.vector(three, f"Layer: {what}")
            object.__setattr__(self, what, tuple(_checks.not_negative(v, f"Layer: {what}") for v in three))


@dataclass(frozen=True)
class FlexibleSupport(Composite):
    """A base on layers of spring-damper elements: `FlexibleSupport(name, F, M, layers=[fm.Layer(...)])`.

    F: a point on the ground, or on what carries the base; M: the point on the base that is at F without deformation.
    layers: any number. rigid: welds M to F in place of all that.

    Model.add() adds its parts: the joint NAME_base, whose q[1..6] are the displacement of the base in F's axes [m] and
    its angles about x, then y, then z [rad], and the joints NAME_i_j of the element j of layer i, which constrain
    nothing: q[1..3] is the deformation of the element [m].

    Raises ModelError for no layer, and for numbers that are not finite or negative.
    """

    F: Point
    M: Point
    layers: Sequence[Layer] = field(default=(), kw_only=True)
    rigid: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        point(self.F, self._where("F"))
        if isinstance(point(self.M, self._where("M")).body, Ground):
            raise ModelError(f"{self._where('M')} is on the ground. Give a point on the base that it carries.")
        layers = _checks.items(self.layers, self._where("layers"), "Give a list of fm.Layer.")
        if not all(isinstance(layer, Layer) for layer in layers):
            raise ModelError(f"{self._where('layers')} are {_checks.shown(layers)}. Give a list of fm.Layer.")
        self._store("rigid", _checks.flag(self.rigid, self._where("rigid")))
        if not layers and not self.rigid:
            raise ModelError(f"{self._where('layers')} are none, so nothing carries it. Give one, or rigid=True.")
        self._store("layers", layers)
        self._consist_of(*self._joints())

    @property
    def ends(self) -> tuple[Point, Point]:
        """F and M."""
        return self.F, self.M

    def _joints(self) -> tuple[JointBase, ...]:
        if self.rigid:
            return (Weld(self._own("base"), self.F, self.M),)
        joints: list[JointBase] = [Joint(self._own("base"), self.F, self.M, modes=_FREEDOMS)]
        for i, layer in enumerate(self.layers, 1):
            for j, place in enumerate(layer.points, 1):
                joints.append(self._element(f"{self.name}_{i}_{j}", layer, place))  # type: ignore[arg-type]
        return tuple(joints)

    def _own(self, what: str) -> str:
        return f"{self.name}_{what}"

    def _element(self, name: str, layer: Layer, place: Vec3) -> Joint:
        no_torque = (0.0, 0.0, 0.0)
        return Joint(
            name,
            _moved(self.F, place),
            _moved(self.M, place),
            modes=_FREEDOMS,
            stiffness=(*layer.stiffness, *no_torque),  # type: ignore[misc]
            damping=(*layer.damping, *no_torque),  # type: ignore[misc]
            cut=True,
        )


def _moved(end: Point, place: Vec3) -> Point:
    """A frame parallel to that of a point, at a place in its axes."""
    return Point(end.body, end.X_BP @ Transform(None, place))
