"""The tests' reader of URDF."""

import json

import pytest
from numpy.testing import assert_allclose

import fmumbs as fm
from references.urdf import Robot

CRANE = """<?xml version="1.0"?>
<robot name="1-crane">
  <link name="world"/>
  <link name="foot"><inertial><mass value="9"/></inertial></link>
  <link name="boom">
    <visual><geometry><box size="1 1 1"/></geometry></visual>
    <inertial>
      <origin xyz="0.5 0 0" rpy="0 0 1.5707963267948966"/>
      <mass value="2"/>
      <inertia ixx="0.1" ixy="0.01" ixz="0" iyy="0.2" iyz="0" izz="0.25"/>
    </inertial>
  </link>
  <link name="hook"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
  <joint name="base" type="fixed"><parent link="world"/><child link="foot"/></joint>
  <joint name="slew" type="continuous">
    <origin xyz="0 0 1" rpy="1.5707963267948966 0 0"/>
    <parent link="foot"/><child link="boom"/><axis xyz="0 1 0"/><dynamics damping="3"/>
  </joint>
  <joint name="hook" type="prismatic">
    <origin xyz="1 0 0"/><parent link="boom"/><child link="hook"/>
  </joint>
</robot>"""


def test_a_urdf_becomes_a_mechanism():
    model = Robot.parse(CRANE).model()
    assert model.name == "_1_crane"
    assert [body.name for body in model.bodies] == ["foot", "boom", "hook_link"]
    assert [type(joint) for joint in model.joints] == [fm.Weld, fm.Revolute, fm.Prismatic]
    slew, hook = model["slew"], model["hook"]
    assert slew.axis == (0, 1, 0)
    assert slew.damping == 0
    assert hook.axis == (1, 0, 0)
    assert slew.F.body.name == "foot"
    assert_allclose(slew.F.X_BP.translation, [0, 0, 1])
    assert_allclose(slew.F.X_BP.rotation @ (0, 1, 0), [0, 0, 1], atol=1e-15)


def test_an_inertial_frame_is_turned_into_the_links_axes():
    boom = Robot.parse(CRANE).model()["boom"]
    assert boom.com == (0.5, 0, 0)
    assert_allclose(boom.inertia, [[0.2, -0.01, 0], [-0.01, 0.1, 0], [0, 0, 0.25]], atol=1e-15)


def test_the_mechanism_runs_as_it_should():
    """The boom slews about the vertical, with the hook 1 m out and sliding outwards at 2 m/s."""
    solver = fm.Solver(Robot.parse(CRANE).model())
    solver.set("slew.qd", 1.0)
    solver.set("hook.qd", 2.0)
    solver.assemble()
    inertia = 0.1 + 2 * 0.5**2 + 1 + 1 * 1**2
    assert_allclose(solver.get("hook_link.v"), [2, 1, 0], atol=1e-14)
    assert solver.get("hook.qdd") == pytest.approx(1.0, rel=1e-14)
    assert solver.get("slew.qdd") == pytest.approx(-2 * 1 * 2 * 1 / inertia, rel=1e-14)


def test_moving_links_are_not_fixed_to_the_ground():
    robot = Robot.parse(CRANE)
    assert robot.root == "world"
    assert robot.moving == ("boom", "hook")


def test_a_robot_survives_json():
    robot = Robot.parse(CRANE)
    assert Robot.load(json.loads(json.dumps(robot.save()))) == robot


def test_a_joint_of_another_kind_is_refused():
    with pytest.raises(ValueError, match="'slew' is floating; only these are read: revolute"):
        Robot.parse(CRANE.replace("continuous", "floating"))
