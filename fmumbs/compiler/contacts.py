"""Contacts: their spots, the laws that watch these, and their bristles among the states (core/forces/contact.c)."""

from collections.abc import Callable, Iterable
from itertools import islice

import numpy as np

from fmumbs.compiler.laws import NO_FORCE, UNBOUNDED, add_law
from fmumbs.compiler.layout import lib
from fmumbs.compiler.links import Links
from fmumbs.mechanism import Body, Model, Plane, Road, Sphere
from fmumbs.mechanism.contact import Coulomb
from fmumbs.mechanism.forces import Contact, Tyre

_BELOW, _ABOVE = (-UNBOUNDED, 0.0), (0.0, UNBOUNDED)
_WATCHED = {"touches": _BELOW, "released": _BELOW, "slips": _ABOVE, "rolls": _ABOVE, "drills": _ABOVE}
_NO_FRICTION = Coulomb(0.0, creep=1.0)  # its numbers are not used
_SMALL = 1e-4  # of the length: an arm, and an overlap whose force presses where there is no gravity


def add_contacts(
    out: Links, model: Model, length: float, put_point: Callable[..., int], put: Callable[[str], int]
) -> None:
    """Adds the contacts of a model of this length [m], and the laws that watch their spots, behind all others.

    put_point: stores a point, or one this far from it in its axes. put: stores a text.
    """
    contacts, spot = model.forces_of(Contact), 0
    fall = float(np.linalg.norm(model.gravity))
    for contact in contacts:
        watched = lib.FM_SPOT_LAWS if _turns(contact) else lib.FM_SPOT_ROLLS if _brushed(contact) else lib.FM_SPOT_SLIPS
        for number in range(len(contact.A.spots)):
            for what, (lower, upper) in islice(_WATCHED.items(), watched):
                first = len(out.rows.get("law_range", ()))
                add_law(out, put(f"{contact.name}.spot{number + 1}.{what}"), first, 1, spot=spot)
                out.add(law_range=[lower, upper, -UNBOUNDED, UNBOUNDED, 0.0], law_polynomial=NO_FORCE)
            spot += 1
    for contact in contacts:
        _add_contact(out, contact, fall, _SMALL * length, put_point, put)


def _add_contact(
    out: Links, contact: Contact, fall: float, small: float, put_point: Callable[..., int], put: Callable[[str], int]
) -> None:
    """Adds a contact with its spots and bristles. fall: gravity [m/s2]. small: of a length [m]."""
    rows, law, spots = out.rows, contact.friction or _NO_FRICTION, len(contact.A.spots)
    tyre = contact if isinstance(contact, Tyre) else None
    mu, static = (tyre.mu, tyre.mu) if tyre else (law.mu, law.static or 0.0)
    slip, relaxation = (tyre.slip_stiffness, tyre.relaxation) if tyre else ((1.0, 1.0), (1.0, 1.0))
    number, mass, inertia = len(rows.get("contact_name", ())), _mass(contact), _inertia(contact)
    stiffness = max(c / length for c, length in zip(slip, relaxation, strict=True)) if tyre else law.stiffness or 1.0
    damping = (tyre or law).damping or (stiffness * mass / spots) ** 0.5
    turning = law.turning_stiffness or 1.0
    pressed = mass * fall if fall > 0.0 else contact.normal.stiffness * small**contact.normal.exponent
    first = len(rows.get("start_z", ()))
    out.add(
        contact_spot=len(rows.get("spot_name", ())), contact_spots=spots, contact_rubs=_rubs(contact),
        contact_state=first if _brushed(contact) else -1, contact_turn=first + 3 * spots if _turns(contact) else -1,
        contact_stiffness=contact.normal.stiffness, contact_exponent=contact.normal.exponent,
        contact_damping=contact.normal.damping, contact_mu=mu, contact_static=static,
        contact_stribeck=law.stribeck, contact_tangential=stiffness, contact_tangential_damping=damping,
        contact_creep=law.creep or 1.0, contact_rolling=law.rolling_arm, contact_drilling=law.drilling_arm,
        contact_turning=turning, contact_turning_damping=law.turning_damping or (turning * inertia / spots) ** 0.5,
        contact_slip_stiffness=list(slip), contact_relaxation=list(relaxation), contact_name=put(contact.name),
    )  # fmt: skip
    on_B = put_point(contact.B.at)
    flat = isinstance(contact.B, Plane | Road)
    radius = 0.0 if isinstance(contact.B, Plane | Road) else contact.B.radius
    road = _add_road(out, contact.B) if isinstance(contact.B, Road) else -1
    for k, (centre, half) in enumerate(contact.A.spots):
        out.add(
            spot_contact=number, spot_P=put_point(contact.A.at, centre), spot_Q=on_B, spot_half=list(half),
            spot_plane=int(flat), spot_reach=radius if flat or isinstance(contact.B, Sphere) else -radius,
            spot_road=road, spot_law=rows["law_spot"].index(len(rows.get("spot_name", ()))),
            spot_nominal=max(static, 0.1) * pressed / stiffness, spot_state=first + 3 * k if _brushed(contact) else -1,
            spot_name=put(contact.name), spot_roll=len(rows.get("roll_name", ())) if _turns(contact) else -1,
        )  # fmt: skip
        if _turns(contact):
            arm = max(law.rolling_arm, law.drilling_arm, small)
            out.add(
                roll_spot=len(rows["spot_name"]) - 1, roll_state=first + 3 * (spots + k), roll_name=put(contact.name),
                roll_nominal=arm * pressed / turning,
            )  # fmt: skip
    for _ in range(3 * spots * (_brushed(contact) + _turns(contact))):
        out.add(start_z=0.0, bristle_friction=-1)


def _add_road(out: Links, road: Road) -> int:
    """The number of a road, which several contacts may share."""
    if road.profile not in out.roads:
        out.roads[road.profile] = len(out.roads)
        out.add(road_knot=len(out.rows.get("knot_x", ())), road_knots=len(road.profile))
        for (x, z), slope in zip(road.profile, road.slopes, strict=True):
            out.add(knot_x=x, knot_z=z, knot_slope=slope)
    return out.roads[road.profile]


def _brushed(contact: Contact) -> bool:
    return _rubs(contact) in (lib.FM_RUBS_BY_BRISTLES, lib.FM_RUBS_AS_TYRE)


def _turns(contact: Contact) -> bool:
    """Whether it has bristles against rolling and drilling."""
    return contact.friction is not None and contact.friction.turning_stiffness is not None


def _rubs(contact: Contact) -> int:
    if isinstance(contact, Tyre):
        return int(lib.FM_RUBS_AS_TYRE)
    if contact.friction is None:
        return int(lib.FM_RUBS_NOT)
    return int(lib.FM_RUBS_SMOOTHLY if contact.friction.stiffness is None else lib.FM_RUBS_BY_BRISTLES)


def _mass(contact: Contact) -> float:
    """The reduced mass of the two bodies [kg]; 1 where neither has any."""
    bodies = [end.body for end in contact.ends]
    return _reduced(body.mass for body in bodies if isinstance(body, Body))


def _inertia(contact: Contact) -> float:
    """The same of the mean principal moments of inertia [kg.m2]."""
    bodies = [end.body for end in contact.ends]
    return _reduced(sum(body.inertia[k][k] for k in range(3)) / 3.0 for body in bodies if isinstance(body, Body))


def _reduced(values: Iterable[float]) -> float:
    inverse = sum(1.0 / value for value in values if value > 0.0)
    return 1.0 / inverse if inverse else 1.0
