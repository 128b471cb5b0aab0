"""Rotations of images stay rotations, however many joints there are, and axes that coincide stay one axis."""

from typing import Any

import numpy as np
import pytest

import fmumbs as fm
from fmumbs.compiler import ModelImage, compile
from fmumbs.compiler.links import REVOLUTE_X, REVOLUTE_Z
from support.long_trees import KINDS, axis, body, long_tree, rotation

ORTHOGONAL = 1e-14
"""Of R^T R and R R^T from the unit matrix, and of the squares of unit vectors from one; a rotation that is rounded once
is off by some 3e-16."""


def rotations(image: ModelImage) -> np.ndarray:
    """(n, 3, 3) all of an image."""
    names = ("link_R", "body_R", "joint_F", "joint_M", "screw_R")
    return np.concatenate([image.arrays[name].reshape(-1, 3, 3) for name in names])


def directions(image: ModelImage) -> np.ndarray:
    """(n, 3) all unit vectors of an image."""
    return np.concatenate([image.arrays[name].reshape(-1, 3) for name in ("row_f", "row_g", "cut_axis")])


def assert_orthogonal(model: fm.Model) -> ModelImage:
    image = compile(model)
    R = rotations(image)
    for product in (R @ np.swapaxes(R, 1, 2), np.swapaxes(R, 1, 2) @ R):
        assert np.abs(product - np.eye(3)).max() < ORTHOGONAL
    assert (np.linalg.det(R) > 0.0).all()
    assert np.abs((directions(image) ** 2).sum(axis=1) - 1.0).max(initial=0.0) < ORTHOGONAL
    return image


@pytest.mark.parametrize("frames", [1, None])
@pytest.mark.parametrize("kind", KINDS)
def test_long_chains_of_every_joint(kind: str, frames: int | None) -> None:
    """With one pair of frames for all joints every round-off is the same, and adds up."""
    assert_orthogonal(long_tree(KINDS.index(kind), 80, (kind,), frames=frames))


@pytest.mark.parametrize("back", [1, 20])
def test_a_thousand_joints_of_all_kinds(back: int) -> None:
    assert_orthogonal(long_tree(77, 1000, back=back))


def test_a_long_chain_about_one_axis_compiles() -> None:
    model = fm.Model("chain")
    end, turned = model.ground.at(), fm.Rotation.rpy(0.1, 0.2, 0.3)
    for i in range(1000):
        new = fm.Body(f"b{i}", mass=1.0, inertia=(0.1, 0.1, 0.1))
        model.add(new, fm.Revolute(f"j{i}", end, new.at(rotation=turned), axis="z"))
        end = new.at(0.5, 0.0, 0.0, rotation=turned)
    image = assert_orthogonal(model)
    assert (image.arrays["link_R"][1:].reshape(-1, 3, 3) == np.eye(3)).all()  # all turn about one axis


def oblique(a: Any) -> Any:
    """An axis that is not parallel to another."""
    return np.roll(fm.Turn(a).axis, 1) + np.array((0, 0, 0.1))


CUTS: dict[str, Any] = {
    "revolute": lambda F, M, a: fm.Revolute("c", F, M, axis=a, cut=True),
    "prismatic": lambda F, M, a: fm.Prismatic("c", F, M, axis=a, cut=True),
    "cylindrical": lambda F, M, a: fm.Cylindrical("c", F, M, axis=a, cut=True),
    "screw": lambda F, M, a: fm.Screw("c", F, M, axis=a, pitch=0.1, cut=True),
    "universal": lambda F, M, a: fm.Universal("c", F, M, axes=(a, oblique(a)), cut=True),
    "planar": lambda F, M, a: fm.Planar("c", F, M, normal=a, cut=True),
    "spherical": lambda F, M, a: fm.Spherical("c", F, M, cut=True),
    "weld": lambda F, M, a: fm.Weld("c", F, M, cut=True),
    "distance": lambda F, M, a: fm.Distance("c", F, M, length=1.0),
    "revolute spherical": lambda F, M, a: fm.RevoluteSpherical("c", F, M, length=1.0, axis=a),
    "point on line": lambda F, M, a: fm.PointOnLine("c", F, M, axis=a),
    "point on plane": lambda F, M, a: fm.PointOnPlane("c", F, M, normal=a, height=0.1),
    "locked": lambda F, M, a: fm.Joint(
        "c",
        F,
        M,
        cut=True,
        modes=(fm.Slide(a), *(fm.Turn(a, role="locked", value=0.3) for _ in range(300)), fm.Turn(a)),
    ),
}


@pytest.mark.parametrize("kind", CUTS)
def test_cut_joints_at_the_end_of_a_long_chain(kind: str) -> None:
    rng = np.random.default_rng(sorted(CUTS).index(kind))
    model = long_tree(5, 60, ("revolute", "spherical"))
    last = model.bodies[-1]
    given = axis(rng)
    model.add(
        CUTS[kind](model.ground.at(0.1, 0.2, 0.3, rotation=rotation(rng)), last.at(rotation=rotation(rng)), given)
    )
    assert len(assert_orthogonal(model).arrays["row_kind"])


def test_flexible_bodies_in_a_long_chain() -> None:
    rng = np.random.default_rng(3)
    model = fm.Model("chain")
    end = model.ground.at(rotation=rotation(rng))
    for i in range(60):
        plane, boundary = ("xy", "xz")[i % 2], ("clamped-free", "free-free")[i % 3 % 2]
        beam = fm.ModalBody.beam(f"f{i}", length=1.0, mass=1.0, EI=20.0, modes=2, boundary=boundary, plane=plane)
        new = body(rng, f"r{i}")
        ends = [beam.at(*(x * np.array(beam.bending.axis)), rotation=rotation(rng)) for x in (0.0, 1.0)]
        model.add(beam, fm.Revolute(f"j{i}", end, ends[0], axis=axis(rng)))
        model.add(new, fm.Spherical(f"k{i}", ends[1], new.at(rotation=rotation(rng))))
        end = new.at(0.3, 0.1, 0.0, rotation=rotation(rng))
    assert_orthogonal(model)


@pytest.mark.parametrize("angle", [np.pi / 2, np.pi, -np.pi / 2])
@pytest.mark.parametrize("about", ["x", "y", "z", (1, 1, 1)])
def test_quarter_turns_between_joints_leave_coordinate_axes(about: Any, angle: float) -> None:
    """Turns by pi/2 as they are rounded put 6e-17 where zeros belong, at every joint with the same sign."""
    angle = 2 * np.pi / 3 if isinstance(about, tuple) else angle
    model = fm.Model("chain")
    end, turned = model.ground.at(), fm.Rotation.about(about, angle)
    for i in range(300):
        new = fm.Body(f"b{i}", mass=1.0, inertia=(0.1, 0.1, 0.1))
        model.add(new, fm.Revolute(f"j{i}", end, new.at(), axis="zyx"[i % 3]))
        end = new.at(0.5, 0.0, 0.0, rotation=turned)
    image = assert_orthogonal(model)
    kinds = image.arrays["link_kind"]
    assert ((kinds >= REVOLUTE_X) & (kinds <= REVOLUTE_Z)).all()


def test_a_long_chain_in_a_tilted_plane_is_recognised_as_planar() -> None:
    """Pins and slides, each between frames that are turned in general: the plane is that of the first pin."""
    rng = np.random.default_rng(2)
    model = fm.Model("chain", gravity=(1.0, -2.0, -9.0))
    tilt = fm.Rotation.rpy(0.4, -0.7, 1.1)
    carrier: Any = model.ground
    for i in range(400):
        new, plane = body(rng, f"b{i}"), tilt
        tilt = rotation(rng)
        end = carrier.at(*(plane.matrix @ (0.3, 0.1, 0.0)), rotation=plane)
        make: Any = fm.Prismatic if i % 5 == 3 else fm.Revolute
        how = (np.cos(i), np.sin(i), 0.0) if make is fm.Prismatic else "z"
        model.add(new, make(f"j{i}", end, new.at(rotation=tilt), axis=how))
        carrier = new
    image = assert_orthogonal(model)
    assert fm.Solver(image).use_planar(True) == 400
