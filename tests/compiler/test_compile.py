"""A Model becomes an image, or an error that names what is wrong with it."""

import gc
from collections.abc import Callable
from typing import Any, get_args

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fmumbs as fm
from fmumbs.compiler import ModelImage, compile
from fmumbs.compiler.layout import lib
from fmumbs.mechanism.forces import LoadAxes
from fmumbs.spatial import cross


def chain(bodies: int) -> fm.Model:
    """Rods from ball joint to ball joint."""
    model = fm.Model("chain")
    end: Any = model.ground.at()
    for i in range(bodies):
        rod = fm.Body.rod(f"rod{i}", length=0.1, mass=1.0, radius=0.01)
        model.add(rod, fm.Spherical(f"J{i}", end, rod.base))
        end = rod.tip
    return model


def test_an_image_holds_the_models_description(image: ModelImage) -> None:
    assert image.name == "zoo"
    assert image.description == "Every kind of element, ünïcode too"
    assert (image.default_experiment.stop, image.default_experiment.interval) == (2.0, 0.1)
    assert image.sizes["bodies"] == image.sizes["joints"] == 5


def test_the_same_model_gives_the_same_bytes(zoo: fm.Model, image: ModelImage) -> None:
    assert compile(zoo).bytes == image.bytes


def test_declared_variables_change_the_image_unless_everything_is_exposed(narrow: fm.Model, image: ModelImage) -> None:
    assert compile(narrow) != image
    assert compile(narrow, everything=True).bytes == image.bytes


def test_an_empty_model_has_the_variables_of_the_model_itself() -> None:
    names = compile(fm.Model("empty")).variables.names()
    assert names
    assert all(name.startswith(("gravity[", "solver.")) for name in names)


def test_a_chain_is_compiled_without_recursion() -> None:
    model = chain(3000)  # more than Python's stack has frames
    model.output("tip", of="rod2999.tip.r")
    assert [v.name for v in compile(model).variables][:3] == ["tip[1]", "tip[2]", "tip[3]"]


# Wrong structure -----------------------------------------------------------------------------------------------


def test_only_models_are_compiled() -> None:
    with pytest.raises(fm.ModelError, match=r"needs a Model, not a str\. Give the Model that build\(\) returns\."):
        compile("pendulum")  # type: ignore[arg-type]


def test_a_body_needs_a_joint() -> None:
    model = fm.Model("sky")
    model.add(*(fm.Body.sphere(name, radius=0.1, mass=1.0) for name in ("sun", "moon")))
    with pytest.raises(fm.ModelError, match=r"'sun', 'moon' are not connected.*fm\.Free\('sun_free'"):
        compile(model)


def test_many_unconnected_bodies_are_counted() -> None:
    model = fm.Model("sky")
    model.add(*(fm.Body.sphere(f"star{i}", radius=0.1, mass=1.0) for i in range(10)))
    with pytest.raises(fm.ModelError, match=r"'star0', 'star1', 'star2' and 7 more are not connected"):
        compile(model)


def test_a_nonholonomic_joint_goes_from_the_parent_to_the_child() -> None:
    model = fm.Model("turned")
    body = fm.Body.rod("body", length=1.0, mass=1.0, radius=0.1)
    model.add(body, fm.Skate("A", body.base, model.ground.at()))
    with pytest.raises(fm.ModelError, match=r"Skate 'A' goes from 'body' to 'ground'.*Swap the points"):
        compile(model)


def test_joints_are_reversed_only_if_no_other_joint_reaches_a_body() -> None:
    model = fm.Model("both")
    a, b, c = (fm.Body.rod(name, length=1.0, mass=1.0, radius=0.1) for name in "abc")
    model.add(a, b, c)
    model.add(fm.Revolute("back", c.base, model.ground.at(1, 0, 0), axis="x"))
    model.add(fm.Revolute("A", model.ground.at(), a.base, axis="x"), fm.Revolute("B", a.tip, b.base, axis="x"))
    model.add(fm.Revolute("C", b.tip, c.tip, axis="x"))
    arrays = compile(model).arrays
    assert arrays["joint_reversed"].tolist() == [0, 0, 0, 0]
    lone = fm.Model("lone")
    lone.add(a, b, c, model["back"], model["C"], fm.Revolute("D", a.tip, b.tip, axis="x"), fm.Weld("E", a.at(), c.at()))
    image = compile(lone)
    assert list(image.variables.joint_names) == ["back", "C", "E", "D"]
    assert image.arrays["joint_reversed"].tolist() == [1, 1, 1, 0]  # the last closes the loop


@pytest.mark.parametrize(
    ("joint", "body", "mode"),
    [
        (fm.Spherical, fm.Body.rod("b", length=1.0, mass=1.0), "[123]"),
        (fm.Revolute, fm.Body.rod("b", length=1.0, mass=1.0, along="z"), "1"),
        (fm.Prismatic, fm.Body("b", mass=0.0), "1"),
        (fm.Cylindrical, fm.Body("b", mass=1.0), "1"),
        (fm.Free, fm.Body("b", mass=1.0), "[456]"),
    ],
)
def test_a_free_mode_without_inertia_against_it_is_named(joint: Any, body: fm.Body, mode: str) -> None:
    model = fm.Model("light")
    model.add(body, joint("A", model.ground.at(), body.at()))
    message = rf"joint 'A', mode {mode}: this free mode has no inertia.* leave the mode out"
    with pytest.raises(fm.ModelError, match=message):
        compile(model)


def test_a_mode_without_inertia_only_at_the_start_compiles() -> None:
    """A point on the axis about which its arm turns: it need not stay there."""
    model = fm.Model("on_the_axis")
    arm, point = fm.Body("arm", mass=0.0), fm.Body("point", mass=1.0)
    model.add(arm, point, fm.Revolute("A", model.ground.at(), arm.at(), axis="z"))
    model.add(fm.Prismatic("B", arm.at(), point.at(), axis="x"))
    solver = fm.Solver(compile(model))
    with pytest.raises(fm.AssemblyError, match=r"joint 'A', mode 1: this free mode has no inertia"):
        solver.assemble()
    solver.set("B.q", 0.5)
    solver.assemble()


def test_a_joint_needs_its_bodies_in_the_model() -> None:
    model = fm.Model("half")
    body = fm.Body.rod("body", length=1.0, mass=1.0, radius=0.1)
    model.add(fm.Revolute("A", model.ground.at(), body.base, axis="x"))
    with pytest.raises(fm.ModelError, match=r"no body 'body'\. Add it"):
        compile(model)


# Signals -------------------------------------------------------------------------------------------------------


def test_declared_variables_come_in_the_order_of_the_whole_table(narrow: fm.Model) -> None:
    variables = compile(narrow).variables
    shown = [v for v in variables if not v.name.startswith("solver.")]
    assert [v.name for v in shown] == [
        "torque", "wind[1]", "wind[2]", "wind[3]", "angle", "rate",
        "pose[1]", "pose[2]", "pose[3]", "pose[4]", "height", "weight",
    ]  # fmt: skip
    assert [v.causality for v in shown] == ["input"] * 4 + ["output"] * 7 + ["parameter"]


def test_the_solvers_own_variables_are_always_there(narrow: fm.Model, image: ModelImage) -> None:
    own = [name for name in image.variables.names() if name.startswith("solver.")]
    assert [name for name in compile(narrow).variables.names() if name.startswith("solver.")] == own
    narrow.output("energy", of="solver.energy")
    names = compile(narrow).variables.names()
    assert "energy" in names
    assert "solver.energy" not in names


def test_one_output_may_be_shown_twice(zoo: fm.Model) -> None:
    zoo.output("place", of="arm.r")
    zoo.output("height", of="arm.r[3]")
    variables = compile(zoo).variables
    assert {"place[3]", "height"} <= set(variables.names())
    assert len(variables.references("place")) == len(variables.references("arm.r")) == 3


Change = Callable[[fm.Model], None]


@pytest.mark.parametrize(
    ("declare", "parts"),
    [
        (lambda m: m.output("x", of="A.qdddd"), ["output 'x' names 'A.qdddd'", "'A.qdd'"]),
        (lambda m: m.output("x", of="a.q"), ["'A.q'"]),
        (lambda m: m.output("x", of="rm.tip.r"), ["'arm.tip.r'"]),
        (lambda m: m.output("x", of="arm.tpi.r"), ["'arm.tip.r'"]),
        (lambda m: m.output("x", of="ball.mark.r[4]"), ["'ball.mark.r[3]'"]),
        (lambda m: m.output("x", of="arm"), ["'arm', which does not exist", "'arm."]),
        (lambda m: m.output("x", of="solver.enrgy"), ["'solver.energy'"]),
        (lambda m: m.parameter("x", of="gravty"), ["'gravity'"]),
        (lambda m: m.output("x", of="W.q"), ["'W.q', which does not exist"]),
        (lambda m: m.input("x", to="A.q"), ["'A.q' is an output", "Use model.output()"]),
        (lambda m: m.output("x", of="A.tau"), ["'A.tau' is an input", "Use model.input()"]),
        (lambda m: m.input("x", to="arm.mass"), ["'arm.mass' is a parameter", "Use model.parameter()"]),
    ],
)
def test_a_declaration_names_a_variable_of_its_causality(declare: Change, parts: list[str], zoo: fm.Model) -> None:
    declare(zoo)
    with pytest.raises(fm.ModelError) as caught:
        compile(zoo)
    for part in ["Model 'zoo'", *parts]:
        assert part in str(caught.value)


def test_names_of_variables_are_unique(zoo: fm.Model) -> None:
    zoo.output("x", of="arm.r")
    zoo.output("x[2]", of="A.q")
    with pytest.raises(fm.ModelError, match=r"two variables have the name 'x\[2\]'.*Rename the output 'x\[2\]'"):
        compile(zoo)


def test_the_solvers_names_are_reserved(zoo: fm.Model) -> None:
    zoo.output("solver.steps", of="A.q")
    with pytest.raises(fm.ModelError, match=r"two variables have the name 'solver\.steps', the solver"):
        compile(zoo)


def test_an_input_is_declared_once(zoo: fm.Model) -> None:
    zoo.input("wind", to="L.force")
    zoo.input("gust", to="L.force[1]")
    message = r"'gust' of 'L\.force\[1\]' sets the same variable as 'wind' of 'L\.force'"
    with pytest.raises(fm.ModelError, match=message):
        compile(zoo)


def test_the_message_about_a_misspelled_declaration_has_the_nearest_name() -> None:
    model = chain(2000)
    model.output("tip", of="rod1999.tpi.r")
    with pytest.raises(fm.ModelError, match=r"nearest name is 'rod1999\.tip\.r'"):
        compile(model)


def test_what_a_model_has_follows_what_is_added() -> None:
    """Lists are kept until the next element; a copy of a model keeps its own."""
    model = fm.Model("m")
    assert (model.bodies, model.joints, model.laws, model.forces) == ((), (), (), ())
    body = fm.Body.rod("b", length=1.0, mass=1.0)
    hinge = fm.Revolute("A", model.ground.at(), body.base, axis="y")
    model.add(body)
    assert (model.bodies, model.joints) == ((body,), ())
    model.add(hinge)
    assert (model.bodies, model.joints, model.laws) == ((body,), (hinge,), ())
    first = compile(model)
    brake, spring = fm.Law.brake("brake", hinge, 1.0), fm.Spring("s", model.ground.at(z=1), body.tip, stiffness=2.0)
    model.add(brake, spring)
    assert (model.laws, model.forces) == ((brake,), (spring,))
    assert "brake.force" in compile(model).variables.names() and "brake.force" not in first.variables.names()


def test_a_compilation_leaves_the_garbage_collector_as_it_was() -> None:
    wrong = fm.Model("wrong")
    wrong.add(fm.Body("b", mass=1.0))
    for on in (True, False):
        (gc.enable if on else gc.disable)()
        try:
            compile(fm.Model("m"))
            assert gc.isenabled() == on
            with pytest.raises(fm.ModelError):
                compile(wrong)
            assert gc.isenabled() == on
        finally:
            gc.enable()


def test_options_that_change_nothing_leave_the_image() -> None:
    image = compile(fm.Model("m"))
    assert image.with_options() is image
    assert image.with_options(tolerance=1e-3).bytes != image.bytes


@pytest.mark.parametrize("seed", range(20))
def test_a_cross_product_has_the_bits_of_numpys(seed: int) -> None:
    a, b = np.random.default_rng(seed).normal(size=(2, 3)) * 10.0 ** np.arange(-3, 3).reshape(2, 3)
    assert cross(a, b).tobytes() == np.cross(a, b).tobytes()


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_the_length_of_a_mechanism_without_arms_is_that_of_its_inertias(scale: float) -> None:
    """A rotor on an axle through its centre of mass: twice its radius of gyration."""
    model = fm.Model("rotor")
    rotor = fm.Body("rotor", mass=2.0, inertia=(5.0 * scale**2, 5.0 * scale**2, 8.0 * scale**2))
    model.add(rotor, fm.Revolute("axle", model.ground.at(), rotor.at(), axis="z"))
    assert fm.compile(model).arrays["length"][0] == pytest.approx(4.0 * scale, rel=1e-15)


def test_words_of_a_force_element_are_the_numbers_that_the_core_has_for_them() -> None:
    body = fm.Body("b", mass=1.0, inertia=(1.0, 1.0, 1.0))
    model = fm.Model("words")
    model.add(body, fm.Free("free", model.ground.at(), body.at()))
    model.add(*(fm.Load(f"in_{axes}", body.at(), axes=axes) for axes in get_args(LoadAxes)))
    assert compile(model).arrays["load_axes"].tolist() == [lib.FM_WORLD_AXES, lib.FM_POINT_AXES]
    assert get_args(LoadAxes) == ("world", "point")


def test_a_point_has_its_axes_and_points_that_differ_in_them_are_not_one() -> None:
    body = fm.Body("b", mass=1.0, inertia=(1.0, 1.0, 1.0))
    model = fm.Model("axes")
    turned = fm.Rotation.about("z", 0.3)
    model.add(body, fm.Free("free", model.ground.at(), body.at()))
    model.add(fm.Load("plain", body.at(), axes="point"))
    model.add(fm.Load("turned", body.at(rotation=turned), axes="point"))
    a = compile(model).arrays
    assert_allclose(a["point_R"][a["load_P"]].reshape(-1, 3, 3), [np.eye(3), turned.matrix], atol=1e-15)
