"""Stops with a restitution, and limits of joints: what they make, and what is refused."""

import pickle
from typing import Any

import pytest

import fmumbs as fm


def slide(**options: Any) -> tuple[fm.Model, Any]:
    model = fm.Model("m")
    body = fm.Body("b", mass=1.0, inertia=(0.1, 0.1, 0.1))
    joint = fm.Prismatic("s", model.ground.at(), body.at(), axis="z", **options)
    model.add(body, joint)
    return model, joint


def test_limits_make_a_stop() -> None:
    model, joint = slide(limits=fm.Limits(-1.0, 2.0, restitution=0.5))
    assert model.laws == (fm.Stop("s_stop", joint, lower=-1.0, upper=2.0, restitution=0.5),)
    assert pickle.loads(pickle.dumps(model["s_stop"])) == model["s_stop"]
    model, joint = slide(limits=fm.Limits(upper=2.0, stiffness=100.0, damping=3.0))
    assert model.laws == (fm.Stop("s_stop", joint, upper=2.0, stiffness=100.0, damping=3.0),)
    assert model.laws[0].force(2.5, 1.0) == -53.0


def test_limits_of_several_modes() -> None:
    model = fm.Model("m")
    body = fm.Body("b", mass=1.0, inertia=(0.1, 0.1, 0.1))
    joint = fm.Cylindrical("c", model.ground.at(), body.at(), limits=(None, fm.Limits(0.0, restitution=1)))
    model.add(body, joint)
    assert [(law.name, law.mode) for law in model.laws] == [("c_stop2", 2)]


def test_what_a_reader_read_becomes_a_stop_only_if_asked() -> None:
    limits = fm.Limits(-1.0, 1.0)
    with pytest.raises(fm.ModelError, match="Stop 's_stop': stiffness and restitution are both missing"):
        slide(limits=limits)


def test_a_flexible_copy_has_the_stop_once() -> None:
    model = fm.Model("m")
    rod = fm.Body.rod("rod", length=1.0, mass=1.0)
    hinge = fm.Revolute("A", model.ground.at(), rod.base, axis="y", limits=fm.Limits(-1.0, 1.0, restitution=0.5))
    model.add(rod, hinge)
    made = fm.make_flexible(
        model, ["rod"], material=fm.Material.steel(), sections={"rod": fm.Section.circle(0.05)}, elements=2
    )
    assert [law.name for law in made.laws] == ["A_stop"]


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "neither": ({}, "stiffness and restitution are both missing. Give a stiffness"),
    "both": ({"stiffness": 1.0, "restitution": 0.5}, "stiffness and restitution are both given. Give"),
    "above one": ({"restitution": 1.5}, "restitution is 1.5, but it must be at most 1"),
    "below zero": ({"restitution": -0.1}, "restitution is -0.1, but it must be at least 0"),
    "damped": ({"restitution": 0.5, "damping": 1.0}, "damping is 1.0, but a stop with a restitution has none"),
    "factor": ({"restitution": 0.5, "scale": 2.0}, "scale is 2.0, but a stop with a restitution has none"),
    "scaled": ({"restitution": 0.5, "scaled": True}, "scaled is True, but a stop with a restitution has none"),
    "a text": ({"restitution": "half"}, "restitution is 'half', which is not a number"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_stops_that_are_refused(case: str) -> None:
    options, text = REFUSED[case]
    with pytest.raises(fm.ModelError, match=f"Stop 'stop': {text}"):
        fm.Stop("stop", slide()[1], lower=0.0, **options)


LIMITS: dict[str, tuple[Any, str]] = {
    "a number": (3, r"limits is 3, which is not a list. Give fm.Limits\(lower, upper, restitution=0.5\)"),
    "pairs": ([(0, 1)], r"limits has \(0, 1\). Give fm.Limits"),
    "too many": ([fm.Limits(0, 1, restitution=0)] * 2, "limits has 2 entries for 1 free modes"),
    "effort": (fm.Limits(0, 1, effort=3.0, restitution=0), "limits has a limit of the effort, which no stop keeps"),
}


@pytest.mark.parametrize("case", LIMITS)
def test_limits_that_are_refused(case: str) -> None:
    limits, text = LIMITS[case]
    with pytest.raises(fm.ModelError, match=f"Prismatic 's': {text}"):
        slide(limits=limits)
