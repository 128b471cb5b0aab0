"""LuGre friction in joints (copcod, Eqs 19 to 22): bristles that deflect before the surfaces slide.

With the sliding velocity v and the normal force N,

    z' = v - sigma_0 |v| z / (mu_k + (mu_s - mu_k) exp(-(|v|/v_s)^2)),     F = N (sigma_0 z + sigma_1 z' + sigma_2 v)

F resists v. The deflection z of the bristles is a state.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

from fmumbs import _checks
from fmumbs._checks import Vec3
from fmumbs.errors import ModelError
from fmumbs.mechanism.given import UNSET, Unset


class Contact(NamedTuple):
    """One bristle of a joint: its name's end, its modes from `first` on, and the sliding velocity of each per unit.

    own: factors of the joint's force across the axis, along it, and of its torque across it. axis: in F's axes or, if
    on_M, in M's; zero: all directions are across it.
    """

    suffix: str
    first: int
    arms: tuple[float, ...]
    linear: bool
    own: tuple[float, float, float]
    axis: Vec3
    on_M: bool = False


@dataclass(frozen=True)
class LuGre:
    """LuGre friction, given to a joint as friction=.

    >>> pads = fm.LuGre(0.6, 0.4, stribeck=0.1, stiffness=1e3, damping=5.0, pressed=True)
    >>> rod = fm.Body.rod("rod", length=1.0, mass=1.0)
    >>> model.add(rod, fm.Revolute("disk", model.ground.at(), rod.base, friction=pads))  # with disk.friction.normal

    static, kinetic: coefficients of friction at rest and of fast sliding, above 0; their ratio is the factor by which
        the force at break-away exceeds that of sliding. stribeck: velocity v_s [rad/s] or [m/s] of the transition
        between them.
    stiffness, damping, viscous: sigma_0 [1/rad] or [1/m], above 0; sigma_1 and sigma_2 [s/rad] or [s/m], at least 0:
        force per normal force and per deflection of the bristles, its rate, and the sliding velocity.
    preload: constant part of the normal force [N], for a turning joint times the radius at which it acts [N.m].
    pressed: adds the input `normal` to it, such as the force of a brake or a clutch. A sum below 0 counts as 0.
    scale: factor of all coefficients, at least 0. scaled: adds the input `scale_in`, a further factor, 1 at first;
        below 0 it counts as 0.
    own: the joint's own reaction adds to the normal force, which is solved together with the motion. Its force f and
        torque t on M at M count as
            radius |f across the axis| + collar |f along it|   in Revolute and Universal joints, about each axis,
            radius |f|                                         in Spherical ones,
            |f across the axis| + |t across it| / guide        in Prismatic and Cylindrical ones.
    insist: a reaction that is not unique is refused; with True it is the smallest one, as J.reaction is.
    radius, collar: [m] of a turning joint's pin and of its end face; a cylindrical joint slides at its radius as it
        turns, and its other values are those of a sliding joint. guide: length [m]; 0: t does not count.

    Revolute and Prismatic joints have a bristle of one dimension, with v the joint's rate; a Cylindrical one has one of
    two, v = (radius qd1, qd2); a Universal one has two of one; a Spherical one has one of three, v = w, in M's axes.

    Variables, for a joint J: J.friction.force on the joint's modes, as its input tau, which is part of J.wrench and not
    of J.reaction; J.friction.z; .slip, the deflection relative to that of steady sliding, 1 if it slides and less if it
    sticks; .load, the normal force; and the parameters static, kinetic, stribeck, stiffness, damping, viscous, preload,
    scale. A Universal joint has J.friction[1] and J.friction[2].

    With a constant normal force and viscous * kinetic >= damping * (static - kinetic) friction is passive: it never
    gives back more than the energy that is in the bristles (Barabanov and Ortega 2000).

    Where friction on its own reaction jams a joint, steps fail with its name (fmi2Discard).

    Raises ModelError for a number out of range; the model that has it, for a reaction that is not unique.
    """

    static: float
    kinetic: float
    stribeck: float = field(kw_only=True)
    stiffness: float = field(kw_only=True)
    damping: float = field(default=0.0, kw_only=True)
    viscous: float = field(default=0.0, kw_only=True)
    preload: float = field(default=UNSET, kw_only=True)
    pressed: bool = field(default=False, kw_only=True)
    scale: float = field(default=1.0, kw_only=True)
    scaled: bool = field(default=False, kw_only=True)
    own: bool = field(default=False, kw_only=True)
    radius: float = field(default=0.0, kw_only=True)
    collar: float = field(default=0.0, kw_only=True)
    guide: float = field(default=0.0, kw_only=True)
    insist: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        never = isinstance(self.preload, Unset) and not (self.pressed or self.own)
        for name in ("static", "kinetic", "stribeck", "stiffness", "damping", "viscous", "preload", "scale"):
            value = getattr(self, name)
            if not isinstance(value, Unset):
                object.__setattr__(self, name, _checks.parameter("friction", name, value, f"LuGre: {name}"))
        for name in ("radius", "collar", "guide"):
            object.__setattr__(self, name, _checks.not_negative(getattr(self, name), f"LuGre: {name}"))
        for name in ("pressed", "scaled", "own", "insist"):
            object.__setattr__(self, name, _checks.flag(getattr(self, name), f"LuGre: {name}"))
        if self.static < self.kinetic:
            raise ModelError(f"LuGre: static is {self.static:g}, below kinetic, which is {self.kinetic:g}. Swap them.")
        if never:
            raise ModelError(
                "LuGre: there is no normal force, so it never acts. Give a preload, pressed=True or own=True."
            )

    def own_factors(self, slides: bool) -> tuple[float, float, float]:
        """(3,) what of the joint's reaction adds to the normal force of a contact (Contact.own).

        slides: the contact slides along its axis; else it turns about it.
        """
        if not self.own:
            return 0.0, 0.0, 0.0
        return (1.0, 0.0, 1.0 / self.guide if self.guide else 0.0) if slides else (self.radius, self.collar, 0.0)
