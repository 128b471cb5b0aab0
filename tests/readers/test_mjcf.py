"""Robots in MJCF: what becomes of each part, and MuJoCo's own dynamics."""

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fmumbs as fm
from support.robots import DATA, with_mujoco

pytest.importorskip("mujoco", reason="mujoco is not installed: pip install 'fmumbs[mjcf]'")

SEVERAL, LOOPS = DATA / "several.xml", DATA / "loops.xml"

SAME, CLOSED = 1e-12, 1e-11
"""Of trees, relative to the sum of the terms of a row; of loops, whose positions are closed to 1e-12."""


def mjcf(folder: Path, world: str, rest: str = "", **options: object) -> fm.Model:
    path = folder / "m.xml"
    path.write_text(f'<mujoco><compiler angle="radian"/><worldbody>{world}</worldbody>{rest}</mujoco>')
    return fm.read_mjcf(path, **options)  # type: ignore[arg-type]


def rows(model: fm.Model, what: str) -> list[str]:
    assert model.reading is not None
    return [str(row) for row in model.reading.rows if row.what == what]


BALL = '<geom type="sphere" size="0.1"/>'


# Whole files -----------------------------------------------------------------------------------------------------


def test_joints_of_all_kinds_move_as_in_mujoco() -> None:
    model = fm.read_mjcf(SEVERAL)
    assert with_mujoco().compare(SEVERAL, model, states=5)[1] <= SAME
    assert {type(joint) for joint in model.joints} == {fm.Joint, fm.Revolute, fm.Prismatic, fm.Spherical, fm.Free}
    assert sum(body.mass for body in model.bodies) == pytest.approx(12.0, rel=1e-9)  # settotalmass
    assert model.gravity == (0.3, -0.2, -9.81)


def test_hard_equalities_agree_with_the_bordered_system() -> None:
    model = fm.read_mjcf(LOOPS)
    assert with_mujoco().compare(LOOPS, model, states=4)[1] <= CLOSED
    assert {joint.name for joint in model.joints if joint.cut} == {"pin", "grip"}
    assert model.couplings[0].constant == pytest.approx(0.0, abs=1e-15)  # P - 0.5 = 0.1 - 2 (W + 0.3)
    left_out = "\n".join(rows(model, "left out"))
    for what in ("joint 'curved': it is not linear", "connect 'off': it is not active", "weld 'led': one of its"):
        assert f"equality {what}" in left_out


def test_it_starts_where_the_file_does() -> None:
    """Positions are qpos0, also of several joints with references, and poses those that MuJoCo computes."""
    import mujoco

    m = mujoco.MjModel.from_xml_path(str(SEVERAL))
    data = mujoco.MjData(m)
    mujoco.mj_kinematics(m, data)
    solver = fm.Solver(fm.read_mjcf(SEVERAL))
    solver.assemble()
    assert_allclose(solver.get("cart_joint.q"), (0, 0.1, 0, 0.2))
    assert solver.get("elbow.q") == -0.4
    for name in ("cart", "arm", "hand", "reel", "ball", "held"):
        assert_allclose(solver.get(f"{name}.r"), data.body(name).xpos, atol=1e-13)
    assert_allclose(solver.get("cart.top.r"), data.site("top").xpos, atol=1e-13)
    assert_allclose(solver.get("cart.pod.r"), data.body("pod").xpos, atol=1e-13)


def test_everything_else_has_a_row() -> None:
    left_out = "\n".join(rows(fm.read_mjcf(SEVERAL), "left out"))
    for what in ("actuator 'slow'", "tendon 'cord'", "sensor 'sensor0'", "contact: 9 geoms", "lights: 1", "geoms: 1"):
        assert what in left_out
    assert "settotalmass" in "\n".join(rows(fm.read_mjcf(SEVERAL), "changed"))  # MuJoCo's warning


def test_names_lead_back_to_mujocos_joints() -> None:
    model = fm.read_mjcf(SEVERAL)
    names = model.source_names
    assert [names[f"cart_joint.q[{k}]"] for k in (1, 2, 3, 4)] == ["slide_x", "slide_y", "yaw", "pitch"]
    assert (names["elbow"], names["cart.top"], names["cart_joint_friction4"]) == ("elbow", "top", "pitch")


# Actuators -----------------------------------------------------------------------------------------------------


def test_a_position_servo_holds_its_target(tmp_path: Path) -> None:
    world = f'<body name="b"><joint name="j" axis="0 0 1" damping="1" armature="0.1"/>{BALL}</body>'
    servo = '<actuator><position name="s" joint="j" kp="40" kv="3" gear="2" ctrlrange="-1 1"/></actuator>'
    model = mjcf(tmp_path, world, servo)
    assert model.reading is not None
    control = model.reading.controls["s"]
    assert (control.input, control.unit, control.lower, control.upper) == ("j.tau", "rad", -1.0, 1.0)
    assert (control.stiffness, control.damping, control.factor) == (160.0, 12.0, 80.0)
    result = fm.simulate(model, stop=8.0, inputs=model.reading.inputs({"s": 0.6}))
    assert result["j.q"][-1] == pytest.approx(0.3, abs=1e-4)  # the actuator's length is twice the angle


def test_several_actuators_of_one_joint_add(tmp_path: Path) -> None:
    world = f'<body name="b"><joint name="j" type="slide" axis="0 0 1"/>{BALL}</body>'
    both = '<actuator><motor name="m" joint="j" gear="5"/><velocity name="v" joint="j" kv="2"/></actuator>'
    model = mjcf(tmp_path, world, both)
    assert model.reading is not None
    assert model.reading.inputs({"m": 2.0, "v": 3.0}) == {"j.f": 16.0}
    assert model["j"].damping == 2.0  # type: ignore[attr-defined]
    with pytest.raises(KeyError):
        model.reading.inputs({"x": 1.0})


@pytest.mark.parametrize(
    ("joint", "gear"), [('<joint name="j" type="ball"/>', "1 2 3"), ('<freejoint name="j"/>', "1")]
)
def test_an_actuator_of_a_ball_or_a_free_joint_is_left_out(joint: str, gear: str, tmp_path: Path) -> None:
    """Its force acts along no single coordinate."""
    motor = f'<actuator><motor name="m" joint="j" gear="{gear}"/></actuator>'
    model = mjcf(tmp_path, f'<body name="b">{joint}{BALL}</body>', motor)
    assert model.reading is not None and not model.reading.controls
    assert any("only actuators of hinges and slides" in row for row in rows(model, "left out"))


@pytest.mark.parametrize(("kind", "unit", "speed"), [("hinge", "rad", "rad/s"), ("slide", "m", "m/s")])
def test_commands_have_the_units_of_what_they_ask_for(kind: str, unit: str, speed: str, tmp_path: Path) -> None:
    """A position, a velocity; a motor's command is a number, and that of a servo whose gains differ is as well."""
    world = f'<body name="b"><joint name="j" type="{kind}" axis="0 0 1"/>{BALL}</body>'
    asked = {
        "p": ('<position name="p" joint="j" kp="40"/>', unit),
        "v": ('<velocity name="v" joint="j" kv="2"/>', speed),
        "m": ('<motor name="m" joint="j" gear="5"/>', ""),
        "s": ('<general name="s" joint="j" gainprm="3" biastype="affine" biasprm="0 -2 0"/>', ""),
        "d": ('<general name="d" joint="j" gainprm="3" biastype="affine" biasprm="0 0 -2"/>', ""),
    }
    model = mjcf(tmp_path, world, f"<actuator>{''.join(text for text, _ in asked.values())}</actuator>")
    assert model.reading is not None
    for name, (_, expected) in asked.items():
        assert model.reading.controls[name].unit == expected, name


# Structure -----------------------------------------------------------------------------------------------------


def test_bodies_without_joints_are_parts_of_the_body_that_carries_them(tmp_path: Path) -> None:
    inner = f'<body name="b" pos="1 0 0">{BALL}<body name="c" pos="0 1 0"/></body>'
    model = mjcf(tmp_path, f'<body name="a"><freejoint/>{BALL}{inner}</body>')
    assert [body.name for body in model.bodies] == ["a"]
    assert {frame.name: frame.X_BP.offset for frame in model.bodies[0].points} == {"b": (1, 0, 0), "c": (1, 1, 0)}
    assert_allclose(model.bodies[0].com, (0.5, 0, 0), atol=1e-15)


def test_elements_without_names_get_some(tmp_path: Path) -> None:
    world = f"<body><joint/>{BALL}<body name='body1'><joint/><joint type='slide'/>{BALL}</body></body>"
    model = mjcf(tmp_path, world)
    assert [body.name for body in model.bodies] == ["body1_2", "body1"]
    assert len({*model.source_names.values()}) >= 5
    fm.simulate(model, stop=0.05)


@pytest.mark.parametrize(("given", "name"), [("", "m"), (' model="crane"', "crane")])
def test_a_model_is_called_as_its_file_says_or_as_the_file(given: str, name: str, tmp_path: Path) -> None:
    body = f"<worldbody><body><joint/>{BALL}</body></worldbody>"
    (tmp_path / "m.xml").write_text(f"<mujoco{given}>{body}</mujoco>")
    assert fm.read_mjcf(tmp_path / "m.xml").name == name


def test_limits_are_data_or_stops_of_their_modes(tmp_path: Path) -> None:
    world = f"<body name='b'><joint name='x' type='slide' range='-1 2'/><joint name='y' axis='0 1 0'/>{BALL}</body>"
    model = mjcf(tmp_path, world, limits="stop", stop_stiffness=1e3)
    assert model.reading is not None
    assert model.reading.limits["b_joint.q[1]"] == fm.mechanism.Limits(-1.0, 2.0)
    (stop,) = model.laws
    assert isinstance(stop, fm.Stop)
    assert (stop.mode, stop.lower, stop.upper, stop.stiffness) == (1, -1.0, 2.0, 1e3)


def test_disabled_physics_is_left_out(tmp_path: Path) -> None:
    world = f"<body name='b'><joint name='j' stiffness='3' damping='2' frictionloss='1'/>{BALL}</body>"
    off = "<option><flag gravity='disable' spring='disable' damper='disable' frictionloss='disable'/></option>"
    model = mjcf(tmp_path, world, off)
    assert model.gravity == (0, 0, 0)
    assert not model.laws
    assert (model["j"].stiffness, model["j"].damping) == (0.0, 0.0)  # type: ignore[attr-defined]


def test_shapes_have_the_places_that_mujoco_shows(tmp_path: Path) -> None:
    world = (
        "<body name='b' pos='0 0 1'><freejoint/><geom type='box' size='0.1 0.2 0.3' pos='1 0 0' rgba='1 0 0 0.5'/>"
        "<geom type='capsule' size='0.1 0.2'/><geom type='cylinder' size='0.1 0.2'/><geom type='sphere' size='0.1'/>"
        "<geom type='ellipsoid' size='0.1 0.2 0.3'/><geom type='mesh' mesh='t'/></body>"
    )
    corners = "0 0 0 1 0 0 0 1 0 0 0 1"
    model = mjcf(tmp_path, world, f"<asset><mesh name='t' vertex='{corners}'/></asset>")
    shapes = model.bodies[0].visual
    assert [shape.file for shape in shapes] == ["box", "capsule", "cylinder", "ellipsoid", "ellipsoid", "t"]
    assert_allclose(shapes[0].in_body.vertices.max(axis=0), (1.1, 0.2, 0.3), atol=1e-12)
    assert (shapes[0].color, shapes[0].opacity) == ("#ff0000", 0.5)
    assert_allclose(np.sort(shapes[5].in_body.vertices, axis=0)[-1], (1, 1, 1), atol=1e-6)  # MuJoCo keeps 7 digits
    for shape in shapes:
        assert shape.triangles.integrals()[0] > 0.0


def test_gravity_compensation_holds_a_body(tmp_path: Path) -> None:
    model = mjcf(tmp_path, f"<body name='b' gravcomp='1'><joint name='j' type='slide' axis='0 0 1'/>{BALL}</body>")
    solver = fm.Solver(model)
    solver.assemble()
    assert solver.get("j.qdd") == pytest.approx(0.0, abs=1e-12)


# Refusals ---------------------------------------------------------------------------------------------------------


def test_what_mujoco_does_not_compile_is_refused_with_its_reason(tmp_path: Path) -> None:
    for world, reason in (
        ("<body><joint/></body>", "mass and inertia of moving bodies"),
        ("<body><geom type='mesh' mesh='x'/></body>", "mesh"),
        ("<bdy/>", "unrecognized"),
    ):
        with pytest.raises(fm.ModelError, match=f"MuJoCo does not compile it: .*{reason}.*Correct it"):
            mjcf(tmp_path, world)
    (tmp_path / "r.xml").write_text("<robot/>")
    with pytest.raises(fm.ModelError, match="has the root <robot>, not <mujoco>"):
        fm.read_mjcf(tmp_path / "r.xml")


def test_nothing_is_written_beside_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """MuJoCo's warnings go to a file in the current folder unless someone takes them."""
    monkeypatch.chdir(tmp_path)
    fm.read_mjcf(SEVERAL)
    assert not list(tmp_path.iterdir())


def test_textures_and_skins_are_not_needed(tmp_path: Path) -> None:
    asset = "<asset><texture name='t' type='2d' file='missing.png'/><material name='m' texture='t'/></asset>"
    model = mjcf(tmp_path, f"<body><freejoint/><geom size='0.1' material='m'/>{BALL}</body>", asset)
    assert len(model.bodies) == 1
