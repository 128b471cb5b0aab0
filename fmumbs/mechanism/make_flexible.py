"""Rigid bodies of a model made flexible: each rod, cylinder or box becomes a FlexibleLink that stands in its place."""

from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from typing import Any

import numpy as np

from fmumbs import _checks
from fmumbs.errors import ModelError
from fmumbs.mechanism.bodies import Body, Point
from fmumbs.mechanism.cam import Cam
from fmumbs.mechanism.coupling import Coupling
from fmumbs.mechanism.declared import DeclaredVariable
from fmumbs.mechanism.element import Element
from fmumbs.mechanism.flexible import ModalBody
from fmumbs.mechanism.flexible_link import FlexibleLink
from fmumbs.mechanism.laws import ForceLaw
from fmumbs.mechanism.model import Model, parts_of
from fmumbs.mechanism.program import Program
from fmumbs.mechanism.section import Material, Section

_OF_FRAME = ("r", "quat", "v", "w", "a", "alpha")  # variables of a body that the first element of its link has
_SLACK = 1e-9

Bodies = str | Body | Iterable[str | Body] | Mapping[str, FlexibleLink]


def make_flexible(
    model: Model,
    bodies: Bodies,
    *,
    material: Material | Mapping[str, Material] | None = None,
    sections: Mapping[str, Section] | None = None,
    elements: int = 10,
    plane: str | None = None,
    stretch: bool = False,
) -> Model:
    """A new model in which these rigid bodies are flexible links of the same name, place, length and mass.

    bodies: names or bodies, made by Body.rod, Body.cylinder or Body.box; or {name: FlexibleLink}, links to put in the
        places of bodies of any kind, whose frames then are the frames of the links.
    material: of all of them, or {name: Material}. Masses stay those of the bodies, whatever its density.
    sections: {name: Section}, for rods without a radius, or in place of those that bodies have.
    elements, plane, stretch: as of FlexibleLink.

    Joints, springs and loads act at the same places, on the element that is there. Signals keep their names; those of
    the frame of a body show the frame of the first element. The given model does not change.

    Raises ModelError, naming the body, where there is none of that name, for a body without section data, for something
    that acts on it beyond its ends, and for a declared variable that a flexible link cannot have.
    """
    fix = "Give {name: fm.Section.circle(...)}."
    sections = {} if sections is None else _checks.mapping(sections, "make_flexible: sections", fix)
    links = {
        name: _placed(model, name, given)
        or _link(model, name, _of(material, name), sections.get(name), elements, plane, stretch)
        for name, given in _named(model, bodies).items()
    }
    made = _with_links(model, links)
    for variable in model.declared:
        _declare(made, variable, links)
    return made


def _with_links(model: Model, links: Mapping[str, FlexibleLink]) -> Model:
    """A new model with the elements of another on links in the places of bodies."""
    made = Model(model.name, model.gravity, model.description)
    made.default_experiment = model.default_experiment
    replaced: dict[str, Any] = {}
    parts = {part.name for whole in model.elements for part in parts_of(whole)}
    for refers in (False, True):  # what refers to joints or springs comes behind them
        for element in model.elements:
            if element.name not in parts and isinstance(element, ForceLaw | Coupling | Program) == refers:
                replaced[element.name] = _moved(element, links, replaced)
                made.add(replaced[element.name])
    return made


def _named(model: Model, bodies: Bodies) -> dict[str, FlexibleLink | None]:
    if not isinstance(model, Model):
        raise ModelError(f"make_flexible needs a Model, not a {type(model).__name__}. Give one.")
    if isinstance(bodies, Mapping):
        named: dict[str, FlexibleLink | None] = _checks.mapping(bodies, "make_flexible: bodies", "Give names.")
    else:
        fix = "Give bodies, or their names, in a list."
        several = [bodies] if isinstance(bodies, str | Body) else _checks.items(bodies, "make_flexible: bodies", fix)
        named = {body.name if isinstance(body, Body) else str(body): None for body in several}
    known = [body.name for body in model.bodies]
    for name in named:
        if name not in known:
            raise ModelError(f"make_flexible: '{model.name}' has no body '{name}'. {_checks.nearest(name, known)}")
    return named


def _of(material: Material | Mapping[str, Material] | None, name: str) -> Material:
    found = material.get(name) if isinstance(material, Mapping) else material
    if not isinstance(found, Material):
        raise ModelError(f"make_flexible: there is no material for '{name}'. Give material=fm.Material.steel().")
    return found


def _placed(model: Model, name: str, link: FlexibleLink | None) -> FlexibleLink | None:
    """A link that the user gives, under the name of the body."""
    if link is None:
        return None
    if not isinstance(link, FlexibleLink):
        raise ModelError(f"make_flexible: for '{name}' there is a {type(link).__name__}. Give a FlexibleLink.")
    _check_ends(model, name, link)
    return replace(link, name=name)


def _link(
    model: Model,
    name: str,
    material: Material,
    section: Section | None,
    elements: int,
    plane: str | None,
    stretch: bool,
) -> FlexibleLink:
    body = model[name]
    if isinstance(body, ModalBody):
        raise ModelError(f"make_flexible: '{name}' is a ModalBody, flexible already. Leave it out.")
    assert isinstance(body, Body)
    if body.euler is not None:
        raise ModelError(
            f"make_flexible: '{name}' has Euler angles, which a link of several bodies does not have. Leave out its "
            "euler, and give it to a body that is fixed to the link."
        )
    if body.slender is None:
        raise ModelError(
            f"make_flexible: '{name}' has no section: it was made by its mass and inertia. Make it by Body.cylinder, "
            f"Body.box or Body.rod with a radius, or give {{'{name}': fm.FlexibleLink('{name}', ...)}}."
        )
    section = section or body.slender.section
    if section is None:
        raise ModelError(
            f"make_flexible: '{name}' is a rod without a radius, and so without a section. Give it a radius, or "
            f"sections={{'{name}': fm.Section.circle(...)}}."
        )
    link = FlexibleLink(
        name,
        length=body.slender.length,
        along=body.slender.along,
        section=section,
        material=material,
        mass=body.mass,
        elements=elements,
        plane=plane,
        stretch=stretch,
    )
    _check_ends(model, name, link)
    return link


def _check_ends(model: Model, name: str, link: FlexibleLink) -> None:
    """Everything that acts on the body is between the ends of the link."""
    ends = [(e, end) for e in model.elements for end in _given(e).values() if isinstance(end, Point)]
    for element, end in ends:
        if end.body.name != name:
            continue
        s = float(np.dot(link.axis, end.X_BP.offset))
        beyond = max(-s, s - link.length)
        if beyond > _SLACK * link.length:
            where = "before its base" if s < 0 else "beyond its tip"
            raise ModelError(
                f"make_flexible: {element.title} acts on '{name}' {beyond:g} m {where}, "
                f"where a flexible link has no element. Move it to between the ends, {link.length:g} m apart, or leave "
                f"'{name}' rigid."
            )


def _moved(element: Element, links: Mapping[str, FlexibleLink], replaced: Mapping[str, Any]) -> Element:
    """The element with its ends on the links, and what it refers to replaced."""
    if element.name in links:
        return links[element.name]
    if isinstance(element, Coupling) and not isinstance(element, Cam):
        terms = [(replaced[joint.name], mode, ratio) for joint, mode, ratio in element.coordinates]
        return replace(element, terms=terms)
    changed: dict[str, Any] = {}
    for name, value in _given(element).items():
        if isinstance(value, Point):
            changed[name] = _end(value, links)
        elif isinstance(value, Element):
            changed[name] = replaced[value.name]
    if isinstance(element, Program) and element.drives:
        changed["drives"] = tuple((replaced[joint.name], mode) for joint, mode in element.driven)
    return replace(element, **changed) if changed else element


def _given(element: Element) -> dict[str, Any]:
    """What it was made with, by name."""
    return {field.name: getattr(element, field.name) for field in fields(element) if field.init}


def _end(point: Point, links: Mapping[str, FlexibleLink]) -> Point:
    link = links.get(point.body.name)
    if link is None:
        return point
    if point.name in ("base", "tip"):
        return link.point(point.name)
    x, y, z = point.X_BP.offset
    return link.at(x, y, z, rotation=point.X_BP.rotation, name=point.name)


def _declare(made: Model, variable: DeclaredVariable, links: Mapping[str, FlexibleLink]) -> None:
    stem, _, rest = variable.target.partition(".")
    target = variable.target
    if stem in links:
        target = _element_of(made, links[stem], variable, rest)
    if variable.causality == "output":
        made.output(variable.name, of=target)
    elif variable.causality == "parameter":
        made.parameter(variable.name, of=target)
    else:
        made.input(variable.name, to=target, start=variable.start)


def _element_of(made: Model, link: FlexibleLink, variable: DeclaredVariable, rest: str) -> str:
    """The variable of the element that takes the place of the body's."""
    first, _, more = rest.partition(".")
    if more:
        for point in made.named_points:
            if point.name == first and point.body.name in {body.name for body in link.bodies}:
                return f"{point.body.name}.{rest}"
    if rest.partition("[")[0] in _OF_FRAME:
        return f"{link.bodies[0].name}.{rest}"
    raise ModelError(
        f"make_flexible: {variable.causality} '{variable.name}' is of '{variable.target}', which '{link.name}' as a "
        "flexible link does not have. Leave the declaration out, or leave the body rigid."
    )
