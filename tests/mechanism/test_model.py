"""The Model: what it holds, what it declares, and what it refuses."""

import pickle
from math import inf

import pytest

import fmumbs as fm
from fmumbs import ModelError
from fmumbs.mechanism import DeclaredVariable, DefaultExperiment


def four_bar() -> fm.Model:
    """The mechanism of the design's example."""
    model = fm.Model("four_bar", gravity=(0, 0, -9.81))
    ground = model.ground
    a = fm.Body.rod("crank", length=0.10, mass=0.3)
    b = fm.Body.rod("coupler", length=0.26, mass=0.8)
    c = fm.Body.rod("rocker", length=0.22, mass=0.6)
    A = fm.Revolute("A", ground.at(0, 0, 0), a.base, axis="y", q0=-1.2, u0=6.0)
    B = fm.Revolute("B", a.tip, b.base, axis="y", q0=0.7)
    D = fm.Revolute("D", ground.at(0.25, 0, 0), c.base, axis="y", q0=-1.4)
    C = fm.Revolute("C", b.tip, c.tip, axis="y")
    model.add(a, b, c, A, B, D, C)
    return model


def test_a_model_holds_its_elements_in_order_of_adding():
    model = four_bar()
    assert [body.name for body in model.bodies] == ["crank", "coupler", "rocker"]
    assert [joint.name for joint in model.joints] == ["A", "B", "D", "C"]
    assert (model.springs, model.loads, model.declared) == ((), (), ())
    model.add(fm.Spring("k", model.bodies[0].tip, model.ground.at()), fm.Load("L", model.bodies[1].tip))
    assert (len(model.springs), len(model.loads)) == (1, 1)
    assert repr(model) == "<Model 'four_bar': 3 bodies, 4 joints, 1 springs, 1 loads>"


def test_elements_are_found_by_name():
    model = four_bar()
    assert model["A"] is model.joints[0]
    assert "crank" in model
    assert "crnk" not in model
    with pytest.raises(ModelError, match=r"no element 'crnk'\. The nearest name is 'crank'"):
        model["crnk"]
    with pytest.raises(ModelError, match="There is none yet"):
        fm.Model("empty")["A"]


def test_a_model_pickles():
    model = four_bar()
    again = pickle.loads(pickle.dumps(model))
    assert (again.bodies, again.joints, again.gravity) == (model.bodies, model.joints, model.gravity)


def test_adding_is_all_or_nothing():
    model = fm.Model("m")
    body = fm.Body.rod("b", length=1, mass=1)
    with pytest.raises(ModelError):
        model.add(body, fm.Body.rod("b", length=2, mass=1))
    assert model.bodies == ()
    model.add(body)
    assert model.bodies == (body,)


def test_variables_are_declared_under_names_of_the_users_choice():
    model = four_bar()
    model.input("torque", to="A.tau")
    model.output("rocker.angle", of="D.q")
    model.parameter("crank_mass", of="crank.mass")
    assert model.declared == (
        DeclaredVariable("torque", "A.tau", "input"),
        DeclaredVariable("rocker.angle", "D.q", "output"),
        DeclaredVariable("crank_mass", "crank.mass", "parameter"),
    )


def test_a_model_proposes_an_experiment():
    model = four_bar()
    assert model.default_experiment is None
    model.experiment(stop=5, interval=0.01)
    assert model.default_experiment == DefaultExperiment(5.0, 0.01, None)


def test_named_points_are_those_of_bodies_and_of_elements():
    model = four_bar()
    crank, coupler, _ = model.bodies
    model.add(
        fm.Load("L", coupler.at(0.1, 0, 0, name="middle")),
        fm.Load("L2", coupler.at(0.1, 0, 0, name="middle")),
    )
    model.add(fm.Spring("k", model.ground.at(name="hook"), crank.at(0.2)))
    ends = [f"{body}.{end}" for body in ("crank", "coupler", "rocker") for end in ("base", "tip")]
    assert [repr(point) for point in model.named_points] == [*ends, "coupler.middle"]
    model.add(fm.Load("L3", coupler.at(0.2, 0, 0, name="middle")))
    with pytest.raises(ModelError, match=r"'coupler.middle', where Load 'L3' acts.*Call one 'middle2'"):
        _ = model.named_points


def test_elements_act_on_bodies_of_the_model():
    model = four_bar()
    model.check_ends()
    other = fm.Body.rod("pendulum", length=1, mass=1)
    model.add(fm.Revolute("P", model.ground.at(), other.base))
    with pytest.raises(ModelError, match=r"Revolute 'P' acts on 'pendulum.base'.* Add it"):
        model.check_ends()
    model.add(fm.Body.rod("pendulum", length=2, mass=1))
    with pytest.raises(ModelError, match="differs from the 'pendulum' added"):
        model.check_ends()


def body(name: str) -> fm.Body:
    return fm.Body.rod(name, length=1, mass=1)


def added(*elements: object) -> None:
    fm.Model("m").add(*elements)  # type: ignore[arg-type]


def declared(*variables: tuple[str, str]) -> None:
    model = fm.Model("m")
    for name, target in variables:
        model.output(name, of=target)


same = body("b")


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: fm.Model("four bar"), ["Model", "'four bar'", "'four_bar'"]),
        (lambda: fm.Model("m", gravity=9.81), ["Model 'm': gravity", "3 numbers"]),
        (lambda: fm.Model("m", gravity=(0, 0, inf)), ["gravity[3]", "inf"]),
        (lambda: added("b"), ["cannot add a str", "actuators, cylinders, motors, gears, ropes and laws"]),
        (lambda: added([same]), ["cannot add a list"]),
        (lambda: added(same, body("b2"), fm.Load("b", same.tip)), ["Load 'b'", "of Body 'b'", "'b3'"]),
        (lambda: added(same, same), ["Body 'b'", "added twice"]),
        (lambda: added(body("solver")), ["'solver'", "reserved name", "'solver_1'"]),
        (lambda: declared(("x", "A.q"), ("x", "B.q")), ["two declared variables", "'x'", "'A.q'", "'x2'"]),
        (lambda: declared(("x", "A.q"), ("y", "A.q")), ["'A.q'", "already", "'x'"]),
        (lambda: declared(("x y", "A.q")), ["'x y'", "not a variable name"]),
        (lambda: declared(("x", "A..q")), ["'A..q'", "not a variable name"]),
        (lambda: declared(("x", "A.q[0]")), ["'A.q[0]'"]),
        (lambda: fm.Model("m").experiment(stop=-1), ["Model.experiment: stop", "above zero"]),
        (lambda: fm.Model("m").experiment(tolerance="tight"), ["tolerance", "'tight'"]),
    ],
)
def test_what_is_not_valid_is_a_model_error(make, words):
    with pytest.raises(ModelError) as error:
        make()
    for word in words:
        assert word in str(error.value)
    assert str(error.value).endswith(".")
