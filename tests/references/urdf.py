"""A small reader of URDF: a robot's links and joints, and the Model they make.

A joint's frame stands at `xyz`, `rpy` in its parent link; the child link's frame is the joint's after its
motion. The root link is the ground. Read are revolute, continuous, prismatic and fixed joints; passed over
are damping, friction, limits, mimicked joints (they move freely) and all shapes.
"""

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, Self

import fmumbs as fm

_KINDS = {"revolute": fm.Revolute, "continuous": fm.Revolute, "prismatic": fm.Prismatic, "fixed": fm.Weld}
_NO_INERTIAL = ET.fromstring("<inertial/>")

Numbers = tuple[float, ...]


@dataclass(frozen=True)
class Link:
    """mass [kg]; xyz [m], rpy [rad] of the inertial frame; inertia [kg m2] xx yy zz xy xz yz in its axes."""

    name: str
    mass: float
    xyz: Numbers
    rpy: Numbers
    inertia: Numbers


@dataclass(frozen=True)
class Joint:
    """kind: the URDF's word; xyz [m], rpy [rad] of its frame in the parent; axis in its own frame."""

    name: str
    kind: str
    parent: str
    child: str
    xyz: Numbers
    rpy: Numbers
    axis: Numbers


@dataclass(frozen=True)
class Robot:
    """A robot's dynamics from its URDF."""

    name: str
    links: tuple[Link, ...]
    joints: tuple[Joint, ...]

    @classmethod
    def parse(cls, text: str) -> Self:
        """From the text of a URDF; ValueError for a joint of another kind."""
        root = ET.fromstring(text)
        links = tuple(_link(element) for element in root.findall("link"))
        joints = tuple(_joint(element) for element in root.findall("joint"))
        return cls(root.get("name", "robot"), links, joints)

    @classmethod
    def load(cls, saved: dict[str, Any]) -> Self:
        """From the result of save(), after JSON."""
        links, joints = ([{k: _tuples(v) for k, v in row.items()} for row in saved[n]] for n in ("links", "joints"))
        return cls(saved["name"], tuple(Link(**row) for row in links), tuple(Joint(**row) for row in joints))

    def save(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def root(self) -> str:
        """The link that is no joint's child."""
        (root,) = {link.name for link in self.links} - {joint.child for joint in self.joints}
        return root

    @property
    def moving(self) -> tuple[str, ...]:
        """The links that fixed joints alone do not tie to the ground."""
        still = {self.root}
        for joint in self._outward():
            if joint.kind == "fixed" and joint.parent in still:
                still.add(joint.child)
        return tuple(link.name for link in self.links if link.name not in still)

    def body_name(self, link: str) -> str:
        """What a link's body is called: links and joints of a URDF may share a name, elements may not."""
        name = _legal(link)
        return f"{name}_link" if name in {_legal(joint.name) for joint in self.joints} else name

    def model(self) -> fm.Model:
        """The mechanism, with gravity 9.81 m/s2 in -z and joints by their own names."""
        model = fm.Model(_legal(self.name))
        bodies: dict[str, fm.Body] = {}
        for link in self.links:
            if link.name != self.root:
                bodies[link.name] = _body(self.body_name(link.name), link)
        model.add(*bodies.values())
        for joint in self.joints:
            parent = bodies.get(joint.parent, model.ground)
            F = parent.at(*joint.xyz, rotation=fm.Rotation.rpy(*joint.rpy))
            axis = {} if joint.kind == "fixed" else {"axis": joint.axis}
            model.add(_KINDS[joint.kind](_legal(joint.name), F, bodies[joint.child].at(), **axis))
        return model

    def _outward(self) -> Iterator[Joint]:
        """The joints from the root to the tips."""
        reached = [self.root]
        for link in reached:
            for joint in self.joints:
                if joint.parent == link:
                    reached.append(joint.child)
                    yield joint


def _body(name: str, link: Link) -> fm.Body:
    xx, yy, zz, xy, xz, yz = link.inertia
    R = fm.Rotation.rpy(*link.rpy).matrix
    inertia = R @ [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]] @ R.T
    return fm.Body(name, mass=link.mass, com=link.xyz, inertia=inertia, measured=True)


def _link(element: ET.Element) -> Link:
    inertial = element.find("inertial")
    inertial = _NO_INERTIAL if inertial is None else inertial
    xyz, rpy = _origin(inertial)
    moments = tuple(float(_get(inertial, "inertia", f"i{axes}", "0")) for axes in ("xx", "yy", "zz", "xy", "xz", "yz"))
    return Link(element.attrib["name"], float(_get(inertial, "mass", "value", "0")), xyz, rpy, moments)


def _joint(element: ET.Element) -> Joint:
    name, kind = element.attrib["name"], element.attrib["type"]
    if kind not in _KINDS:
        raise ValueError(f"joint '{name}' is {kind}; only these are read: {', '.join(_KINDS)}")
    parent, child = (_get(element, which, "link", "") for which in ("parent", "child"))
    axis = _numbers(_get(element, "axis", "xyz", "1 0 0"))
    return Joint(name, kind, parent, child, *_origin(element), axis)


def _origin(element: ET.Element) -> tuple[Numbers, Numbers]:
    return _numbers(_get(element, "origin", "xyz", "0 0 0")), _numbers(_get(element, "origin", "rpy", "0 0 0"))


def _get(element: ET.Element, child: str, attribute: str, default: str) -> str:
    """An attribute of a child element, the default where either is missing."""
    found = element.find(child)
    return default if found is None else found.get(attribute, default)


def _numbers(text: str) -> Numbers:
    return tuple(float(part) for part in text.split())


def _tuples(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _legal(name: str) -> str:
    """Letters, digits and _ alone, and no digit first."""
    return re.sub(r"^(?=[0-9])|[^A-Za-z0-9_]", "_", name)
