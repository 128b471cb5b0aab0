"""Sizes and forces from zero to overflow: a model compiles, or the message names the part at fault.

A new image is never reported as damaged.
"""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import fmumbs as fm
from fmumbs.compiler import compile
from support.long_trees import KINDS, axis, body, joint, rotation

MODELS = 200


def number(rng: np.random.Generator, usual: float) -> float:
    """Mostly the usual one."""
    if rng.random() < 0.9:
        return usual
    return float(10.0 ** rng.uniform(*((-307, 308) if rng.random() < 0.5 else (-12, 12))))


def numbers(rng: np.random.Generator) -> tuple[float, ...]:
    return tuple(number(rng, rng.uniform(0.1, 1)) * float(rng.choice((-1, 1))) for _ in range(3))


def any_body(rng: np.random.Generator, name: str) -> fm.Body:
    mass, length = number(rng, 1.0), number(rng, 1.0)
    match rng.integers(4):
        case 0:
            return fm.Body.rod(name, length=length, mass=mass, radius=number(rng, 0.1))
        case 1:
            return fm.Body(name, mass=mass, com=numbers(rng), inertia=(number(rng, 0.3),) * 3)
        case 2:
            return fm.ModalBody.beam(
                name, length=length, mass=mass, EI=number(rng, 20.0), modes=int(rng.integers(1, 4))
            )
        case _:
            return body(rng, name)


def point(rng: np.random.Generator, on: Any) -> fm.Point:
    if isinstance(on, fm.ModalBody):
        return on.at(float(rng.choice((0.0, on.bending.length))), 0.0, 0.0)
    return on.at(*numbers(rng), rotation=rotation(rng))


def any_joint(rng: np.random.Generator, name: str, F: fm.Point, M: fm.Point) -> Any:
    one = joint(rng, str(rng.choice(KINDS)), name, F, M)
    if isinstance(one, fm.Revolute | fm.Prismatic | fm.Screw):
        laws = ("stiffness", "damping", "rest", "rotor_inertia", "q0", "u0")
        one = replace(one, **{law: number(rng, getattr(one, law)) for law in laws})
    return one


def closing(rng: np.random.Generator, name: str, F: fm.Point, M: fm.Point) -> Any:
    match rng.integers(6):
        case 0:
            return fm.Distance(name, F, M, length=number(rng, 1.0))
        case 1:
            return fm.RevoluteSpherical(name, F, M, length=number(rng, 1.0), axis=axis(rng))
        case 2:
            return fm.PointOnLine(name, F, M, axis=axis(rng))
        case 3:
            return fm.PointOnPlane(name, F, M, normal=axis(rng), height=number(rng, 0.1))
        case 4:
            return fm.Spring(name, F, M, stiffness=number(rng, 1.0), free_length=number(rng, 1.0))
        case _:
            return any_joint(rng, name, F, M)


def extreme(rng: np.random.Generator) -> fm.Model:
    model = fm.Model("extreme", gravity=numbers(rng))
    on: list[Any] = [model.ground]
    for i in range(int(rng.integers(1, 6))):
        new = any_body(rng, f"b{i}")
        model.add(new, any_joint(rng, f"j{i}", point(rng, on[rng.integers(len(on))]), point(rng, new)))
        on.append(new)
    for i in range(int(rng.integers(0, 3))):
        first, second = rng.permutation(len(on))[:2]
        model.add(closing(rng, f"c{i}", point(rng, on[first]), point(rng, on[second])))
    return model


def test_no_valid_model_gives_a_damaged_image() -> None:
    messages = [outcome(seed) for seed in range(MODELS)]
    assert [text for text in messages if "damaged" in text] == []
    assert MODELS / 10 < messages.count("") < MODELS * 9 / 10


def outcome(seed: int) -> str:
    """The message of a refusal; "" for a model that compiles."""
    try:
        compile(extreme(np.random.default_rng(seed)))
    except fm.ModelError as error:
        return f"seed {seed}: {error}"
    return ""


def test_the_element_with_a_number_too_large_is_named() -> None:
    model = fm.Model("m")
    a, b = (fm.Body.rod(name, length=1.0, mass=1.0, radius=0.1) for name in "ab")
    model.add(a, fm.Revolute("A", model.ground.at(), a.base))
    model.add(b, fm.Revolute("B", a.at(1e200, 0, 0), b.base))
    with pytest.raises(fm.ModelError, match=r"joint 'B' has a number above 1e\+100"):
        compile(model)


@pytest.mark.parametrize("length", [1e-200, 1e200])
def test_shapes_refuse_sizes_without_a_volume(length: float) -> None:
    with pytest.raises(fm.ModelError, match=r"Body.rod 'a': length is 1e.200, but must lie between 1e-40 and 1e\+40"):
        fm.Body.rod("a", length=length, density=1000.0, radius=0.1)
    with pytest.raises(fm.ModelError, match=r"length is 1e.200, but must lie"):
        fm.ModalBody.beam("a", length=length, mass=1.0, EI=1.0, modes=1)
