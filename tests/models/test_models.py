"""The mechanisms that ship, before anything moves."""

import ast
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fmumbs as fm
from support.scripts import load

MODELS = Path(__file__).parents[2] / "models"
NAMES = sorted(path.stem for path in MODELS.glob("*.py"))


def placed(model: fm.Model) -> dict[str, fm.Transform]:
    """Pose of every body at the start of a tree whose joints were added from the root to the tips."""
    X_W = {"ground": fm.Transform.identity()}
    for joint in model.joints:
        X_WF = X_W[joint.F.body.name] @ joint.F.X_BP
        X_W[joint.M.body.name] = X_WF @ fm.Transform(turned(joint)) @ joint.M.X_BP.inverse()
    return X_W


def turned(joint: fm.Joint) -> fm.Rotation:
    if isinstance(joint, fm.Revolute):
        return fm.Rotation.about(joint.axis, joint.q0)
    return fm.Rotation.quaternion(*joint.start_positions)


def along(X_W: dict[str, fm.Transform], name: str) -> np.ndarray:
    return X_W[name].rotation @ (1, 0, 0)


def position(X_W: dict[str, fm.Transform], point: fm.Point) -> np.ndarray:
    return X_W[point.body.name] @ point.X_BP.offset


def test_the_expected_mechanisms_ship():
    expected = {"arm6", "branch_chain", "branch_pendulum", "double_pendulum", "heavy_top", "pendulum"}
    assert expected <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_mechanism_builds_and_has_a_description(name):
    module = load(MODELS / f"{name}.py")
    assert "SI units" in module.__doc__.splitlines()[0]
    model = module.build()
    assert model.name == name
    assert model.description
    assert model.default_experiment.stop > model.default_experiment.interval > 0
    model.check_ends()


@pytest.mark.parametrize("name", NAMES)
def test_a_mechanism_runs_and_exports_itself_as_a_script(name):
    last = ast.unparse(ast.parse((MODELS / f"{name}.py").read_text()).body[-1])
    assert last.startswith("if __name__ == '__main__':")
    assert "fm.simulate(build()" in last
    assert f"fm.export_fmu(build(), 'fmus/{name}.fmu')" in last


def test_the_arm_has_its_axes_in_turn():
    model = load(MODELS / "arm6.py").build()
    assert_allclose([joint.axis for joint in model.joints], np.tile(np.eye(3), (2, 1)))
    assert len(load(MODELS / "arm6.py").build(joints=10).joints) == 10


def test_the_heavy_top_is_the_benchmarks():
    (top,) = load(MODELS / "heavy_top.py").build().bodies
    assert (top.mass, top.com) == (15.0, (0.0, 1.0, 0.0))
    assert_allclose(top.inertia, np.diag([0.234375, 0.46875, 0.234375]))


def test_the_branch_pendulum_hangs_as_in_the_paper():
    model = load(MODELS / "branch_pendulum.py").build()
    X_W = placed(model)
    rod1, rod3, rod5, rod7 = model.bodies
    assert [body.name for body in model.bodies] == ["rod1", "rod3", "rod5", "rod7"]
    assert_allclose(along(X_W, "rod7"), (1, 0, 0), atol=1e-15)
    for rod in (rod1, rod3, rod5):
        assert_allclose(along(X_W, rod.name), (0, -1, 0), atol=1e-15)
    assert_allclose(position(X_W, rod7.at(*rod7.com)), (0, 0, 0), atol=1e-15)
    assert_allclose(position(X_W, rod1.tip), (-0.5, -1, 0), atol=1e-15)
    assert_allclose(position(X_W, rod5.tip), (0.5, -1, 0), atol=1e-15)
    assert_allclose(position(X_W, rod3.tip), (0.5, -2, 0), atol=1e-15)
    assert_allclose(rod3.spatial_inertia.about_origin()[2, 2], 1 / 3)
    assert model.gravity == (0, -9.81, 0)
    assert all(joint.start_velocities == (0,) for joint in model.joints)


@pytest.mark.parametrize(("bodies", "left", "right"), [(7, 2, 3), (4, 1, 1), (500, 2, 3), (20, 6, 6)])
def test_the_branch_chain_hangs_as_in_the_paper(bodies, left, right):
    model = load(MODELS / "branch_chain.py").build(bodies=bodies, left=left, right=right)
    X_W = placed(model)
    names = [f"rod{2 * i + 1}" for i in range(bodies)]
    assert {body.name for body in model.bodies} == set(names)
    joining, upper = names[left + right], bodies - left - right - 1
    for name in names:
        expected = (1, 0, 0) if name == joining else (0, -1, 0)
        assert_allclose(along(X_W, name), expected, atol=1e-12)
    assert_allclose(position(X_W, model["rod1"].tip), (-0.5, -upper - left, 0), atol=1e-9)
    assert_allclose(position(X_W, model[names[left]].tip), (0.5, -upper - right, 0), atol=1e-9)
    assert_allclose(position(X_W, model[names[-1]].base), (0, 0, 0), atol=1e-15)
    assert all(isinstance(joint, fm.Spherical) for joint in model.joints)
    assert_allclose(np.diag(model["rod1"].inertia), (0.00125, 0.0839583333333333, 0.0839583333333333))


def test_a_branch_chain_without_an_upper_chain_is_refused():
    with pytest.raises(fm.ModelError, match="Give at least 7 bodies"):
        load(MODELS / "branch_chain.py").build(bodies=6)
