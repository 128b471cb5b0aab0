"""A robot as links and joints, as files describe it, and the Model that they make.

Links that fixed joints connect become one body, whose frame is that of the first of them; the others are its named
points. With X_L the pose of a link in the body, a link of mass m, centre c and inertia J adds m, X_L c and R_L J R_L'.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fmumbs import _limits
from fmumbs.errors import ModelError
from fmumbs.mechanism import (
    GROUND,
    Body,
    Control,
    Free,
    JointBase,
    Limits,
    Mesh,
    Model,
    Point,
    Reading,
    ReadingRow,
    Weld,
)  # fmt: skip
from fmumbs.mechanism.bodies import VARIABLES, Frame
from fmumbs.mechanism.joints.product import screws, transform
from fmumbs.mechanism.model import RESERVED
from fmumbs.mechanism.reading import What
from fmumbs.readers.names import Names
from fmumbs.spatial import Transform

Array = NDArray[np.float64]

_ROUND_OFF = 1e-14  # of an inertia about one axis, relative to what there is about any

Draw = Callable[[Transform], Mesh | None]  # what a link is drawn with, from its pose in the body
Make = Callable[[str, Point, Point], JointBase]  # a joint from its name, F and M


class Inertia(NamedTuple):
    """Mass [kg], centre of mass (3,) [m], and inertia (3, 3) about it [kg m2] of what a file describes, unchecked."""

    mass: float
    com: Array
    J: Array

    def moved(self, X: Transform) -> Inertia:
        """In the frame in which X is the pose of the present one."""
        R = X.rotation.matrix
        return Inertia(self.mass, X @ self.com, R @ self.J @ R.T)

    def joined(self, other: Inertia) -> Inertia:
        """With another in the same frame."""
        mass = self.mass + other.mass
        share = other.mass / mass if mass else 0.0
        d = other.com - self.com if self.mass and other.mass else np.zeros(3)
        com = (self.com if self.mass else other.com) + (share if self.mass else 0.0) * d
        return Inertia(mass, com, self.J + other.J + share * self.mass * (d @ d * np.eye(3) - np.outer(d, d)))

    @property
    def moments(self) -> list[float]:
        """Xx yy zz xy xz yz."""
        J = (self.J + self.J.T) / 2
        return [float(J[i, k]) for i, k in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))]

    @property
    def size(self) -> float:
        """The largest that there is about an axis through the frame's origin, or a little more."""
        return float(np.abs(self.J).sum() + self.mass * (self.com @ self.com))

    def without_round_off(self) -> Inertia:
        """With zeros for principal moments that are negative, and distances of the centre, by round-off."""
        values, axes = np.linalg.eigh((self.J + self.J.T) / 2)
        found = self
        if -_ROUND_OFF * self.size <= values[0] < 0.0:
            found = found._replace(J=axes @ np.diag(np.maximum(values, 0.0)) @ axes.T)
        if self.mass:
            near = np.abs(self.com) <= _ROUND_OFF * np.sqrt(self.size / self.mass)
            found = found._replace(com=np.where(near, 0.0, self.com))
        return found


NOTHING = Inertia(0.0, np.zeros(3), np.zeros((3, 3)))


@dataclass(frozen=True)
class Link:
    """inertia: in the link's frame. looks: each with its pose in the link's frame. points: more frames to name."""

    name: str
    inertia: Inertia = NOTHING
    looks: tuple[tuple[Transform, Draw], ...] = ()
    line: int | None = None
    points: tuple[tuple[str, Transform], ...] = ()


@dataclass(frozen=True)
class Connection:
    """A joint between two links.

    X_PF: frame F in the parent link; X_CM: frame M in the child link. make: None for a fixed one.
    """

    name: str
    parent: str
    child: str
    X_PF: Transform
    X_CM: Transform = field(default_factory=Transform.identity)
    make: Make | None = None
    line: int | None = None


class Report:
    """Collects the rows of a Reading, and refuses by file and line."""

    def __init__(self, file: str) -> None:
        self.file = file
        self._rows: list[ReadingRow] = []
        self.limits: dict[str, Limits] = {}
        self.controls: dict[str, Control] = {}

    def row(self, what: What, element: str, text: str, line: int | None = None) -> None:
        """Adds a ReadingRow."""
        self._rows.append(ReadingRow(what, element, text, line))

    def refuse(self, element: str, text: str, line: int | None = None) -> ModelError:
        """The error to raise for an element."""
        return ModelError(f"{self._where(line)}: {element} {text}")

    def guarded(self, make: Callable[[], Any], line: int | None = None) -> Any:
        """What make() returns; a ModelError gets the file and the line."""
        try:
            return make()
        except ModelError as error:
            raise ModelError(f"{self._where(line)}: {error}") from None

    def _where(self, line: int | None) -> str:
        return f"'{self.file}'" + ("" if line is None else f", line {line}")

    def reading(self) -> Reading:
        return Reading(self.file, tuple(self._rows), self.limits, self.controls)


@dataclass
class _Group:
    """Links that are one body, each with its pose X_BL, and the joint that carries it, None for the root."""

    links: list[tuple[Link, Transform]]
    joint: Connection | None

    def begin_with_mass(self) -> None:
        """Takes the frame and the name of the first link with mass or a shape, for a root that is only a frame."""
        k = next((k for k, (link, _) in enumerate(self.links) if link.inertia.mass or link.looks), 0)
        if k:
            X_0 = self.links[k][1].inverse()
            self.links = [(link, X_0 @ X) for link, X in (self.links[k], *self.links[:k], *self.links[k + 1 :])]

    @property
    def total(self) -> Inertia:
        """In the body's frame."""
        total = NOTHING
        for link, X in self.links:
            total = total.joined(link.inertia.moved(X))
        return total.without_round_off()


class Built:
    """The Model of a robot, and its parts by the file's names.

    joints: those that move; fixed: names of the others. places: the body of each link, None for the ground, and X_BL.
    """

    def __init__(self, name: str, gravity: ArrayLike | None) -> None:
        own = Names(*RESERVED).new(name, "robot")
        self.model = Model(own) if gravity is None else Model(own, gravity)
        self.names = Names(*RESERVED)
        self.source_names = {self.model.name: name}
        self.joints: dict[str, JointBase] = {}
        self.fixed: set[str] = set()
        self.places: dict[str, tuple[Body | None, Transform]] = {}

    def point(self, link: str, X_LP: Transform) -> Point:
        """A frame on a link as a point of its body."""
        body, X = self.places[link]
        return Point(GROUND if body is None else body, X @ X_LP)

    def name(self, given: str, otherwise: str, default: str = "element") -> str:
        """A new name of the model for what the file calls `given`."""
        name = self.names.new(given, default, otherwise)
        self.source_names[name] = given
        return name


def build(
    name: str,
    links: Sequence[Link],
    connections: Sequence[Connection],
    report: Report,
    free: bool,
    fix: bool,
    gravity: ArrayLike | None = None,
) -> Built:
    """The Model of links and joints, which form a tree. free: its root moves freely, else it is on the ground.
    fix: joints that move nothing with inertia are fixed at their start, else refused. gravity: (3,) [m/s2].

    Raises ModelError for links that are no tree, and for a moving one without mass or inertia, with its line.
    """
    tree = _Tree(links, connections, report)
    tree.check_inertia(free, fix)
    built = Built(name, gravity)
    groups = tree.groups()
    names = {c.name: built.name(c.name, "_joint", "joint") for c in tree.connections if c.make is not None}
    built.fixed = {c.name for c in tree.connections if c.make is None}
    for i, group in enumerate(groups):
        body = _body(group, i == 0 and not free, built, report)
        if i == 0:
            _add_base(body, tree.root, built, report, free)
        elif group.joint is not None:
            _add_joint(group.joint, names[group.joint.name], built, report)
    return built


def finished(built: Built, report: Report) -> Model:
    """The Model with its report."""
    given = "".join(c for c in built.source_names[built.model.name] if c.isprintable())
    built.model.description = f"Robot '{given[:200]}'"
    built.model.reading = report.reading()
    built.model.source_names = built.source_names
    return built.model


class _Tree:
    """Links and joints, checked: every link is carried by one joint, but for the root."""

    def __init__(self, links: Sequence[Link], connections: Sequence[Connection], report: Report) -> None:
        self._report = report
        self.links = self._by_name(links)
        self.connections = list(connections)
        self._below = self._children()
        self._order = self._from_the_root()

    def _by_name(self, links: Sequence[Link]) -> dict[str, Link]:
        found: dict[str, Link] = {}
        for link in links:
            if link.name in found:
                raise self._report.refuse(f"link '{link.name}'", "has the name of another link. Rename one.", link.line)
            found[link.name] = link
        if not found:
            raise self._report.refuse("the robot", "has no link. Give one with links.")
        return found

    def _children(self) -> dict[str, list[int]]:
        """Numbers of the joints that a link carries."""
        found: dict[str, list[int]] = {name: [] for name in self.links}
        carried: dict[str, str] = {}
        for i, c in enumerate(self.connections):
            what = f"joint '{c.name}'"
            for end, role in ((c.parent, "parent"), (c.child, "child")):
                if end not in self.links:
                    text = f"has the {role} '{end}', but there is no such link. Correct it."
                    raise self._report.refuse(what, text, c.line)
            if c.child in carried:
                text = f"carries link '{c.child}', which joint '{carried[c.child]}' carries, too. Leave one out."
                raise self._report.refuse(what, text, c.line)
            carried[c.child] = c.name
            found[c.parent].append(i)
        return found

    def _from_the_root(self) -> list[tuple[str, int]]:
        """Each link, and the number of the joint that carries it; parents before children."""
        carried = {c.child for c in self.connections}
        roots = [name for name in self.links if name not in carried]
        if len(roots) != 1:
            many = f"{len(roots)} links that no joint carries, {', '.join(map(repr, roots[:5]))}"
            what = many if roots else "joints that form a loop"
            raise self._report.refuse("the robot", f"has {what}. Connect all links by joints to one of them.")
        order = [(roots[0], -1)]
        for name, _ in order:
            order += [(self.connections[i].child, i) for i in self._below[name]]
        if len(order) != len(self.links):
            raise self._report.refuse("the robot", "has joints that form a loop. Connect all links to the root.")
        return order

    @property
    def root(self) -> Link:
        """The link that carries all others."""
        return self.links[self._order[0][0]]

    def groups(self) -> list[_Group]:
        """The bodies, from the root outwards."""
        groups: list[_Group] = []
        place: dict[str, tuple[int, Transform]] = {}
        for name, i in self._order:
            c = self.connections[i] if i >= 0 else None
            if c is not None and c.make is None:
                number, X = place[c.parent]
                place[name] = number, X @ c.X_PF @ c.X_CM.inverse()
                groups[number].links.append((self.links[name], place[name][1]))
            else:
                place[name] = len(groups), Transform.identity()
                groups.append(_Group([(self.links[name], Transform.identity())], c))
        groups[0].begin_with_mass()
        return groups

    def check_inertia(self, free: bool, fix: bool) -> None:
        """Refuses, or fixes, joints that move nothing that resists, by what they carry at the start."""
        carried = {name: link.inertia for name, link in self.links.items()}
        for name, i in reversed(self._order):
            if i < 0:
                break
            c = self.connections[i]
            X = c.X_PF @ c.X_CM.inverse()
            if c.make is not None:
                joint = self._report.guarded(partial(c.make, "trial", GROUND.at(), _TRIAL.at()), c.line)
                X_FM = transform(joint.modes, joint.all_positions())
                X = c.X_PF @ X_FM @ c.X_CM.inverse()
                if lacks := _lacking(carried[name].moved(c.X_CM.inverse()), joint, X_FM):
                    self._fix(i, X, lacks, fix)
            carried[c.parent] = carried[c.parent].joined(carried[name].moved(X))
        if free and not carried[self.root.name].mass:
            text = "moves freely, but nothing has mass. Read it with base='fixed'."
            raise self._report.refuse(f"link '{self.root.name}'", text, self.root.line)

    def _fix(self, i: int, X: Transform, lacks: str, fix: bool) -> None:
        c = self.connections[i]
        what = f"link '{c.child}'"
        text = f"moves by joint '{c.name}', but neither it nor anything that it carries has {lacks}"
        if not fix:
            how = "Give it an <inertial>, or read it with massless='fix', which fixes the joint."
            raise self._report.refuse(what, f"{text}. {how}", c.line)
        self.connections[i] = replace(c, X_PF=X, X_CM=Transform.identity(), make=None)
        self._report.row("changed", what, f"{text}: the joint is fixed", c.line)


_TRIAL: Body = Body("trial", mass=0.0)


def _lacking(carried: Inertia, joint: JointBase, X_FM: Transform) -> str:
    """What is missing about some free mode; "" for nothing. carried: in the joint's M."""
    R, k = X_FM.rotation.matrix, 0
    rotor = joint.law("rotor_inertia")
    for column, free in _columns(joint):
        if not free:
            continue
        w, v = R.T @ column[:3], R.T @ column[3:]
        speed = v + np.cross(w, carried.com)
        inertia = w @ carried.J @ w + carried.mass * speed @ speed + (rotor[k] if k < len(rotor) else 0.0)
        if inertia <= _ROUND_OFF * (w @ w * carried.size + carried.mass * (v @ v)):
            return "inertia about its axis" if carried.mass and w.any() else "mass"
        k += 1
    return ""


def _columns(joint: JointBase) -> Iterator[tuple[Array, bool]]:
    """Screws of the modes at M in F's axes, and whether each is free."""
    matrix, k = screws(joint.modes, joint.all_positions()), 0
    for mode in joint.modes:
        for _ in range(3 if mode.kind == "ball" else 1):
            yield matrix[:, k], mode.free
            k += 1


# Bodies -----------------------------------------------------------------------------------------------------


def _body(group: _Group, fixed: bool, built: Built, report: Report) -> Body | None:
    """The body of a group, added to the model; None for the ground, if nothing of the group has mass or is seen."""
    first, total = group.links[0][0], group.total
    looks = [(X_BL @ X, draw) for link, X_BL in group.links for X, draw in link.looks]
    if fixed and not total.mass and not looks:
        for link, X in group.links:
            built.places[link.name] = None, X
            report.row("taken", f"link '{link.name}'", "is on the ground", link.line)
            for point, _ in link.points:
                report.row("left out", f"point '{point}'", "is on the ground, which has no named points", link.line)
        return None
    name = built.name(first.name, "_link", "link")
    frames = list(_frames(group, name, built, report))
    visual = [mesh for X, draw in looks if (mesh := draw(X)) is not None]
    measured = bool(_limits.no_solid(total.moments, False)[0])
    and_more = ", with what is fixed to it" if len(group.links) > 1 else ""
    report.row("taken", f"link '{first.name}'", f"body '{name}' of {total.mass:g} kg{and_more}", first.line)
    body: Body = report.guarded(
        lambda: Body(
            name, mass=total.mass, com=total.com, inertia=total.moments, points=frames, measured=measured, visual=visual
        ),
        first.line,
    )
    built.model.add(body)
    for link, X in group.links:
        built.places[link.name] = body, X
    return body


def _frames(group: _Group, body: str, built: Built, report: Report) -> Iterator[Frame]:
    """Links that are fixed to the first, and further points of all."""
    names = Names(*VARIABLES)
    for k, (link, X) in enumerate(group.links):
        given = [(link.name, Transform.identity())] if k else []
        for what, X_LP in (*given, *link.points):
            point = names.new(what, "point", "_point")
            built.source_names[f"{body}.{point}"] = what
            if k and what == link.name:
                report.row("taken", f"link '{what}'", f"is fixed to body '{body}', as its point '{point}'", link.line)
            yield Frame(point, X @ X_LP)


def _add_base(body: Body | None, link: Link, built: Built, report: Report, free: bool) -> None:
    """The joint between the ground and the root link."""
    if body is None:
        return
    name = built.names.new(f"{body.name}_base", "base")
    how = f"moves freely, by the joint '{name}'" if free else f"is on the ground, by the weld '{name}'"
    joint: JointBase = (Free if free else Weld)(name, GROUND.at(), built.point(link.name, Transform.identity()))
    built.model.add(joint)
    if free:
        built.joints[name] = joint
    report.row("taken", f"link '{link.name}'", how, link.line)


def _add_joint(c: Connection, name: str, built: Built, report: Report) -> None:
    assert c.make is not None
    make, F, M = c.make, built.point(c.parent, c.X_PF), built.point(c.child, c.X_CM)
    joint: JointBase = report.guarded(lambda: make(name, F, M), c.line)
    built.model.add(joint)
    built.joints[c.name] = joint
    report.row("taken", f"joint '{c.name}'", f"{type(joint).__name__} '{name}'", c.line)
