"""Robots in URDF: what becomes of each part, and the same robot written in Python."""

import math
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fmumbs as fm
from fmumbs.readers import READERS, NoSuchModel, build_parameters, read_model
from support.robots import DATA, with_mujoco

ROUND_OFF = 1e-13
"""Of some dozens of products, relative."""

ARM = DATA / "gripper_arm.urdf"
WALKER = DATA / "walker.urdf"
MASS = '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'


def robot(folder: Path, text: str, name: str = "r", **options: object) -> fm.Model:
    """The model of a <robot> with these children."""
    path = folder / "r.urdf"
    path.write_text(f'<robot name="{name}">{text}</robot>')
    return fm.read_urdf(path, **options)  # type: ignore[arg-type]


def link(name: str, inside: str = MASS) -> str:
    return f'<link name="{name}">{inside}</link>'


def joint(name: str, kind: str, parent: str, child: str, inside: str = "") -> str:
    return f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>{inside}</joint>'


def rows(model: fm.Model, what: str) -> list[str]:
    assert model.reading is not None
    return [str(row) for row in model.reading.rows if row.what == what]


# The whole arm ---------------------------------------------------------------------------------------------------


def arm_in_python() -> fm.Model:
    """gripper_arm.urdf, by hand."""
    model = fm.Model("gripper_arm")

    def turned(roll: float, pitch: float, yaw: float) -> fm.Rotation:
        z, y, x = (fm.Rotation.about(axis, angle) for axis, angle in (("z", yaw), ("y", pitch), ("x", roll)))
        return z @ y @ x

    base = fm.Body("base", mass=4, com=(0, 0, 0.05), inertia=(0.02, 0.02, 0.03))
    R = turned(0.3, -0.2, 0.5).matrix
    J = np.array([[0.05, 0.002, -0.001], [0.002, 0.045, 0.003], [-0.001, 0.003, 0.01]])
    upper = fm.Body("upper", mass=2.5, com=(0.01, -0.02, 0.2), inertia=R @ J @ R.T)
    lower = fm.Body("lower", mass=1.2, com=(0, 0, 0.15), inertia=(0.012, 0.012, 0.002))
    S = turned(0, 0, 0.7).matrix
    K = np.array([[0.0004, 0.0001, 0], [0.0001, 0.0005, 0], [0, 0, 0.0003]])
    palm = fm.Body("palm", mass=0.4, com=(0, 0, 0.03), inertia=S @ K @ S.T)
    left = fm.Body("left", mass=0.06, com=(0, 0.01, 0.02), inertia=(2e-5, 2e-5, 5e-6))
    right = fm.Body("right", mass=0.06, com=(0, -0.01, 0.02), inertia=(2e-5, 2e-5, 5e-6))
    shoulder = fm.Revolute("shoulder", base.at(0, 0, 0.1, rotation=turned(1.57, 0, 0)), upper.at(), damping=0.7)
    elbow = fm.Revolute(
        "elbow", upper.at(0, 0, 0.4, rotation=turned(0.1, 0.2, -0.3)), lower.at(), axis=(0.6, 0, 0.8), damping=0.2
    )
    finger = fm.Prismatic("finger", palm.at(0, 0.02, 0.06), left.at(), axis="y")
    other = fm.Prismatic("other", palm.at(0, -0.02, 0.06), right.at(), axis="-y")
    model.add(
        base, upper, lower, palm, left, right, fm.Weld("foot", model.ground.at(), base.at()), shoulder, elbow,
        fm.Weld("wrist", lower.at(0, 0.02, 0.3, rotation=turned(0.4, 0, 1.1)), palm.at()), finger, other,
        fm.Law.brake("friction", shoulder, 0.4), fm.Coupling("mimic", [(other, 1.0), (finger, -0.8)], offset=0.005),
    )  # fmt: skip
    return model


NAMES = {"shoulder": "_1_shoulder", "elbow": "lower", "finger": "finger", "other": "finger_mimic"}


@pytest.mark.parametrize("state", range(4))
def test_an_arm_moves_as_the_same_arm_in_python(state: int) -> None:
    generator = np.random.default_rng(state)
    read, written = fm.Solver(fm.read_urdf(ARM)), fm.Solver(arm_in_python())
    for name, q, qd, tau in zip(NAMES, *generator.uniform(-0.5, 0.5, (3, 4)), strict=True):
        if name == "other":
            continue
        for solver, own in ((read, NAMES[name]), (written, name)):
            solver.set(f"{own}.q", q)
            solver.set(f"{own}.qd", qd)
            solver.set(f"{own}.{'f' if name == 'finger' else 'tau'}", tau)
    read.assemble()
    written.assemble()
    for ours, other in NAMES.items():
        assert read.get(f"{other}.qdd") == pytest.approx(written.get(f"{ours}.qdd"), rel=1e-11, abs=1e-11), ours
    assert_allclose(read.get("lower_link.palm.r"), written.get("palm.r"), atol=ROUND_OFF)


def test_each_part_of_the_arm_has_its_row_with_its_line() -> None:
    model = fm.read_urdf(ARM)
    report = model.reading
    assert report is not None
    lines = ARM.read_text().splitlines()
    for row in report.rows:
        tag, _, name = row.element.removesuffix(", <collision>").removesuffix(", <mesh>").partition(" ")
        assert row.line is not None
        near = "\n".join(lines[row.line - 1 : row.line + 2])
        assert name.strip("'") in near or f"<{tag}" in near or "<mesh" in near or "<coll" in near or "=" in near, row
    told = {row.element for row in report.rows}
    for name in ("world", "base", "1-upper", "lower", "palm", "tool0", "left", "right"):
        assert f"link '{name}'" in told
    assert rows(model, "changed") == [
        "changed: line 43, joint '1-shoulder': its axis has the length 2 and is scaled to 1",
        "changed: line 42, joint '1-shoulder': rpy='1.57,' is completed by zeros",
    ]
    left_out = "\n".join(rows(model, "left out"))
    for part in ("<transmission> 'drive'", "<gazebo> 'lower'", "'1-upper', <collision>", "no file 'package://gripper"):
        assert part in left_out
    assert str(report).startswith(f"{ARM}: 17 taken, 2 changed, 4 left out\nchanged: line 43")


def test_names_are_legal_and_lead_back() -> None:
    model = fm.read_urdf(ARM)
    assert model.name == "gripper_arm"
    assert [body.name for body in model.bodies] == ["base", "_1_upper", "lower_link", "left", "right"]
    assert [one.name for one in model.joints] == ["base_base", "_1_shoulder", "lower", "finger", "finger_mimic"]
    names = model.source_names
    asked = ("gripper_arm", "_1_upper", "lower", "lower_link")
    assert [names[one] for one in asked] == ["gripper-arm", "1-upper", "lower", "lower"]
    assert (names["_1_shoulder"], names["lower_link.tool0"]) == ("1-shoulder", "tool0")


def test_links_on_fixed_joints_are_named_points_of_one_body() -> None:
    lower = fm.read_urdf(ARM)["lower_link"]
    assert isinstance(lower, fm.Body)
    assert [frame.name for frame in lower.points] == ["palm", "tool0"]
    assert lower.mass == pytest.approx(1.6, rel=ROUND_OFF)
    turn = fm.Rotation.about("z", 1.1) @ fm.Rotation.about("x", 0.4)
    palm = np.array([0, 0.02, 0.3])
    assert_allclose(lower.point("palm").X_BP.translation, palm, atol=ROUND_OFF)
    assert_allclose(lower.point("tool0").X_BP.translation, palm + turn @ (0, 0, 0.1), atol=ROUND_OFF)
    centre = (1.2 * np.array([0, 0, 0.15]) + 0.4 * (palm + turn @ (0, 0, 0.03))) / 1.6
    assert_allclose(lower.com, centre, atol=ROUND_OFF)


def test_limits_are_data_or_stops() -> None:
    model = fm.read_urdf(ARM)
    assert model.reading is not None
    limits = model.reading.limits
    assert limits["_1_shoulder.q"] == fm.mechanism.Limits(-2.0, 2.0, 80.0, 3.0)
    assert not any(isinstance(law, fm.Stop) for law in model.laws)
    stopped = fm.read_urdf(ARM, limits="stop", stop_stiffness=2e4)
    stops = {law.on.name: law for law in stopped.laws if isinstance(law, fm.Stop)}
    assert set(stops) == {"_1_shoulder", "finger"}
    assert (stops["finger"].lower, stops["finger"].upper, stops["finger"].stiffness) == (0.0, 0.04, 2e4)
    for wrong in ({"limits": "stop"}, {"limits": "stop", "stop_stiffness": -1.0}, {"limits": "none"}, {"base": "air"}):
        with pytest.raises(fm.ModelError, match=r"(limits|base) is '"):
            fm.read_urdf(ARM, **wrong)  # type: ignore[arg-type]


def test_shapes_of_the_view_have_their_places_and_colours() -> None:
    model = fm.read_urdf(ARM)
    base, upper, lower = (model[name] for name in ("base", "_1_upper", "lower_link"))
    assert isinstance(base, fm.Body) and isinstance(upper, fm.Body) and isinstance(lower, fm.Body)
    assert (base.visual[0].file, base.visual[0].color) == ("cylinder", "#808c99")
    assert_allclose(upper.visual[0].in_body.vertices.max(axis=0), (0.04, 0.03, 0.4), atol=ROUND_OFF)
    assert_allclose(lower.visual[0].in_body.vertices.mean(axis=0), (0, 0.02, 0.3), atol=1e-12)
    assert "lower_link" in str(model.view(stop=0.0).html)


# Bases -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("base", ["fixed", "free"])
def test_total_mass_and_common_centre(base: str) -> None:
    """Of the sums that the file's links give, in its zero position."""
    model = fm.read_urdf(WALKER, base)  # type: ignore[arg-type]
    masses = np.array([8.0, 2.0, 2.0, 0.5])
    tilt = fm.Rotation.about("y", 0.1)
    hip = np.array([0, -0.1, 0])
    ankle = hip + tilt @ (0, 0, -0.4)
    centres = [(0.02, 0, 0.1), (0, 0.1, -0.2), hip + tilt @ (0, 0, -0.2), ankle + tilt @ (0.05, 0, 0)]
    solver = fm.Solver(model)
    solver.assemble()
    found = np.zeros(3)
    for body in model.bodies:
        R = fm.Rotation.quaternion(*solver.get(f"{body.name}.quat"))
        found += body.mass * (solver.get(f"{body.name}.r") + R @ body.com)
    assert sum(body.mass for body in model.bodies) == pytest.approx(masses.sum(), rel=ROUND_OFF)
    assert_allclose(found / masses.sum(), masses @ np.array(centres) / masses.sum(), atol=ROUND_OFF)


def test_a_free_robot_falls_and_a_fixed_one_weighs_on_its_base() -> None:
    free = fm.Solver(fm.read_urdf(WALKER, "free"))
    free.assemble()
    assert_allclose(free.get("trunk_base.a"), (0, 0, -9.81), atol=1e-12)
    assert free.get("left_hip.qdd") == pytest.approx(0.0, abs=1e-12)
    held = fm.Solver(fm.read_urdf(WALKER))
    held.assemble()
    assert held.get("trunk_base.reaction.f")[2] > 8.0 * 9.81


def test_a_robot_that_is_one_link(tmp_path: Path) -> None:
    free = robot(tmp_path, link("brick"), base="free")
    assert [type(one) for one in free.joints] == [fm.Free]
    fixed = robot(tmp_path, link("brick"))
    assert [type(one) for one in fixed.joints] == [fm.Weld]
    solver = fm.Solver(fixed)
    solver.assemble()
    assert solver.get("brick_base.reaction.f")[2] == pytest.approx(9.81, rel=1e-12)
    with pytest.raises(fm.ModelError, match=r"'ghost' moves freely, but nothing has mass"):
        robot(tmp_path, link("ghost", ""), base="free")


# Joints --------------------------------------------------------------------------------------------------------


def test_floating_planar_and_spherical_joints(tmp_path: Path) -> None:
    text = link("world", "") + link("a") + link("b") + link("c") + joint("float", "floating", "world", "a")
    text += joint("plane", "planar", "a", "b", '<axis xyz="0 0 3"/><dynamics damping="0.5"/>')
    text += joint("ball", "spherical", "b", "c", '<origin xyz="0 0 1"/><limit lower="0" upper="1"/>')
    model = robot(tmp_path, text)
    assert [type(one) for one in model.joints] == [fm.Free, fm.Planar, fm.Spherical]
    plane = model["plane"]
    assert isinstance(plane, fm.Planar)
    assert (plane.normal, plane.damping) == ((0.0, 0.0, 1.0), (0.5, 0.5, 0.5))
    assert any("scaled to 1" in row for row in rows(model, "changed"))
    assert any("'ball', <limit>" in row for row in rows(model, "left out"))
    fm.simulate(model, stop=0.1)


def test_a_missing_axis_is_x_and_a_zero_one_is_refused(tmp_path: Path) -> None:
    model = robot(tmp_path, link("a") + link("b") + joint("j", "revolute", "a", "b"))
    assert model["j"].axis == (1.0, 0.0, 0.0)  # type: ignore[attr-defined]
    with pytest.raises(fm.ModelError, match=r"line 1: joint 'j' has a zero axis"):
        robot(tmp_path, link("a") + link("b") + joint("j", "revolute", "a", "b", '<axis xyz="0 0 0"/>'))
    robot(tmp_path, link("a") + link("b") + joint("j", "fixed", "a", "b", '<axis xyz="0 0 0"/>'))


def three(mimic: str) -> str:
    text = link("a") + link("b") + link("c") + link("d") + joint("one", "revolute", "a", "b")
    return text + joint("two", "revolute", "b", "c", mimic) + joint("still", "fixed", "a", "d")


def test_a_mimic_joint_follows(tmp_path: Path) -> None:
    model = robot(tmp_path, three('<mimic joint="one" multiplier="-2" offset="0.3"/>'))
    result = fm.simulate(model, stop=0.3, inputs={"one.tau": 2.0})
    assert np.ptp(result["one.q"]) > 0.01
    assert_allclose(result["two.q"], -2.0 * result["one.q"] + 0.3, atol=1e-9)


def test_a_mimic_joint_of_a_fixed_one_or_without_a_multiplier_stands(tmp_path: Path) -> None:
    for mimic in ('<mimic joint="still" offset="0.2"/>', '<mimic joint="one" multiplier="0" offset="0.2"/>'):
        result = fm.simulate(robot(tmp_path, three(mimic)), stop=0.1)
        assert_allclose(result["two.q"], 0.2, atol=1e-9)


def test_a_mimic_joint_of_nothing_moves_freely_and_is_told(tmp_path: Path) -> None:
    for source in ("nobody", "two"):
        model = robot(tmp_path, three(f'<mimic joint="{source}"/>'))
        assert not model.couplings
        assert any(f"mimics '{source}', which is not another joint" in row for row in rows(model, "left out"))


# Inertias --------------------------------------------------------------------------------------------------------


def inertial(xx: float, yy: float, zz: float, xy: float = 0.0, mass: float = 1.0) -> str:
    inertia = f'<inertia ixx="{xx}" ixy="{xy}" ixz="0" iyy="{yy}" iyz="0" izz="{zz}"/>'
    return f'<inertial><mass value="{mass}"/>{inertia}</inertial>'


def test_an_inertia_that_no_solid_has_is_taken_as_measured(tmp_path: Path) -> None:
    model = robot(tmp_path, link("a") + link("b", inertial(1.0, 1.0, 3.0)) + joint("j", "revolute", "a", "b"))
    assert model["b"].measured  # type: ignore[attr-defined]
    (row,) = rows(model, "changed")
    assert "link 'b': its inertia is taken as measured, as no solid has it: it has the principal moments 1, 1, 3" in row


def test_negative_moments_are_refused_unless_the_whole_body_has_none(tmp_path: Path) -> None:
    bad = link("a") + link("b", inertial(1.0, 1.0, 1.0, xy=2.0))
    with pytest.raises(fm.ModelError, match=r"line 1: Body 'b': inertia is refused.*negative"):
        robot(tmp_path, bad + joint("j", "revolute", "a", "b"))
    heavy = link("a", inertial(9.0, 9.0, 9.0)) + link("b", inertial(1.0, 1.0, 1.0, xy=2.0))
    model = robot(tmp_path, heavy + joint("j", "fixed", "a", "b"))
    assert model["a"].inertia[0][:2] == (10.0, 2.0)  # type: ignore[attr-defined]
    assert any("link 'b': its inertia is taken as measured" in row for row in rows(model, "changed"))


def test_entries_that_are_missing_are_zero_and_told(tmp_path: Path) -> None:
    inertia = '<inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'
    model = robot(tmp_path, link("a", inertia))
    assert any("ixy, ixz, iyz of its inertia are missing" in row for row in rows(model, "changed"))
    assert model["a"].mass == 2.0  # type: ignore[attr-defined]


def test_a_moving_link_without_inertia_is_refused_by_name_or_fixed(tmp_path: Path) -> None:
    carried = link("a") + link("b", "") + link("c") + joint("j", "revolute", "a", "b")
    carried += joint("k", "prismatic", "b", "c")
    assert [type(one) for one in robot(tmp_path, carried).joints] == [fm.Weld, fm.Revolute, fm.Prismatic]
    text = carried + link("tip", "") + joint("end", "revolute", "c", "tip", '<origin xyz="0 0 1"/>')
    with pytest.raises(fm.ModelError, match=r"line 1: link 'tip' moves by joint 'end'.*has mass\. .*massless='fix'"):
        robot(tmp_path, text)
    model = robot(tmp_path, text, massless="fix")
    assert "end" not in model
    assert model["c"].points[0].name == "tip"  # type: ignore[attr-defined]
    assert any("link 'tip' moves by joint 'end'" in row.replace(": moves", " moves") for row in rows(model, "changed"))
    point = link("a") + link("b", '<inertial><mass value="1"/></inertial>') + joint("j", "revolute", "a", "b")
    with pytest.raises(fm.ModelError, match=r"'b' moves by joint 'j'.*has inertia about its axis"):
        robot(tmp_path, point)


# Names and structure -----------------------------------------------------------------------------------------------


def test_names_of_all_kinds_become_legal_and_unique(tmp_path: Path) -> None:
    names = ["a/b", "a.b", "a-b", "a b", "a_b2", "1", "größe", "", "r", "solver", "x" * 300, "日本"]
    text = link("ground") + "".join(link(name) for name in names)
    text += "".join(joint(name, "revolute", "ground", name) for name in names)
    model = robot(tmp_path, text, name="time")
    assert set(names) <= set(model.source_names.values())
    assert model.source_names[model.name] == "time"
    fm.compile(model)
    fixed = link("root") + "".join(link(name) for name in names)
    fixed += "".join(joint(f"j{i}", "fixed", "root", name) for i, name in enumerate(names))
    body = robot(tmp_path, fixed)["root"]
    assert isinstance(body, fm.Body)
    assert len({frame.name for frame in body.points}) == len(names)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "has no link"),
        (link("a") + link("a"), "link 'a' has the name of another link"),
        (link("a") + link("b"), "2 links that no joint carries, 'a', 'b'"),
        (link("a") + joint("j", "fixed", "a", "b"), "joint 'j' has the child 'b', but there is no such link"),
        (link("a") + joint("j", "fixed", "b", "a"), "joint 'j' has the parent 'b'"),
        (link("a") + link("b") + joint("j", "fixed", "a", "b") + joint("k", "fixed", "b", "a"), "that form a loop"),
        (
            link("a") + link("b") + joint("j", "fixed", "a", "b") + joint("k", "revolute", "a", "b"),
            "joint 'k' carries link 'b', which joint 'j' carries, too",
        ),
        (
            link("a") + link("b") + link("c") + joint("j", "fixed", "b", "c") + joint("k", "fixed", "c", "b"),
            "joints that form a loop",
        ),
        (link("a") + link("b") + joint("j", "hinge", "a", "b"), "is of the type 'hinge'. Give one of revolute"),
        (link("a") + '<joint name="j" type="fixed"><parent link="a"/></joint>', "has no <child link=...>"),
        ("<link/>", "<link> has no name"),
        (link("a") + link("b") + 2 * joint("j", "fixed", "a", "b"), "joint 'j' has the name of another joint"),
        (link("a", '<inertial><mass value="-1"/></inertial>'), "has the mass -1, below zero"),
        (link("a", '<inertial><mass value="nan"/></inertial>'), "'nan', which has a number that is not finite"),
        (link("a", '<inertial><mass value="two"/></inertial>'), "has value='two', which 'two' is not a number"),
        (link("a", '<inertial><mass value="1e999"/></inertial>'), "beyond the largest number"),
        (
            link("a") + link("b") + joint("j", "revolute", "a", "b", '<dynamics damping="-1"/>'),
            "negative damping or friction",
        ),
    ],
)
def test_what_is_refused_is_named(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(fm.ModelError, match=r"r\.urdf'.*") as caught:
        robot(tmp_path, text)
    assert message in str(caught.value)


def test_traps_of_the_text_are_read_and_told(tmp_path: Path) -> None:
    """Undeclared prefixes, versions that are none, text before the declaration, numbers with an end of their own."""
    path = tmp_path / "r.urdf"
    text = link("a") + link("b") + joint("j", "revolute", "a", "b", '<origin rpy="1.57, 0,0" xyz="0 0 1.f"/>')
    path.write_text(f'\n<?xml version="0.0"?><robot name="r"><xacro:include file="x"/>{text}</robot>')
    model = fm.read_urdf(path)
    assert_allclose(model["j"].F.X_BP.offset, (0, 0, 1))  # type: ignore[attr-defined]
    assert any("is read as 1" in row for row in rows(model, "changed"))
    assert any("<include>" in row for row in rows(model, "left out"))
    path.write_text(f'<robot xmlns="http://example.org/urdf" name="r">{text}</robot>')
    assert fm.read_urdf(path).joints[1].name == "j"
    path.write_bytes(f'\ufeff<robot name="größe">{text}</robot>'.encode("utf-16"))
    assert fm.read_urdf(path).name == "gr__e"


def test_a_link_world_need_not_be_defined(tmp_path: Path) -> None:
    model = robot(tmp_path, link("a") + joint("weld", "fixed", "world", "a"))
    assert [body.name for body in model.bodies] == ["a"]


# Against other engines ------------------------------------------------------------------------------------------


def test_the_walker_in_mujoco() -> None:
    pytest.importorskip("mujoco", reason="mujoco is not installed: pip install 'fmumbs[mjcf]'")
    assert with_mujoco().compare(WALKER, fm.read_urdf(WALKER))[1] <= 1e-12


# Files beside it --------------------------------------------------------------------------------------------------


def stl(path: Path, size: float = 1000.0) -> None:
    """A tetrahedron."""
    path.parent.mkdir(parents=True, exist_ok=True)
    corners = ((0, 0, 0), (size, 0, 0), (0, size, 0), (0, 0, size))
    faces = ((0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3))
    lines = ["solid t"]
    for face in faces:
        lines += ["facet normal 0 0 0", "outer loop"]
        lines += [f"vertex {x} {y} {z}" for x, y, z in (corners[k] for k in face)]
        lines += ["endloop", "endfacet"]
    path.write_text("\n".join([*lines, "endsolid t"]))


def with_mesh(folder: Path, name: str, scale: str = "0.001 0.001 0.001", **options: object) -> fm.Model:
    folder.mkdir(parents=True, exist_ok=True)
    visual = f'<visual><origin xyz="0 0 1"/><geometry><mesh filename="{name}" scale="{scale}"/></geometry></visual>'
    return robot(folder, link("a", MASS + visual), **options)


def drawn(model: fm.Model) -> list[fm.Mesh]:
    return [mesh for body in model.bodies for mesh in body.visual]


def test_meshes_are_found_in_packages_and_beside_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("trimesh", reason="trimesh is not installed: pip install 'fmumbs[mesh]'")
    package, urdf = tmp_path / "bot_description", tmp_path / "bot_description" / "urdf"
    stl(package / "meshes" / "part.stl")
    for name in ("package://bot_description/meshes/part.stl", "../meshes/part.stl", f"file://{package}/meshes/part.stl",
                 f"{package}/meshes/part.stl", "model://bot_description/meshes/part.stl"):  # fmt: skip
        (mesh,) = drawn(with_mesh(urdf, name))
        assert_allclose(mesh.in_body.vertices.max(axis=0), (1, 1, 2), atol=1e-12)
    other = tmp_path / "elsewhere" / "ws" / "src" / "deep" / "urdf"
    assert not drawn(with_mesh(other, "package://bot/meshes/part.stl"))
    assert drawn(with_mesh(other, "package://bot/meshes/part.stl", packages={"bot": package}))
    monkeypatch.setenv("ROS_PACKAGE_PATH", str(tmp_path))
    assert drawn(with_mesh(other, "package://bot_description/meshes/part.stl"))
    assert not drawn(with_mesh(other, "package://bot_description/meshes/part.stl", meshes=False))
    with pytest.raises(fm.ModelError, match="packages: 'bot' is at"):
        with_mesh(other, "x.stl", packages={"bot": tmp_path / "nothing"})


def test_a_mirrored_mesh_keeps_its_outer_side(tmp_path: Path) -> None:
    pytest.importorskip("trimesh", reason="trimesh is not installed: pip install 'fmumbs[mesh]'")
    stl(tmp_path / "urdf" / "part.stl", 1.0)
    (mesh,) = drawn(with_mesh(tmp_path / "urdf", "part.stl", "1 -2 3"))
    assert mesh.triangles.integrals()[0] == pytest.approx(1.0, rel=1e-6)
    assert mesh.triangles.vertices[:, 1].min() == pytest.approx(-2.0, rel=1e-6)


COLLADA = """<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset><unit meter="0.01"/><up_axis>Z_UP</up_axis></asset>
<library_geometries><geometry id="g"><mesh>
<source id="p"><float_array id="a" count="9">0 0 0 50 0 0 0 50 0</float_array><technique_common>
<accessor source="#a" count="3" stride="3"><param name="X" type="float"/><param name="Y" type="float"/>
<param name="Z" type="float"/></accessor></technique_common></source>
<vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
<triangles count="1"><input semantic="VERTEX" source="#v" offset="0"/><p>0 1 2</p></triangles></mesh></geometry>
</library_geometries><library_visual_scenes><visual_scene id="s"><node><instance_geometry url="#g"/></node>
</visual_scene></library_visual_scenes><scene><instance_visual_scene url="#s"/></scene></COLLADA>"""


def test_a_collada_mesh_has_its_own_unit(tmp_path: Path) -> None:
    pytest.importorskip("collada", reason="pycollada is not installed: pip install 'fmumbs[mesh]'")
    (tmp_path / "part.dae").write_text(COLLADA)
    (mesh,) = drawn(with_mesh(tmp_path, "part.dae", "1 1 2"))
    assert_allclose(mesh.in_body.vertices.max(axis=0), (0.5, 0.5, 1.0), atol=1e-6)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("nothing.stl", "there is no file 'nothing.stl' here; name the folder of its package"),
        ("http://example.org/part.stl", "is not a file on this machine, and nothing is fetched"),
        ("part.exe", "is not one of .stl"),
        ("", "is not one of .stl"),
    ],
)
def test_a_mesh_that_is_missing_is_a_row(name: str, reason: str, tmp_path: Path) -> None:
    model = with_mesh(tmp_path / "urdf", name)
    assert not drawn(model)
    assert any(reason in row for row in rows(model, "left out"))


# By its suffix --------------------------------------------------------------------------------------------------


def test_commands_read_it_with_the_readers_parameters() -> None:
    assert {".urdf", ".xacro", ".xml", ".mjcf"} <= set(READERS)
    model = read_model(str(WALKER), {"base": "free", "limits": "stop", "stop_stiffness": 1e3})
    assert isinstance(model.joints[0], fm.Free)
    assert len(model.laws) == 3
    assert build_parameters(str(WALKER))[0][:2] == ["base", "packages"]
    with pytest.raises(NoSuchModel, match=r"without a parameter 'bases'\. The nearest name is 'base'"):
        read_model(str(WALKER), {"bases": "free"})
    with pytest.raises(fm.ModelError, match="arguments are for xacro"):
        fm.read_urdf(WALKER, arguments={"mass": 1})


def test_an_xml_file_is_what_its_root_says(tmp_path: Path) -> None:
    path = tmp_path / "walker.xml"
    path.write_bytes(WALKER.read_bytes())
    assert read_model(str(path)).name == "walker"
    path.write_text("<html/>")
    with pytest.raises(fm.ModelError, match="has the root <html>, neither <robot> nor <mujoco>"):
        read_model(str(path))
    with pytest.raises(fm.ModelError, match="has the root <html>, not <robot>"):
        fm.read_urdf(path)


def test_angles_of_the_file_are_not_asked_about(tmp_path: Path) -> None:
    """A warning that 6.5 rad may be degrees would be for who wrote the file."""
    model = robot(tmp_path, link("a") + link("b") + joint("j", "revolute", "a", "b", '<origin rpy="10 0 0"/>'))
    assert model["j"].F.X_BP.rotation.matrix[1, 1] == pytest.approx(math.cos(10.0))  # type: ignore[attr-defined]
