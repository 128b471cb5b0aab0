"""Messages about parts of programs, links and supports name what the user wrote, not the parts."""

from collections.abc import Callable
from typing import Any

import pytest

import fmumbs as fm

LINE = fm.Path.polynomial(0.0, 1.0)


def rods() -> tuple[fm.Model, fm.Body, fm.Body]:
    one, two = (fm.Body.rod(name, length=1.0, mass=1.0, radius=0.02) for name in ("one", "two"))
    return fm.Model("m"), one, two


def programmed(kind: Any = fm.Revolute, **options: Any) -> None:
    model, one, _ = rods()
    axis = {"axis": "y"} if kind is fm.Revolute else {}
    joint = kind("A", model.ground.at(), one.base, **axis)
    model.add(one, joint, fm.ProgrammedJoint("P", joint, path=LINE, **options))
    fm.compile(model)


def excited() -> None:
    model, one, _ = rods()
    joint = fm.Joint("A", model.ground.at(), one.base, modes=(fm.Turn("y", role="excited", path=LINE),))
    fm.ProgrammedJoint("P", joint, path=LINE)


def of_a_cut_joint() -> None:
    model, one, _ = rods()
    tree, closing = (fm.Revolute(n, model.ground.at(), one.base, axis="y", cut=n == "D") for n in "AD")
    model.add(one, tree, closing, fm.ProgrammedJoint("P", closing, path=LINE))
    fm.compile(model)


def of_an_absent_joint() -> None:
    model, one, two = rods()
    absent = fm.Revolute("D", model.ground.at(), two.base, axis="y")
    model.add(one, fm.Revolute("A", model.ground.at(), one.base, axis="y"))
    model.add(fm.ProgrammedJoint("P", absent, path=LINE))
    fm.compile(model)


def with_a_name_in_use(of: str) -> None:
    model, one, _ = rods()
    joint = fm.Revolute(of, model.ground.at(), one.base, axis="y")
    model.add(one, joint, fm.ProgrammedJoint("P", joint, path=LINE))


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: programmed(mode=9), "ProgrammedJoint 'P': joint: mode 9 of joint 'A' does not exist"),
        (lambda: programmed(mode=9, of="velocity"), "ProgrammedJoint 'P': joint: mode 9 of joint 'A' does not exist"),
        (lambda: programmed(fm.Spherical), "ProgrammedJoint 'P': joint: mode 1 of joint 'A' .* has 0 with a scalar"),
        (excited, "ProgrammedJoint 'P': joint: 'A' is excited already"),
        (of_a_cut_joint, "ProgrammedJoint 'P' couples joint 'D', which closes a loop"),
        (of_an_absent_joint, "ProgrammedJoint 'P' couples 'D', which is not in the model"),
        (lambda: with_a_name_in_use("P_follows"), "'P_follows' of ProgrammedJoint 'P' has the name of Revolute"),
        (lambda: with_a_name_in_use("P_target"), "'P_target' of ProgrammedJoint 'P' has the name of Revolute"),
    ],
)
def test_a_message_names_what_the_user_wrote(make: Callable[[], None], says: str) -> None:
    with pytest.raises(fm.ModelError, match=says):
        make()


def test_every_part_has_the_title_of_its_whole() -> None:
    model, one, _ = rods()
    link = fm.FlexibleLink("beam", length=1.0, section=fm.Section.tube(0.02, 0.003), material=fm.Material.steel())
    layer = fm.Layer([(0, 0, 0), (1, 0, 0), (0, 1, 0)], stiffness=(1e4, 1e4, 1e4))
    stand = fm.FlexibleSupport("stand", model.ground.at(), one.base, layers=[layer])
    point = fm.ProgrammedPoint("E", one.tip, path=(0.0, 0.0, 0.0))
    for whole in (link, stand, point):
        assert {part.title for part in whole.parts} == {f"{type(whole).__name__} '{whole.name}'"}
    assert one.title == "Body 'one'"
