"""A named joint is shorthand and makes the image of a Joint with the same modes, byte for byte."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

import fmumbs as fm

SAME: list[tuple[Callable[..., fm.Joint], dict[str, Any], Sequence[fm.mechanism.Mode]]] = [
    (fm.Revolute, {"axis": (1, 2, 2)}, [fm.Turn((1, 2, 2))]),
    (fm.Prismatic, {"axis": "-y"}, [fm.Slide("-y")]),
    (fm.Screw, {"axis": "y", "pitch": 0.2}, [fm.Helix("y", 0.2)]),
    (fm.Cylindrical, {"axis": "x"}, [fm.Turn("x"), fm.Slide("x")]),
    (fm.Universal, {"axes": ("z", (1, 1, 1))}, [fm.Turn("z"), fm.Turn((1, 1, 1))]),
    (fm.Planar, {"normal": "z"}, [fm.Slide("x"), fm.Slide("y"), fm.Turn("z")]),
]


def image(make: Callable[[fm.Point, fm.Point], fm.Joint]) -> fm.ModelImage:
    model = fm.Model("pair")
    body = fm.Body("body", mass=1.1, com=(0.1, 0.2, 0.3), inertia=(1.0, 1.1, 1.2))
    model.add(body, make(model.ground.at(0.1, 0, 0), body.at(0, 0.2, 0, rotation=fm.Rotation.rpy(0.1, 0.2, 0.3))))
    return fm.compile(model)


@pytest.mark.parametrize(("named", "options", "modes"), SAME, ids=[row[0].__name__ for row in SAME])
@pytest.mark.parametrize("laws", [{}, {"stiffness": 2.0, "damping": 0.3, "rest": -0.1, "rotor_inertia": 0.4}])
def test_a_named_joint_makes_the_image_of_its_modes(
    named: Callable[..., fm.Joint], options: dict[str, Any], modes: Sequence[fm.mechanism.Mode], laws: dict[str, float]
) -> None:
    n = len(modes)
    q0, u0 = [0.1, -0.2, 0.3][:n], [0.5, 0.4, -0.6][:n]
    own = {key: [value] * n for key, value in laws.items()}
    one = {"q0": q0[0], "u0": u0[0], **laws} if n == 1 else {"q0": q0, "u0": u0, **own}
    shorthand = image(lambda F, M: named("J", F, M, **options, **one))
    assert shorthand == image(lambda F, M: fm.Joint("J", F, M, modes=modes, q0=q0, u0=u0, **own))
