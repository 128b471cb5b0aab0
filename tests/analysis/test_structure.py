"""The spanning tree, the loops and the mobility of small mechanisms, against counts by hand."""

import sys
from pathlib import Path

import fmumbs as fm
from fmumbs.analysis.structure import structure
from fmumbs.readers import read_model


def rods(count: int) -> list[fm.Body]:
    return [fm.Body.rod(f"b{i}", length=1.0, mass=1.0, radius=0.1) for i in range(count)]


def chain(count: int) -> fm.Model:
    model = fm.Model("chain")
    end = model.ground.at(0, 0, 0)
    for i, body in enumerate(rods(count)):
        model.add(body, fm.Revolute(f"J{i}", end, body.base, axis="y"))
        end = body.tip
    return model


def test_the_mobility_of_a_chain_is_its_number_of_hinges() -> None:
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
    parts = len(model._elements)
    model.add(fm.ProgrammedVelocity("rate", tip, rows=[(0, 1, 0, 0, 0, 0)], path=0.0))  # with a target and a constraint
    facts = structure(model)
    kinds = [name for name, value in vars(fm.Model).items() if isinstance(value, property) and name in vars(facts)]
    counts = {name: getattr(facts, name) for name in kinds}
    forces = {"springs": 1, "loads": 2, "ropes": 0, "laws": 4}
    assert counts == {"bodies": 3, "joints": 3, "couplings": 1, "programs": 1} | forces
    assert sum(counts.values()) == parts + 1


def test_a_chain_longer_than_the_stack_is_walked() -> None:
    count = sys.getrecursionlimit() + 100
    assert structure(chain(count)).depth == count


def test_a_ball_joint_has_three_degrees_of_freedom_a_free_body_six_and_a_weld_none() -> None:
    model = fm.Model("star")
    a, b, c = rods(3)
    ground = model.ground.at(0, 0, 0)
    model.add(a, b, c)
    model.add(fm.Spherical("A", ground, a.base), fm.Free("B", ground, b.base), fm.Weld("C", ground, c.base))
    facts = structure(model)
    assert (facts.mobility, facts.reactions, facts.roots) == (9, 3 + 0 + 6, 3)


def test_the_mobility_of_a_four_bar_linkage_does_not_follow_from_counting() -> None:
    model = chain(3)
    tip = model["b2"].tip
    model.add(fm.Revolute("D", model.ground.at(1, 0, 0), tip, axis="y"))
    facts = structure(model)
    assert (facts.loops, facts.mobility) == (1, None)
    assert len(facts.branches) == 3


def test_a_body_without_a_connection_to_the_ground_is_reported() -> None:
    model = chain(2)
    a, b = (fm.Body.rod(name, length=1.0, mass=1.0) for name in ("p", "q"))
    model.add(a, b, fm.Revolute("pq", a.tip, b.base, axis="y"))
    assert structure(model).unreached == ("p", "q")


def test_a_joint_that_points_towards_the_ground_is_reported() -> None:
    model = fm.Model("backwards")
    (body,) = rods(1)
    model.add(body, fm.Revolute("A", body.base, model.ground.at(0, 0, 0), axis="y"))
    facts = structure(model)
    assert facts.branches[0].reversed
    assert "Joint 'A'" in facts.warnings[0]


def test_joints_of_a_loop_may_point_either_way() -> None:
    model = chain(3)
    model.add(fm.Revolute("D", model["b2"].tip, model.ground.at(1, 0, 0), axis="y"))
    assert structure(model).warnings == ()


def test_a_light_link_that_carries_a_heavy_one_is_reported() -> None:
    model = fm.Model("needle")
    light = fm.Body.rod("light", length=1.0, mass=1e-6, radius=0.1)
    heavy = fm.Body.rod("heavy", length=1.0, mass=100.0, radius=0.1)
    model.add(light, heavy)
    model.add(fm.Revolute("A", model.ground.at(0, 0, 0), light.base, axis="y"))
    model.add(fm.Revolute("B", light.tip, heavy.base, axis="y"))
    assert any("Body 'light'" in warning for warning in structure(model).warnings)


def test_a_mechanism_in_order_has_no_warning() -> None:
    assert structure(chain(3)).warnings == ()


def test_angles_that_may_be_degrees_give_a_warning() -> None:
    model = fm.Model("degrees")
    rod, other = (fm.Body.rod(name, length=1.0, mass=1.0, radius=0.05) for name in ("rod", "other"))
    model.add(rod, fm.Revolute("A", model.ground.at(), rod.base, axis="y", q0=30))
    model.add(other, fm.Cylindrical("B", rod.tip, other.base, q0=(-90.0, 40.0)))
    warnings = structure(model).warnings
    assert [text for text in warnings if "degrees" in text] == [
        "Joint 'A' starts at 30 rad, 4.8 turns. Angles are in radians: 30 degrees are 0.5236 rad.",
        "Joint 'B' starts at -90 rad, 14.3 turns. Angles are in radians: -90 degrees are -1.571 rad.",
    ]


def test_lengths_that_may_be_millimetres_give_a_warning() -> None:
    def chain(last: float) -> fm.Model:
        model, at = fm.Model("lengths"), fm.Model("m").ground.at()
        for i, length in enumerate((0.3, 0.5, 0.4, last)):
            rod = fm.Body.rod(f"rod{i}", length=length, mass=1.0, radius=0.05)
            model.add(rod, fm.Revolute(f"J{i}", at, rod.base, axis="y"))
            at = rod.tip
        return model

    warnings = [text for text in structure(chain(600.0)).warnings if "metres" in text]
    where = "Joint 'J3' is 300 m from the centre of mass of 'rod3', most are about 0.2 m."
    assert warnings == [f"{where} Lengths are in metres: 300 mm are 0.3 m."]
    assert not [text for text in structure(chain(60.0)).warnings if "metres" in text]


def test_shipped_models_give_no_warning_about_units() -> None:
    for path in sorted((Path(__file__).parents[2] / "models").glob("*.py")):
        if path.stem != "__init__":
            warnings = structure(read_model(path.stem)).warnings
            assert not [text for text in warnings if "radians" in text or "metres" in text], path.stem


def test_joints_that_only_measure_close_no_loop():
    """The tip of a flexible link, and the springs of a support, are joints of six freedoms beside the tree."""
    model = fm.Model("bent")
    base = fm.Body("base", mass=1.0, inertia=(1, 1, 1))
    layer = fm.Layer([(0, 0, 0), (1, 0, 0)], stiffness=1.0)
    link = fm.FlexibleLink("link", length=1.0, EIz=1.0, mass=1.0, plane="xy", elements=2)
    model.add(base, fm.FlexibleSupport("feet", model.ground.at(), base.at(), layers=[layer]))
    model.add(link, fm.Weld("weld", base.at(), link.base))
    facts = structure(model)
    assert (facts.loops, facts.cuts, facts.across) == (0, (), ("feet_1_1", "feet_1_2", "link_tip"))
    assert facts.mobility == 6 + 2


def test_only_a_model_that_nothing_moves_is_said_to_rest() -> None:
    """Not one that a path drives, or that starts with a velocity."""

    def warned(*modes: fm.Turn, u0: float = 0.0) -> bool:
        model = fm.Model("m", gravity=(0, 0, 0))
        body = fm.Body.rod("b", length=1.0, mass=1.0)
        if modes:
            model.add(body, fm.Joint("J", model.ground.at(), body.base, modes=list(modes)))
        else:
            model.add(body, fm.Revolute("J", model.ground.at(), body.base, axis="y", u0=u0))
        return any("nothing moves" in warning for warning in structure(model).warnings)

    assert warned()
    assert not warned(u0=1.0)
    assert not warned(fm.Turn("y", role="excited", path=fm.Path.polynomial(0.0, 6.0)))
