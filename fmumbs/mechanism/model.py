"""The Model: a named collection of elements, with gravity and declared variables.

It checks each element and that names are unique. Whether the model is valid as a whole (every body connected to the
ground, loops, inertia on each free mode) is checked when it is compiled.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from numpy.typing import ArrayLike

from fmumbs import _checks
from fmumbs._checks import Vec3
from fmumbs._late import later
from fmumbs.errors import ModelError
from fmumbs.mechanism.bodies import GROUND, Body, Ground, Point
from fmumbs.mechanism.coupling import Coupling
from fmumbs.mechanism.declared import Causality, DeclaredVariable, DefaultExperiment
from fmumbs.mechanism.element import Composite, Element
from fmumbs.mechanism.flexible_link import FlexibleLink
from fmumbs.mechanism.forces import FORCES, Force, Gear, Load, Motor, Rope, Spring
from fmumbs.mechanism.joints import JointBase
from fmumbs.mechanism.laws import ForceLaw, stops_of
from fmumbs.mechanism.program import Program
from fmumbs.mechanism.reading import Reading

_Kind = TypeVar("_Kind", bound=Force)
_One = TypeVar("_One", bound=Element)
_Found = TypeVar("_Found")

RESERVED = ("ground", "world", "solver", "gravity", "time")
_KINDS = (Body, Composite, JointBase, Coupling, Force, ForceLaw)


def parts_of(element: Element) -> tuple[Element, ...]:
    """What Model.add() adds with an element: the parts of a composite, the stops at a joint's limits."""
    if isinstance(element, Composite):
        return element.parts
    return stops_of(element) if isinstance(element, JointBase) and element.limits is not None else ()


class Model:
    """A mechanism: `Model(name, gravity=(0, 0, -9.81), description="")`.

    name: letters, digits and _; also the FMU's name. gravity: (3,) in the world's axes [m/s2]. description: a sentence
    for the FMU's readers.

    reading: if a reader made it, its report (Reading), else None. source_names: the names in the file of elements,
    points and coordinates, by their names in the model, such as {"arm": "left-arm", "arm.tool": "tool0"}.
    """

    def __init__(self, name: str, gravity: ArrayLike = (0.0, 0.0, -9.81), description: str = "") -> None:
        self.name = _checks.name(name, "Model")
        given = _checks.vector(gravity, f"Model '{name}': gravity")
        x, y, z = (
            _checks.parameter("model", "gravity", v, f"Model '{name}': gravity[{i + 1}]") for i, v in enumerate(given)
        )
        self.gravity: Vec3 = x, y, z
        self.description = _checks.text(description, f"Model '{name}': description")
        self.default_experiment: DefaultExperiment | None = None
        self.reading: Reading | None = None
        self.source_names: Mapping[str, str] = {}
        self._elements: dict[str, Element] = {}
        self._kept: tuple[int, dict[Any, Any]] = 0, {}  # what was found among so many elements
        self._declared: dict[str, DeclaredVariable] = {}
        self._locks: tuple[Coupling, ...] = ()

    def __repr__(self) -> str:
        counts = (
            (self.bodies, "bodies"),
            (self.joints, "joints"),
            (self.couplings, "couplings"),
            *((self.forces_of(kind), f"{kind.__name__.lower()}s") for kind in FORCES),
            (self.laws, "laws"),
        )
        text = ", ".join(f"{len(elements)} {what}" for elements, what in counts if elements)
        return f"<Model '{self.name}': {text or 'empty'}>"

    @property
    def ground(self) -> Ground:
        """The ground; `ground.at(x, y, z)` is a point fixed in the world."""
        return GROUND

    def add(self, *elements: Element) -> None:
        """Adds bodies, joints, composites such as flexible links and programs, couplings, forces and laws.

        elements: one or more; all of them are added, or none if one is refused.

        Raises ModelError for another type and for a name that is already in use.
        """
        new: dict[str, Element] = {}
        for given in elements:
            if not isinstance(given, _KINDS):
                raise ModelError(
                    f"Model '{self.name}': cannot add a {type(given).__name__}. "
                    "Add bodies, joints, couplings, programs, springs, loads, actuators, cylinders, motors, gears, "
                    "ropes and laws."
                )
            for element in (given, *parts_of(given)):
                self._check_name(element, new)
                new[element.name] = element
        self._elements.update(new)

    def _check_name(self, element: Element, new: dict[str, Element]) -> None:
        name, own = element.name, _named(element)
        if name in RESERVED:
            raise ModelError(f"Model '{self.name}': {own} has a reserved name. Call it '{name}_1'.")
        other = self._elements.get(name) or new.get(name)
        if other is None:
            return
        if other is element:
            raise ModelError(f"Model '{self.name}': {own} is added twice. Add it once.")
        k = 2
        while f"{name}{k}" in self._elements or f"{name}{k}" in new:
            k += 1
        raise ModelError(
            f"Model '{self.name}': {own} has the name of {_named(other)}. Rename one, e.g. '{name}{k}'."
        )

    def __getitem__(self, name: str) -> Element:
        """The element of that name; ModelError with the nearest name if there is none."""
        try:
            return self._elements[name]
        except KeyError:
            raise ModelError(
                f"Model '{self.name}' has no element '{name}'. {_checks.nearest(str(name), self._elements)}"
            ) from None

    def __contains__(self, name: object) -> bool:
        return name in self._elements

    def _ipython_key_completions_(self) -> list[str]:
        return list(self._elements)

    def _repr_html_(self) -> str:
        """What a notebook shows: joints and bodies, the mobility, and a picture of the start."""
        return str(later("view").model_html(self))

    @property
    def elements(self) -> tuple[Element, ...]:
        """Everything that was added, flexible links beside their parts, in order of adding."""
        return tuple(self._elements.values())

    @property
    def bodies(self) -> tuple[Body, ...]:
        """The bodies in the order in which they were added."""
        return self._of(Body)

    @property
    def flexible_links(self) -> tuple[FlexibleLink, ...]:
        """The flexible links as they were given; their elements are among the bodies."""
        return self._of(FlexibleLink)

    @property
    def joints(self) -> tuple[JointBase, ...]:
        """The joints in the order in which they were added, and in their places the drives of programs."""
        return self.found(JointBase, lambda: tuple(e for e in self._simple() if isinstance(e, JointBase)))

    def _of(self, kind: type[_One]) -> tuple[_One, ...]:
        """The elements of a class, in order of adding."""
        return self.found(kind, lambda: tuple(e for e in self._elements.values() if isinstance(e, kind)))

    def found(self, what: object, find: Callable[[], _Found]) -> _Found:
        """What find() returns, kept as `what` until an element is added, for use within this package."""
        if self._kept[0] != len(self._elements):
            self._kept = len(self._elements), {}
        kept = self._kept[1]
        if what not in kept:
            kept[what] = find()
        found: _Found = kept[what]
        return found

    def _simple(self) -> Iterator[Element]:
        """All elements, each program as its drive, which has its name."""
        return (e.drive if isinstance(e, Program) else e for e in self._elements.values())

    @property
    def programs(self) -> tuple[Program, ...]:
        return self._of(Program)

    @property
    def inner(self) -> frozenset[str]:
        """The names of what programs consist of beside their drives: massless targets, and constraints."""
        return frozenset(name for program in self.programs for name in program.inner)

    @property
    def locks(self) -> tuple[Coupling, ...]:
        """What holds coordinates in statics alone (lock.py); compile() adds them to a copy."""
        return self._locks

    @property
    def couplings(self) -> tuple[Coupling, ...]:
        return self._of(Coupling)

    def forces_of(self, kind: type[_Kind]) -> tuple[_Kind, ...]:
        """The force elements of one class; kind: such as fm.Spring."""
        return self._of(kind)

    @property
    def forces(self) -> tuple[Force, ...]:
        """All force elements, one class after the other."""
        return tuple(force for kind in FORCES for force in self.forces_of(kind))

    @property
    def springs(self) -> tuple[Spring, ...]:
        return self.forces_of(Spring)

    @property
    def loads(self) -> tuple[Load, ...]:
        return self.forces_of(Load)

    @property
    def ropes(self) -> tuple[Rope, ...]:
        return self.forces_of(Rope)

    @property
    def laws(self) -> tuple[ForceLaw, ...]:
        return self._of(ForceLaw)  # type: ignore[type-abstract]

    @property
    def named_points(self) -> tuple[Point, ...]:
        """Named points on bodies: those of the bodies, then those where elements act.

        Raises ModelError if two points of a body have the same name.
        """
        return self.found("points", self._named_points)

    def _named_points(self) -> tuple[Point, ...]:
        named = {(b.name, f.name): Point(b, f.X_BP, f.name) for b in self.bodies for f in b.points}
        for element in self._acting():
            for end in element.ends:
                if end.name is None or isinstance(end.body, Ground):
                    continue
                other = named.setdefault((end.body.name, end.name), end)
                if other.X_BP != end.X_BP:
                    raise ModelError(
                        f"Model '{self.name}': '{end!r}', where {element.title} "
                        f"acts, has the same name as another point of that body. Call one '{end.name}2'."
                    )
        return tuple(named.values())

    def points_beside(self, joints: Iterable[JointBase]) -> list[Point]:
        """The named points, and the points where elements other than these joints act."""
        left_out = {joint.name for joint in joints}
        ends = (end for element in self._acting() if element.name not in left_out for end in element.ends)
        return [*self.named_points, *ends]

    def check_ends(self) -> None:
        """Raises ModelError if an element acts on a body, joint or spring that is not in the model."""
        for law in self.laws:
            self._check_added(law, "acts on", law.on)
        for motor in self.forces_of(Motor):
            self._check_added(motor, "drives", motor.on)
        for gear in self.forces_of(Gear):
            for joint in (gear.A, gear.B):
                self._check_added(gear, "meshes with", joint)
        for coupling in self.couplings:
            for joint, _, _ in coupling.coordinates:
                self._check_added(coupling, "couples", joint)
        for rope in self.ropes:
            for pulley in rope.pulleys:
                self._check_added(rope, "runs over a pulley on", pulley.joint)
        for program in self.programs:
            for joint, _ in program.driven:
                self._check_added(program, "is realised by", joint)
        for element in self._acting():
            for end in element.ends:
                if isinstance(end.body, Ground):
                    continue
                here = self._elements.get(end.body.name)
                if here is end.body or here == end.body:
                    continue
                what = f"Model '{self.name}': {element.title} acts on '{end!r}'"
                if isinstance(here, Body):
                    raise ModelError(f"{what} of a body that differs from the '{here.name}' added. Use the one added.")
                raise ModelError(f"{what}, but the model has no body '{end.body.name}'. Add it to the model.")

    def _check_added(self, element: Element, does: str, what: Element) -> None:
        here = self._elements.get(what.name)
        if (here.drive if isinstance(here, Program) else here) == what:
            return
        text = f"Model '{self.name}': {element.title} {does} '{what.name}'"
        if what.name in self._elements:
            raise ModelError(f"{text}, which differs from the one added. Use the one added.")
        raise ModelError(f"{text}, which is not in the model. Add it to the model.")

    def _acting(self) -> Iterator[JointBase | Force]:
        return iter(self.found("acting", lambda: tuple(e for e in self._simple() if isinstance(e, JointBase | Force))))

    def simulate(self, **options: Any) -> Any:
        """Simulates the mechanism and returns its Result: fm.simulate(model, ...), whose options it takes."""
        return later("run").simulate(self, **options)

    def view(self, **options: Any) -> Any:
        """Simulates the mechanism and returns a picture of its motion: one HTML page, which a notebook shows.

        options: those of simulate(), such as stop [s] and inputs; stop=0 shows the start. The page needs no network:
        view().save("scene.html"), or view().open() to open it in a browser. It has buttons and keys for time, camera
        and forces; plots; reactions, green where the model determines them and red where not.

        A run that fails is shown as far as it came, with a warning. Raises ModelError if the model is invalid, and
        SolverError for an unknown name or a refused value.
        """
        return later("view").view_model(self, **options)

    def picture(
        self, path: str | os.PathLike[str] | None = None, *, show: bool | None = None, names: bool | None = None
    ) -> Any:
        """Draws the mechanism at its start by matplotlib, and returns the figure.

        A mechanism that moves in one plane is seen along the plane's normal, others from above at an angle.

        path: file for the picture, such as crane.png, .svg or .pdf. show: opens a window and waits until it is closed;
        by default only without a path. In a notebook the returned figure is shown. names: writes names beside bodies
        and joints; by default if there are at most 40.

        Warns if its loops do not close at the start values, and draws it at these. Raises ModelError if the model is
        invalid, and SolverError for a file that cannot be written and if matplotlib is missing.
        """
        return later("view").picture(self, path, show=show, names=names)

    @property
    def declared(self) -> tuple[DeclaredVariable, ...]:
        """The declared inputs, outputs and parameters; if there are none, the FMU exposes all variables."""
        return tuple(self._declared.values())

    def input(self, name: str, *, to: str, start: float | Sequence[float] | None = None) -> None:
        """Declares an input of the FMU, called `name`, that sets the variable `to`, such as "A.tau".

        start: initial value, one number for each component of a vector; by default that of the element.
        """
        self._declare(name, to, "input", start)

    def output(self, name: str, *, of: str) -> None:
        """Declares an output of the FMU, called `name`, that shows the variable `of`, such as "A.q"."""
        self._declare(name, of, "output")

    def parameter(self, name: str, *, of: str) -> None:
        """Declares a tunable parameter of the FMU, called `name`, that sets the variable `of`, such as "crank.mass"."""
        self._declare(name, of, "parameter")

    def _declare(
        self, name: str, target: str, causality: Causality, start: float | Sequence[float] | None = None
    ) -> None:
        given = start if start is None or isinstance(start, int | float) else tuple(start)
        variable = DeclaredVariable(name, target, causality, given)
        if name in self._declared:
            raise ModelError(
                f"Model '{self.name}': two declared variables have the name '{name}', of "
                f"'{self._declared[name].target}' and of '{target}'. Rename one, e.g. '{name}2'."
            )
        for other in self._declared.values():
            if other.target == target:
                raise ModelError(
                    f"Model '{self.name}': '{target}' is already declared as {other.causality} "
                    f"'{other.name}'. Declare it once."
                )
        self._declared[name] = variable

    def experiment(
        self, *, stop: float | None = None, interval: float | None = None, tolerance: float | None = None
    ) -> None:
        """Sets the default experiment: stop time and communication interval [s], relative tolerance."""
        self.default_experiment = DefaultExperiment(stop, interval, tolerance)


def _named(element: Element) -> str:
    """Its title; of a part of a composite, the part's own name as well."""
    title = element.title
    return title if title.endswith(f" '{element.name}'") else f"'{element.name}' of {title}"
