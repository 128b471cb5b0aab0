"""Scenes: bodies as they were described, symbols of joints, and what images carry of them."""

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fmumbs as fm
from fmumbs.compiler.layout import counted, pack
from fmumbs.readers import read_model
from fmumbs.scene import GROUND, Scene, Shape, scene_of
from fmumbs.scene.described import BodyLook, Place, SpringLook
from support.flexible_models import lumped

MODELS = sorted(path.stem for path in (Path(__file__).parents[2] / "models").glob("*.py"))


def shape_of(body: fm.Body) -> Shape:
    model = fm.Model("one")
    model.add(body, fm.Free("J", model.ground.at(), body.at()))
    shape = scene_of(model).bodies[0].shape
    assert shape is not None
    return shape


def axes(shape: Shape) -> np.ndarray:
    return fm.Rotation.quaternion(*shape.axes).matrix


@pytest.mark.parametrize(("along", "k"), [("x", 0), ("y", 1), ("-z", 2)])
def test_a_cylinder_lies_along_its_axis_about_its_centre_of_mass(along: str, k: int) -> None:
    body = fm.Body.cylinder("B", length=0.8, radius=0.1, mass=2.0, along=along)
    shape = shape_of(body)
    assert shape.kind == "cylinder"
    assert_allclose(shape.size, (0.8, 0.2, 0.2), rtol=1e-12)
    assert shape.at == body.com
    assert_allclose(np.abs(axes(shape)[:, 0]), np.eye(3)[k], atol=1e-15)


@pytest.mark.parametrize("along", ["x", "y", "z"])
def test_a_box_has_the_edges_that_were_given(along: str) -> None:
    shape = shape_of(fm.Body.box("B", size=(0.1, 0.2, 0.3), mass=2.0, along=along))
    assert shape.kind == "box"
    assert_allclose(np.abs(axes(shape) @ shape.size), (0.1, 0.2, 0.3), rtol=1e-9)


def test_a_thin_rod_has_no_thickness() -> None:
    assert shape_of(fm.Body.rod("B", length=2.0, mass=1.0)).size == (2.0, 0.0, 0.0)


def test_a_sphere_is_a_sphere() -> None:
    shape = shape_of(fm.Body.sphere("B", radius=0.3, density=1000.0))
    assert shape.kind == "ellipsoid"
    assert_allclose(shape.size, (0.6, 0.6, 0.6), rtol=1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_an_ellipsoid_has_the_inertia_of_its_body(seed: int) -> None:
    rng = np.random.default_rng(seed)
    mass, half = rng.uniform(0.1, 5.0), rng.uniform(0.05, 1.0, 3)
    R = fm.Rotation.rpy(*rng.uniform(-3, 3, 3)).matrix
    moments = mass / 5.0 * (np.sum(half**2) - half**2)
    shape = shape_of(fm.Body("B", mass=mass, com=(0.1, 0.2, 0.3), inertia=R @ np.diag(moments) @ R.T))
    own = axes(shape)
    a, b, c = (np.array(shape.size) / 2.0) ** 2
    again = own @ np.diag(mass / 5.0 * np.array([b + c, a + c, a + b])) @ own.T
    assert_allclose(again, R @ np.diag(moments) @ R.T, rtol=0, atol=1e-9 * moments.max())
    assert_allclose(np.linalg.det(own), 1.0, rtol=1e-12)


def test_a_point_mass_and_a_massless_body_have_no_size() -> None:
    assert shape_of(fm.Body("B", mass=1.0)).size == (0.0, 0.0, 0.0)
    model = fm.Model("m")
    A, B = fm.Body("A", mass=0.0), fm.Body("B", mass=1.0, inertia=(1, 1, 1))
    model.add(A, B, fm.Revolute("J", model.ground.at(), A.at()), fm.Revolute("K", A.at(1), B.at(), axis="x"))
    shape = scene_of(model).bodies[0].shape
    assert shape is not None
    assert shape.size == (0.0, 0.0, 0.0)


def test_a_tube_is_drawn_with_its_outer_radius() -> None:
    steel = fm.Material.steel()
    link = fm.FlexibleLink("L", length=2.0, section=fm.Section.tube(0.05, 0.01), material=steel, elements=2)
    model = fm.Model("beam")
    model.add(link, fm.Weld("W", model.ground.at(), link.base))
    scene = scene_of(model)
    shapes = [body.shape for body in scene.bodies if body.shape]
    assert_allclose([shape.size[0] for shape in shapes], (0.5, 1.0, 0.5), rtol=1e-12)
    assert_allclose([shape.size[1] for shape in shapes], 0.1, rtol=1e-12)
    assert [joint.symbols for joint in scene.joints if joint.name != "W"] == [()] * 3  # two elements and the measure


def test_a_beam_has_the_shapes_of_its_modes_along_its_axis() -> None:
    model = fm.Model("beam")
    beam = fm.ModalBody.beam("B", length=1.0, EI=10.0, mass=1.0, modes=2, along="y", plane="xy")
    model.add(beam, fm.Weld("W", model.ground.at(), beam.base))
    line = scene_of(model).bodies[0].line
    assert line is not None
    assert_allclose(line.points[-1], (0.0, 1.0, 0.0), atol=1e-15)
    shapes = np.array(line.shapes)
    assert shapes.shape == (2, 17, 3)
    assert_allclose(shapes[:, 0], 0.0, atol=1e-12)
    assert_allclose(np.abs(shapes[:, -1, 0]), 1.0, rtol=1e-9)  # the largest deflection of clamped-free modes
    assert not shapes[:, :, 1:].any()


@pytest.mark.parametrize("plane", ["xy", "xz", "yz", None])
def test_a_body_of_nodes_has_their_shapes_in_its_own_axes(plane: str | None) -> None:
    """A line through the named points in their order, whatever the axes of the plane in which the shapes are given."""
    body, cloud = lumped(np.random.default_rng(3), "B", plane, modes=3)
    model = fm.Model("nodes")
    one = body.point("one")
    model.add(body, fm.Weld("W", model.ground.at(), one))
    line = scene_of(model).bodies[0].line
    assert line is not None and line.radius == 0.0
    assert_allclose(line.points, cloud.positions[:2], atol=1e-9)
    i, j = {"xy": (0, 1), "xz": (0, 2), "yz": (1, 2)}.get(plane or "", (0, 1))
    expected = np.zeros((3, 2, 3))  # modes, points, axes
    for at in range(2):
        rows = np.array(cloud.shape(cloud.positions[at]))
        if plane is None:
            expected[:, at] = rows[:, :3]
        else:
            expected[:, at, i], expected[:, at, j] = rows[:, 0], rows[:, 1]
    assert_allclose(line.shapes, expected, atol=1e-9)


@pytest.mark.parametrize(("along", "plane"), [("x", "xz"), ("y", "yz"), ("z", None)])
def test_a_beam_off_its_frame_has_its_axis_and_radius(along: str, plane: str | None) -> None:
    """In space a beam is as thick as a round rod of its polar moment of inertia; in a plane it is a line."""
    beam = fm.ModalBody.beam(
        "B", length=2.0, EI=10.0, mass=3.0, modes=1, along=along, plane=plane, axial_inertia=0.0 if plane else 0.02
    )
    model = fm.Model("beam")
    model.add(beam, fm.Weld("W", model.ground.at(), beam.base))
    line = scene_of(model).bodies[0].line
    assert line is not None
    expected = np.zeros((17, 3))
    expected[:, "xyz".index(along)] = np.linspace(0.0, 2.0, 17)
    assert_allclose(line.points, expected, atol=1e-9)
    assert line.radius == pytest.approx(0.0 if plane else np.sqrt(2.0 * 0.02 / 3.0), rel=1e-9)


def test_symbols_of_joints() -> None:
    model = fm.Model("many")
    A, B = (fm.Body(name, mass=1.0, inertia=(1, 1, 1)) for name in "AB")
    model.add(A, B, fm.Universal("U", model.ground.at(), A.at()), fm.Cylindrical("C", A.at(1), B.at(), axis="x"))
    universal, cylindrical = (joint.symbols for joint in scene_of(model).joints)
    assert [(one.kind, one.on) for one in universal] == [("turn", "F"), ("turn", "M")]
    assert {one.kind for one in cylindrical} == {"turn", "slide"}
    rolling = scene_of(read_model("rolling_disk", {}))
    assert {"plane", "disc"} <= {one.kind for joint in rolling.joints for one in joint.symbols}


def test_motors_are_drawn_beside_the_modes_that_they_drive() -> None:
    model = fm.Model("driven")
    body = fm.Body.sphere("body", radius=0.1, mass=1.0)
    joint = fm.Joint("J", model.ground.at(), body.at(), modes=(fm.Slide("x"), fm.Turn("z")))
    model.add(body, joint, fm.Motor("M", joint, mode=2, resistance=1.0, constant=0.1))
    kinds = [(one.kind, one.axis) for one in scene_of(model).joints[0].symbols]
    assert kinds == [("slide", (1.0, 0.0, 0.0)), ("turn", (0.0, 0.0, 1.0)), ("motor", (0.0, 0.0, 1.0))]


def test_programs_show_their_path_and_hide_their_target() -> None:
    model = fm.Model("robot")
    B = fm.Body("B", mass=1.0, inertia=(1, 1, 1))
    model.add(B, fm.Free("J", model.ground.at(), B.at()))
    circle = fm.Path.circle((0, 0, 0), (1, 0, 0), (0, 0, 1), 2.0)
    model.add(fm.ProgrammedPoint("P", B.at(), path=circle))
    scene = fm.compile(model).scene
    hidden = [body for body in scene.bodies if body.name == "P_target"]
    assert [(body.shape, body.line) for body in hidden] == [(None, None)]
    assert [joint.name for joint in scene.joints] == ["J", "P"]
    points = np.array(scene.curves[0].points)
    assert scene.curves[0].frame.body == GROUND
    assert_allclose(np.linalg.norm(points, axis=1), 1.0, rtol=1e-9)


def test_a_path_that_goes_on_is_shown_for_a_second_beyond_its_last_break() -> None:
    """Half a metre per second along x from there; along y it rests."""
    model = fm.Model("robot")
    B = fm.Body("B", mass=1.0, inertia=(1, 1, 1))
    slides = fm.Path.quintic([0.0, 2.0], [0.0, 1.0], [0.0, 0.5]), fm.Path.quintic([0.0, 2.0], [0.0, 0.3])
    model.add(B, fm.Free("J", model.ground.at(), B.at()))
    model.add(fm.ProgrammedPoint("P", B.at(), directions="xy", path=slides))
    points = np.array(fm.compile(model).scene.curves[0].points)
    assert_allclose(points[-1], (1.5, 0.3, 0.0), atol=1e-12)


@pytest.mark.parametrize("name", MODELS)
def test_an_image_carries_the_scene_of_its_model(name: str) -> None:
    model = read_model(name, {})
    image = fm.compile(model)
    scene = fm.ModelImage(image.bytes).scene
    assert scene.to_json() == image.scene.to_json()
    assert Scene.from_json(scene.to_json()) == scene
    assert {body.name for body in scene.bodies} == {body.name for body in model.bodies}
    assert scene.gravity == pytest.approx(model.gravity)
    assert np.isfinite(scene.length)


@pytest.mark.parametrize("text", ["", "[]", '{"name":"m","bodies":[{"of":1}]}', '{"bodies":3,"name":"m"}'])
def test_a_damaged_scene_is_refused(text: str) -> None:
    image = fm.compile(read_model("pendulum", {}))
    whole = bytes(image.arrays["text"]) + text.encode() + b"\0"
    arrays = image.arrays | {
        "text": np.frombuffer(whole, np.uint8),
        "model_scene": np.array([len(image.arrays["text"])], np.int32),
    }
    with pytest.raises(fm.ModelError, match="the scene in the image of 'pendulum' is damaged"):
        _ = fm.ModelImage(pack(counted(arrays), arrays)).scene


def test_a_name_may_have_any_letter() -> None:
    model = fm.Model("m", description="</script>")
    body = fm.Body("B", mass=1.0)
    model.add(body, fm.Prismatic("J", model.ground.at(), body.at(name="tip")))
    scene = scene_of(model)
    assert [point.name for point in scene.points] == ["B.tip"]


def test_what_is_left_out_of_a_scene_is_what_the_page_takes_for_it() -> None:
    """picture.js and the images of every version read the JSON: these values, and no others, are left out."""
    at, upright = (0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0)
    place = Place(GROUND, at, upright, (), at)
    scene = Scene(
        "s",
        bodies=(BodyLook("b", Shape("box", (1.0, 2.0, 3.0), at, upright), at, (), None, ""),),
        springs=(SpringLook("k", place, place, True, False), SpringLook("d", place, place, False, True)),
        gravity=at,
        length=1.0,
    )
    assert json.loads(scene.to_json()) == {
        "name": "s",
        "bodies": [{"name": "b", "shape": {"kind": "box", "size": [1, 2, 3]}}],
        "springs": [
            {"name": "k", "P": {"body": -1}, "Q": {"body": -1}},
            {"name": "d", "P": {"body": -1}, "Q": {"body": -1}, "stiff": False, "damped": True},
        ],
    }
