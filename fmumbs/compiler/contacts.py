"""Contacts: their spots, the laws that watch these, and their bristles among the states (core/forces/contact.c)."""

from collections.abc import Callable

from fmumbs.compiler.laws import NO_FORCE, UNBOUNDED, add_law
from fmumbs.compiler.layout import lib
from fmumbs.compiler.links import Links
from fmumbs.mechanism import Body, Model, Plane, Point, Road, Sphere
from fmumbs.mechanism.contact import Coulomb
from fmumbs.mechanism.forces import Contact

_WATCHED = (("touches", -UNBOUNDED, 0.0), ("released", -UNBOUNDED, 0.0), ("slips", 0.0, UNBOUNDED))
_NO_FRICTION = Coulomb(0.0, creep=1.0)  # its numbers are not used
_FALL = 9.81  # [m/s2] what presses by their weight, to find what is small of bristles


def add_watches(out: Links, model: Model, put: Callable[[str], int]) -> None:
    """Adds the laws that watch spots, behind all others of joints and springs; put: stores a text."""
    spot = 0
    for contact in model.forces_of(Contact):
        brushed = _rubs(contact) == lib.FM_RUBS_BY_BRISTLES
        for number in range(len(contact.A.spots)):
            for what, lower, upper in _WATCHED[: 3 if brushed else 2]:
                first = len(out.rows.get("law_range", ()))
                add_law(out, put(f"{contact.name}.spot{number + 1}.{what}"), first, 1, spot=spot)
                out.add(law_range=[lower, upper, -UNBOUNDED, UNBOUNDED, 0.0], law_polynomial=NO_FORCE)
            spot += 1


def add_contact(
    out: Links, contact: Contact, put_point: Callable[[Point], int], put: Callable[[str], int]
) -> None:
    """Adds a contact with its spots and bristles. put_point, put: store a point, a text."""
    rows, rubs, law = out.rows, _rubs(contact), contact.friction or _NO_FRICTION
    number, mass = len(rows.get("contact_name", ())), _mass(contact)
    stiffness = law.stiffness or 1.0
    damping = law.damping or (stiffness * mass / len(contact.A.spots)) ** 0.5
    small = max(law.static or 0.0, 0.1) * mass * _FALL / stiffness
    out.add(
        contact_spot=len(rows.get("spot_name", ())), contact_spots=len(contact.A.spots), contact_rubs=rubs,
        contact_state=len(rows.get("start_z", ())) if rubs == lib.FM_RUBS_BY_BRISTLES else -1,
        contact_stiffness=contact.normal.stiffness, contact_exponent=contact.normal.exponent,
        contact_damping=contact.normal.damping, contact_mu=law.mu, contact_static=law.static,
        contact_stribeck=law.stribeck, contact_tangential=stiffness, contact_tangential_damping=damping,
        contact_creep=law.creep or 1.0, contact_name=put(contact.name),
    )  # fmt: skip
    on_B = put_point(contact.B.at)
    flat = isinstance(contact.B, Plane | Road)
    radius = 0.0 if isinstance(contact.B, Plane | Road) else contact.B.radius
    road = _add_road(out, contact.B) if isinstance(contact.B, Road) else -1
    for centre, (_, half) in zip(contact.centres, contact.A.spots, strict=True):
        state = -1
        if rubs == lib.FM_RUBS_BY_BRISTLES:
            state = len(rows.get("start_z", ()))
            for _ in range(3):
                out.add(start_z=0.0, bristle_friction=-1)
        out.add(
            spot_contact=number, spot_P=put_point(centre), spot_Q=on_B, spot_half=list(half), spot_plane=int(flat),
            spot_reach=radius if flat or isinstance(contact.B, Sphere) else -radius, spot_road=road,
            spot_law=rows["law_spot"].index(len(rows.get("spot_name", ()))), spot_state=state, spot_nominal=small,
            spot_name=put(contact.name),
        )  # fmt: skip


def _add_road(out: Links, road: Road) -> int:
    """The number of a road, which several contacts may share."""
    if road.profile not in out.roads:
        out.roads[road.profile] = len(out.roads)
        out.add(road_knot=len(out.rows.get("knot_x", ())), road_knots=len(road.profile))
        for (x, z), slope in zip(road.profile, road.slopes, strict=True):
            out.add(knot_x=x, knot_z=z, knot_slope=slope)
    return out.roads[road.profile]


def _rubs(contact: Contact) -> int:
    if contact.friction is None:
        return int(lib.FM_RUBS_NOT)
    return int(lib.FM_RUBS_SMOOTHLY if contact.friction.stiffness is None else lib.FM_RUBS_BY_BRISTLES)


def _mass(contact: Contact) -> float:
    """The reduced mass of the two bodies [kg]; 1 where neither has any."""
    bodies = [end.body for end in contact.ends]
    inverse = sum(1.0 / body.mass for body in bodies if isinstance(body, Body) and body.mass > 0.0)
    return 1.0 / inverse if inverse else 1.0
