"""The spanning tree, the loops and the mobility of small mechanisms, by counting on the fingers."""

import sys

import fmumbs as fm
from fmumbs.analysis import structure


def rods(count: int) -> list[fm.Body]:
    return [fm.Body.rod(f"b{i}", length=1.0, mass=1.0, radius=0.1) for i in range(count)]


def chain(count: int) -> fm.Model:
    model = fm.Model("chain")
    end = model.ground.at(0, 0, 0)
    for i, body in enumerate(rods(count)):
        model.add(body, fm.Revolute(f"J{i}", end, body.base, axis="y"))
        end = body.tip
    return model


def test_a_chain_moves_in_as_many_ways_as_it_has_hinges() -> None:
    facts = structure(chain(5))
    assert (facts.bodies, facts.joints, facts.loops, facts.mobility) == (5, 5, 0, 5)
    assert (facts.roots, facts.depth) == (1, 5)
    assert facts.reactions == 5 * 5
    assert [branch.parent for branch in facts.branches] == ["ground", "b0", "b1", "b2", "b3"]


def test_every_element_of_a_model_is_counted() -> None:
    """By the model's own lists, so that a new kind of element is not left out."""
    model = chain(3)
    A, B = model.joints[:2]
    tip = model["b2"].tip
    model.add(fm.Spring("s", model.ground.at(0, 0, 5), tip, stiffness=1.0), fm.Load("l", tip), fm.Load("m", tip))
    model.add(fm.Coupling.gear("g", A, B, ratio=2.0))
    model.add(fm.Law.brake("b", A, 1.0), *(fm.Stop(f"stop{i}", B, upper=i, stiffness=1.0) for i in range(3)))
    facts = structure(model)
    kinds = [name for name, value in vars(fm.Model).items() if isinstance(value, property) and name in vars(facts)]
    counts = {name: len(getattr(model, name)) for name in kinds}
    assert counts == {"bodies": 3, "joints": 3, "couplings": 1, "springs": 1, "loads": 2, "laws": 4}
    assert {name: getattr(facts, name) for name in kinds} == counts
    assert sum(counts.values()) == len(model._elements)


def test_a_chain_longer_than_the_stack_is_walked() -> None:
    count = sys.getrecursionlimit() + 100
    assert structure(chain(count)).depth == count


def test_a_ball_joint_has_three_freedoms_a_free_body_six_and_a_weld_none() -> None:
    model = fm.Model("star")
    a, b, c = rods(3)
    ground = model.ground.at(0, 0, 0)
    model.add(a, b, c)
    model.add(fm.Spherical("A", ground, a.base), fm.Free("B", ground, b.base), fm.Weld("C", ground, c.base))
    facts = structure(model)
    assert (facts.mobility, facts.reactions, facts.roots) == (9, 3 + 0 + 6, 3)


def test_a_four_bar_linkage_has_one_loop_and_a_mobility_that_counting_does_not_give() -> None:
    model = chain(3)
    tip = model["b2"].tip
    model.add(fm.Revolute("D", model.ground.at(1, 0, 0), tip, axis="y"))
    facts = structure(model)
    assert (facts.loops, facts.mobility) == (1, None)
    assert len(facts.branches) == 3


def test_a_body_without_a_way_to_the_ground_is_told() -> None:
    model = chain(2)
    a, b = (fm.Body.rod(name, length=1.0, mass=1.0) for name in ("p", "q"))
    model.add(a, b, fm.Revolute("pq", a.tip, b.base, axis="y"))
    assert structure(model).unreached == ("p", "q")


def test_a_joint_said_from_the_tip_to_the_ground_is_told() -> None:
    model = fm.Model("backwards")
    (body,) = rods(1)
    model.add(body, fm.Revolute("A", body.base, model.ground.at(0, 0, 0), axis="y"))
    facts = structure(model)
    assert facts.branches[0].reversed
    assert "Joint 'A'" in facts.warnings[0]


def test_in_a_loop_no_joint_is_the_wrong_way_round() -> None:
    model = chain(3)
    model.add(fm.Revolute("D", model["b2"].tip, model.ground.at(1, 0, 0), axis="y"))
    assert structure(model).warnings == ()


def test_a_light_link_that_carries_a_heavy_one_is_told() -> None:
    model = fm.Model("needle")
    light = fm.Body.rod("light", length=1.0, mass=1e-6, radius=0.1)
    heavy = fm.Body.rod("heavy", length=1.0, mass=100.0, radius=0.1)
    model.add(light, heavy)
    model.add(fm.Revolute("A", model.ground.at(0, 0, 0), light.base, axis="y"))
    model.add(fm.Revolute("B", light.tip, heavy.base, axis="y"))
    assert any("Body 'light'" in warning for warning in structure(model).warnings)


def test_a_mechanism_in_order_has_no_warning() -> None:
    assert structure(chain(3)).warnings == ()
