"""Random trees that move in a plane, for hypothesis, beside others that do not; numbers as in strategies.py."""

from typing import Any

import numpy as np
from hypothesis import strategies as st

import fmumbs as fm
from support.strategies import Case, bodies, finished, joints, law, motions, numbers, points, rotations, vectors

NORMALS = {  # rotations that take z there
    "z": fm.Rotation.identity(),
    "-z": fm.Rotation.about("x", np.pi),
    "x": fm.Rotation.about("y", np.pi / 2),
    "-x": fm.Rotation.about("y", -np.pi / 2),
    "y": fm.Rotation.about("x", -np.pi / 2),
    "-y": fm.Rotation.about("x", np.pi / 2),
}

MOVING = ("revolute", "revolute", "revolute", "prismatic", "driven")


@st.composite
def frames(draw: st.DrawFn, body: Any, normal: str) -> Any:
    """A point whose z is along the body's `normal`."""
    turned = NORMALS[normal] @ fm.Rotation.about("z", draw(st.one_of(st.just(0.0), numbers(-3, 3))))
    return body.at(*draw(vectors()), rotation=turned)


@st.composite
def planar_joints(draw: st.DrawFn, name: str, F: fm.Point, M: fm.Point, kinds: tuple[str, ...]) -> Any:
    """About z, along any direction across it, or none; perhaps driven."""
    kind = draw(st.sampled_from(kinds))
    if kind == "weld":
        return fm.Weld(name, F, M)
    if kind == "driven":
        return draw(driven_joints(name, F, M))
    how: dict[str, Any] = {"stiffness": law(draw, 20), "damping": law(draw, 2), "rest": draw(numbers())}
    how |= {"q0": draw(numbers(-2, 2)), "u0": draw(numbers(-2, 2))}
    if kind == "revolute":
        return fm.Revolute(name, F, M, axis=draw(st.sampled_from(("z", "-z"))), **how)
    turn = draw(st.one_of(st.sampled_from((0.0, np.pi / 2)), numbers(-3, 3)))
    return fm.Prismatic(name, F, M, axis=(np.cos(turn), np.sin(turn), 0), **how)


@st.composite
def driven_joints(draw: st.DrawFn, name: str, F: fm.Point, M: fm.Point) -> fm.Joint:
    """A turn about z or a slide across it, driven, perhaps beside a slide and a turn that are free."""
    motion = draw(motions(draw(st.sampled_from(("path", "kappa_dot", "eta")))))
    turn, slide = fm.Turn, fm.Slide
    angle = draw(numbers(-3, 3))
    along = (np.cos(angle), np.sin(angle), 0)
    if draw(st.booleans()):
        modes = [draw(st.sampled_from((turn("z", **motion), turn("-z", **motion), slide(along, **motion))))]
    else:
        modes = [turn("z", **motion), slide(along)] if draw(st.booleans()) else [turn("z"), slide(along, **motion)]
    free = sum(mode.role == "free" for mode in modes)
    return fm.Joint(name, F, M, modes=draw(st.permutations(modes)), q0=draw(vectors(free)), u0=draw(vectors(free)))


@st.composite
def planar_tree(draw: st.DrawFn, name: str, ground: Any) -> list[Any]:
    """Bodies and joints of a tree in any plane; bodies have any inertia, and their own axes any way round."""
    normals: list[str] = []
    every: list[fm.Body] = []
    elements: list[Any] = []
    size = draw(st.integers(1, 6))
    for i in range(size):
        body, normal = draw(bodies(f"{name}{i}")), draw(st.sampled_from(tuple(NORMALS)))
        if not every:
            F = ground.at(*draw(vectors()), rotation=draw(rotations()))
        else:
            k = draw(st.one_of(st.just(len(every) - 1), st.integers(0, len(every) - 1)))
            F = draw(frames(every[k], normals[k]))
        kinds = MOVING if i == size - 1 else (*MOVING, "weld")
        joint = draw(planar_joints(f"J{name}{i}", F, draw(frames(body, normal)), kinds))
        elements += [body, joint]
        every.append(body)
        normals.append(normal)
    return elements


@st.composite
def planar_cases(draw: st.DrawFn) -> Case:
    """One or two planar trees, now and then one in space between them, springs and loads in any direction."""
    model = fm.Model("planar", gravity=draw(vectors(high=10.0)))
    elements = draw(planar_tree("a", model.ground))
    spatial: list[Any] = []
    if draw(st.booleans()):
        parent: Any = model.ground
        for i in range(draw(st.integers(1, 3))):
            body = draw(bodies(f"t{i}"))
            ends = draw(points(parent)), draw(points(body))
            spatial += [body, draw(joints(f"Jt{i}", *ends, ("revolute", "prismatic", "spherical", "weld")))]
            parent = body
    more = draw(planar_tree("b", model.ground)) if draw(st.booleans()) else []
    model.add(*elements, *spatial, *more)
    return finished(draw, model, [model.ground, *model.bodies], laws=True)


def planar_links(model: fm.Model) -> int:
    """At least; a tree that is meant to be in space may happen to move in a plane too."""
    return sum(not joint.name.startswith("Jt") for joint in model.joints)
