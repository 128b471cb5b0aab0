"""Surfaces of flexible bodies in pictures and pages: where they are, their colours, and single modes in motion."""

import json
import shutil
import subprocess
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fmumbs as fm
from fmumbs.compiler import compile
from fmumbs.finite_elements.skin import Skin
from fmumbs.scene.skins import skin_look
from fmumbs.view import poses
from fmumbs.view.skins import SCALE, bands, largest, unpacked
from fmumbs.view.solids import solids
from fmumbs.view.still import start_poses
from fmumbs.view.viewpoint import viewpoint
from support import meshes
from support.commands import fmumbs

PAGE = Path(__file__).parents[2] / "fmumbs" / "view" / "page"
SIDES = (0.4, 0.03, 0.02)
WORDS = 2e-5  # of numbers of 16 bits, relative to the largest


def rod(cells: Any = (5, 2, 1), skin: bool = True, **changes: Any) -> tuple[fm.ModalBody, Any]:
    """With its mesh; straight along x, bent at the start."""
    mesh = meshes.block(cells, SIDES, np.random.default_rng(2), E=2e8)
    nodes = mesh.nodes
    options = {"modes": 3, "damping": 0.01, "frame": "base", "q0": 0.02 * np.eye(9)[0]} | changes
    made = fm.ModalBody.from_solid(
        "rod", nodes=nodes, tetrahedra=mesh.cells, E=2e8, nu=0.3, density=7850.0, skin=skin,
        interfaces={"base": mesh.ends[0], "tip": mesh.ends[1]}, **options,
    )  # fmt: skip
    return made, mesh


def model(body: fm.ModalBody) -> fm.Model:
    made = fm.Model("m", gravity=(0.0, 0.0, -9.81))
    made.add(body, fm.Revolute("J", made.ground.at(), body.point("base"), axis="y", q0=0.4))
    return made


def test_the_scene_has_the_surface_with_its_shapes() -> None:
    body, _ = rod()
    assert body.skin is not None
    look = compile(model(body)).scene.bodies[0].skin
    assert look is not None and compile(model(body)).scene.bodies[0].line is None
    found = unpacked(look)
    assert_allclose(found.corners, body.skin.corners, atol=WORDS * SIDES[0])
    assert (found.faces == body.skin.faces).all()
    assert_allclose(found.shapes, body.skin.shapes, atol=WORDS)


def test_corners_of_an_interface_move_with_its_frame() -> None:
    body, _ = rod()
    image = compile(model(body))
    at, _ = start_poses(image)
    look = image.scene.bodies[0].skin
    assert look is not None
    found = unpacked(look)
    moved = found.corners + found.moves(at.modal[0][0])
    tip = np.abs(found.corners[:, 0] - SIDES[0]) < 1e-5
    middle = at.r[0, 0] + at.R[0, 0] @ moved[tip].mean(axis=0)
    place = next(one.P for one in image.scene.points if one.name == "rod.tip")
    offset = found.corners[tip].mean(axis=0) - np.array(place.at)
    r, R = at.of(place)
    assert_allclose(middle, r[0] + R[0] @ offset, atol=3e-5)


def test_a_large_surface_is_simplified_and_moves_as_the_whole() -> None:
    """A tube that bends in its first mode and twists in its second."""
    x, turn = np.meshgrid(np.linspace(0.0, 1.0, 121), np.linspace(0.0, 2.0 * np.pi, 60, endpoint=False), indexing="ij")
    corners = np.stack([x, 0.1 * np.cos(turn), 0.1 * np.sin(turn)], axis=2).reshape(-1, 3)
    zero = np.zeros(len(corners))
    shapes = np.array([
        np.stack([zero, corners[:, 0] ** 2, zero], axis=1),
        np.stack([zero, -corners[:, 2] * corners[:, 0], corners[:, 1] * corners[:, 0]], axis=1),
    ])  # fmt: skip
    faces = [(60 * i + j, 60 * (i + 1) + j, 60 * i + (j + 1) % 60) for i in range(120) for j in range(60)]
    faces += [(60 * i + j, 60 * (i + 1) + (j - 1) % 60, 60 * (i + 1) + j) for i in range(120) for j in range(60)]
    found = unpacked(skin_look(Skin(corners, np.array(faces), shapes)))
    assert 3000 < len(found.faces) <= 6000 < len(faces)
    assert_allclose(found.shapes[0, :, 1], found.corners[:, 0] ** 2, atol=0.03)
    assert_allclose(found.shapes[1, :, 2], found.corners[:, 1] * found.corners[:, 0], atol=0.01)


def test_colours_follow_the_displacement() -> None:
    body, _ = rod()
    look = compile(model(body)).scene.bodies[0].skin
    assert look is not None
    q = np.array(body.q0)
    found = unpacked(look)
    sizes = np.linalg.norm(found.moves(q), axis=1)
    assert largest(look, np.array([0.0 * q] * 70 + [q, 0.5 * q])) == pytest.approx(sizes.max())
    corners, parts = bands(look, q, float(sizes.max()))
    assert_allclose(corners, found.corners + found.moves(q))
    assert sum(len(faces) for _, faces in parts) == len(found.faces)
    for colour, faces in parts:
        k, part = SCALE.index(colour), sizes[faces].mean(axis=1) / sizes.max() * len(SCALE)
        assert (k <= part).all() and ((part < k + 1) | (k == len(SCALE) - 1)).all()
    assert [colour for colour, _ in bands(look, 0.0 * q, 0.0)[1]] == [SCALE[0]]


def test_a_picture_has_the_solid_where_the_body_is() -> None:
    body, _ = rod()
    image = compile(model(body))
    at, _ = start_poses(image)
    found = [one for one in solids(image.scene, at, viewpoint(image.scene, at)) if one.kind == "mesh"]
    assert [one.joined for one in found] == [False] + [True] * (len(found) - 1)
    assert [one.colour for one in found] == [SCALE[k] for k in sorted(SCALE.index(one.colour) for one in found)]
    assert found[-1].colour == SCALE[-1]
    corners = np.concatenate([one.at + one.mesh[0][np.unique(one.mesh[1])] @ one.R.T for one in found if one.mesh])
    look = image.scene.bodies[0].skin
    assert look is not None
    wanted, _ = bands(look, at.modal[0][0], 1.0)
    wanted = at.r[0, 0] + wanted @ at.R[0, 0].T
    assert_allclose(corners.min(axis=0), wanted.min(axis=0), atol=1e-12)
    assert_allclose(corners.max(axis=0), wanted.max(axis=0), atol=1e-12)
    for one in found:
        assert one.mesh is not None and (np.abs(one.mesh[0]) <= np.array(one.half) + 1e-12).all()


def test_the_largest_displacement_is_that_of_all_instants() -> None:
    body, _ = rod()
    image = compile(model(body))
    rows = np.zeros((3, image.sizes["positions"]))
    rows[2, 1] = 0.01
    at = poses(image, rows)
    look = image.scene.bodies[0].skin
    assert look is not None
    assert at.largest(0, look) == pytest.approx(largest(look, at.modal[0]))
    assert at.largest(0, look) == at.reached[0]


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_the_page_bends_and_colours_it_alike() -> None:
    body, _ = rod()
    look = compile(model(body)).scene.bodies[0].skin
    assert look is not None
    q = 0.3 * np.array(body.q0) + 0.001
    code = (PAGE / "skin.js").read_text().replace("export ", "")
    script = f"""{code}
    const skin = new Skin({json.dumps(asdict(look))}), q = {json.dumps(q.tolist())};
    const twice = q.map((v) => 2 * v), source = {{ modal: [[0, Float64Array.from([...q, ...twice])]] }};
    const reached = skin.reached(source, 0), again = skin.reached(source, 0), none = skin.reached(source, 1);
    source.modal[0][1] = Float64Array.from([...q, ...twice, ...twice.map((v) => 2 * v)]);
    const grown = skin.reached(source, 0);
    source.modal[0][1] = Float64Array.from(q);
    const cleared = skin.reached(source, 0);
    skin.bend(q, reached);
    const found = {{ at: [...skin.at], colours: [...skin.colours], reached: [reached, again, none, grown, cleared] }};
    skin.bend(q, 0);
    console.log(JSON.stringify({{ ...found, rest: [...skin.colours].slice(0, 3), faces: [...skin.faces] }}));"""
    found = json.loads(subprocess.run(["node", "-e", script], capture_output=True, text=True, check=True).stdout)
    one = unpacked(look)
    moves = one.moves(q)
    most = float(np.linalg.norm(moves, axis=1).max())
    assert_allclose(np.reshape(found["at"], (-1, 3)), one.corners + moves, atol=1e-7)
    assert_allclose(found["reached"], np.array([2, 2, 0, 4, 1]) * most, rtol=1e-5)
    assert np.reshape(found["faces"], (-1, 3)).tolist() == one.faces.tolist()
    part = np.linalg.norm(moves, axis=1) / (2 * most) * (len(SCALE) - 1)
    wanted = [np.interp(part, range(len(SCALE)), [colour[a] for colour in SCALE]) for a in range(3)]
    assert_allclose(255 * np.reshape(found["colours"], (-1, 3)).T, wanted, atol=1e-3)
    assert_allclose(255 * np.array(found["rest"]), SCALE[0], atol=1e-4)


def test_an_fmu_depends_on_the_mesh_only_with_its_skin(tmp_path: Path) -> None:
    sizes = {}
    for skin in (False, True):
        for cells in ((4, 1, 1), (8, 2, 2)):
            path = fm.export_fmu(model(rod(cells, skin)[0]), tmp_path / "m.fmu")
            sizes[skin, cells] = path.stat().st_size, len(compile(model(rod(cells, skin)[0])).bytes)
    coarse, fine = (4, 1, 1), (8, 2, 2)
    assert sizes[False, coarse][1] == pytest.approx(sizes[False, fine][1], rel=0.02)  # digits of the scene
    assert sizes[False, coarse][0] == pytest.approx(sizes[False, fine][0], rel=5e-3)
    assert sizes[True, fine][1] > sizes[True, coarse][1] + 3000 > sizes[False, coarse][1] + 4000


def test_triangles_of_matrices_are_a_skin_and_wrong_ones_are_refused() -> None:
    mesh = meshes.beam(4, 0.8, 20.0, 1e5, 50.0, 0.6, 1e-5)
    options: dict[str, Any] = {
        "K": mesh.K, "M": mesh.M, "nodes": mesh.nodes, "interfaces": {"base": 0, "tip": 4}, "modes": 2, "damping": 0.0,
    }  # fmt: skip
    body = fm.ModalBody.from_matrices("b", **options, skin=[(0, 1, 3)])
    assert body.skin is not None
    assert_allclose(body.skin.corners, mesh.nodes[[0, 1, 3]])
    tip = fm.ModalBody.from_matrices("b", **options, skin=[(4, 1, 0)]).skin
    assert tip is not None
    assert_allclose(tip.shapes[:, 2], np.array(dict(body.shapes)["tip"])[:, :3], atol=1e-12)
    for given, words in ((((0, 1),), "must be"), (((0, 1, 5),), "node 5"), (((0, 1, 0.5),), "must be")):
        with pytest.raises(fm.ModelError, match=words):
            fm.ModalBody.from_matrices("b", **options, skin=given)


# Single modes ------------------------------------------------------------------------------------------------


def decoded(field: dict[str, str]) -> Any:
    import base64

    return np.frombuffer(base64.b64decode(field["data"]), {"f4": "<f4", "f8": "<f8"}[field["type"]])


def test_each_mode_of_a_body_moves_by_its_shape_alone() -> None:
    body, _ = rod()
    made = body.view()
    modes = made._data["modes"]
    assert [one["name"] for one in modes] == [
        f"{k + 1}: {row.frequency:.4g} Hz, {row.kind}" for k, row in enumerate(body.table)
    ]
    K, M = np.array(body.stiffness), np.array(body.modal_mass)
    for one, row in zip(modes, body.table, strict=True):
        q = decoded(one["modal"]["0"]).reshape(-1, body.modes)
        inertia = (2.0 * np.pi * row.frequency) ** 2 * M @ q[0]
        assert_allclose(K @ q[0], inertia, atol=1e-5 * abs(inertia).max())
        assert_allclose(q[16], -q[0], rtol=1e-6)
        assert_allclose(decoded(one["times"])[-1], 1.0 / row.frequency)
        poses_of = decoded(one["poses"]).reshape(-1, 7)
        assert (poses_of == poses_of[0]).all()
    assert "skin" in made.html


def test_modes_of_a_body_with_coupled_coordinates_are_its_eigenvectors() -> None:
    K, M = np.array([[3.0, 1.0], [1.0, 2.0]]), np.diag([1.0, 2.0])
    body = fm.ModalBody(
        "b", mass=9.0, inertia=(9, 9, 9), points={"p": (1, 0, 0)}, shapes={"p": np.eye(2, 3)}, stiffness=K,
        modal_mass=M, shape_mass=np.zeros((2, 3)), shape_moment=np.zeros((2, 3, 3)),
    )  # fmt: skip
    for one, row in zip(body.view()._data["modes"], body.table, strict=True):
        q = decoded(one["modal"]["0"]).reshape(-1, 2)[0]
        assert_allclose(K @ q, (2.0 * np.pi * row.frequency) ** 2 * M @ q, atol=1e-5 * abs(K @ q).max())


def test_a_beam_shows_its_modes_along_its_axis() -> None:
    made = fm.ModalBody.beam("b", length=1.0, EI=1.0, mass=1.0, modes=2).view()
    assert len(made._data["modes"]) == 2


def test_a_body_that_nothing_holds_has_no_page_of_modes() -> None:
    parts: dict[str, Any] = {"shape_mass": np.zeros((1, 3)), "shape_moment": np.zeros((1, 3, 3)), "stiffness": 1.0}
    body = fm.ModalBody("b", mass=1.0, inertia=(1, 1, 1), modal_mass=1.0, **parts)
    with pytest.raises(fm.ModelError, match="has no points"):
        body.view()


def test_the_command_writes_a_page_of_modes(tmp_path: Path) -> None:
    out = tmp_path / "modes.html"
    done = fmumbs("view", "four_link_flexible", "--modes", "coupler", "-o", str(out))
    assert done.exit_code == 0, done.output
    assert " Hz, bending" in out.read_text()
    assert "no flexible body 'couplet'" in fmumbs("view", "four_link_flexible", "--modes", "couplet").output
    assert "--stop belongs to a run" in fmumbs("view", "four_link_flexible", "--modes", "coupler", "--stop", "1").output
