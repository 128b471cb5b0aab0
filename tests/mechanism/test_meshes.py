"""Bodies from meshes: mass properties against exact polyhedra, and surfaces that no solid has."""

from itertools import product
from math import pi, sqrt
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fmumbs as fm
from fmumbs.errors import MeshWarning
from fmumbs.mechanism.triangles import Triangles

trimesh = pytest.importorskip("trimesh", reason="trimesh is not installed: pip install 'fmumbs[mesh]'")

EXACT = 1e-12


def written(folder: Path, vertices: object, faces: object, name: str = "part.obj") -> Path:
    trimesh.Trimesh(vertices, faces, process=False).export(folder / name)
    return folder / name


def cuboid(size: tuple[float, ...], at: tuple[float, ...] = (0.0, 0.0, 0.0)) -> tuple[np.ndarray, np.ndarray]:
    box = trimesh.creation.box(size)
    return np.asarray(box.vertices) + at, np.asarray(box.faces)


@pytest.mark.parametrize("suffix", ["stl", "obj", "glb"])
def test_a_cuboid_in_millimetres(suffix: str, tmp_path: Path) -> None:
    vertices, faces = cuboid((200.0, 50.0, 100.0), (100.0, 25.0, -50.0))
    body = fm.Body.from_mesh(written(tmp_path, vertices, faces, f"link.{suffix}"), scale=1e-3, density=2700.0)
    m = 2700.0 * 0.2 * 0.05 * 0.1
    assert body.name == "link"
    assert body.mass == pytest.approx(m, rel=EXACT)
    assert_allclose(body.com, (0.1, 0.025, -0.05), rtol=EXACT)
    moments = m / 12.0 * np.array([0.05**2 + 0.1**2, 0.2**2 + 0.1**2, 0.2**2 + 0.05**2])
    assert_allclose(body.inertia, np.diag(moments), rtol=EXACT, atol=EXACT * moments.max())


def test_a_tetrahedron_and_an_octahedron_turned_and_far_away(tmp_path: Path) -> None:
    """int r r^T dV: V / 20 (1 + delta_ij) of the tetrahedron 0, e_x, e_y, e_z, V / 10 delta_ij of the octahedron."""
    R, away = fm.Rotation.quaternion(0.3, -0.5, 0.7, 0.2).matrix, np.array([3.0, -2.0, 5.0])
    corner = np.vstack([np.zeros(3), np.eye(3)])
    ball = np.vstack([np.eye(3), -np.eye(3)])
    sides = [[x, y, z] for x, y, z in product((0, 3), (1, 4), (2, 5))]
    sides = [[a, b, c] if np.linalg.det(ball[[a, b, c]]) > 0 else [a, c, b] for a, b, c in sides]
    V = 1.0 / 6.0
    second = V / 20.0 * (np.ones((3, 3)) + np.eye(3)) - V * np.full((3, 3), 1.0 / 16.0)
    cases = [
        (corner, [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]], V, np.full(3, 0.25), second),
        (ball, sides, 8.0 * V, np.zeros(3), 8.0 * V / 10.0 * np.eye(3)),
    ]
    for vertices, faces, volume, centre, about in cases:
        path = written(tmp_path, vertices @ R.T + away, faces, "far.obj")
        found = Triangles(vertices @ R.T + away, np.array(faces))
        total, com, matrix = found.integrals()
        assert total == pytest.approx(volume, rel=EXACT)
        assert_allclose(com, R @ centre + away, rtol=EXACT)
        assert_allclose(matrix, R @ about @ R.T, atol=EXACT * np.abs(about).max())
        body = fm.Body.from_mesh(path, scale=1.0, mass=2.0, name="far")  # a file has eight digits
        assert body.mass == 2.0
        inertia = 2.0 / volume * (np.trace(about) * np.eye(3) - about)
        assert_allclose(body.inertia, R @ inertia @ R.T, atol=1e-6)


def test_a_hole_is_left_out(tmp_path: Path) -> None:
    """A cube with a cube's cavity, whose surface faces the cavity."""
    outer, sides = cuboid((2.0, 2.0, 2.0))
    inner, _ = cuboid((1.0, 1.0, 1.0), (0.25, 0.0, 0.0))
    path = written(tmp_path, np.vstack([outer, inner]), np.vstack([sides, sides[:, ::-1] + len(outer)]))
    body = fm.Body.from_mesh(path, scale=1.0, density=1.0)
    assert body.mass == pytest.approx(7.0, rel=EXACT)
    assert_allclose(body.com, (-0.25 / 7.0, 0.0, 0.0), atol=EXACT)
    x, across = -0.25 / 7.0, 8.0 * 8.0 / 12.0 - 1.0 * 2.0 / 12.0
    along = across + 8.0 * x**2 - (0.25 - x) ** 2  # parallel axes
    assert_allclose(np.diag(body.inertia), (across, along, along), rtol=EXACT)


def test_triangles_with_the_inner_side_out_are_turned_and_told(tmp_path: Path) -> None:
    vertices, faces = cuboid((1.0, 2.0, 3.0))
    right = fm.Body.from_mesh(written(tmp_path, vertices, faces), scale=1.0, density=1.0)
    for count, wrong in ((12, faces[:, ::-1]), (3, np.vstack([faces[:3, ::-1], faces[3:]]))):
        path = written(tmp_path, vertices, wrong)
        with pytest.warns(MeshWarning, match=f"{count} of 12 triangles"):
            body = fm.Body.from_mesh(path, scale=1.0, density=1.0)
        assert body.mass == pytest.approx(6.0, rel=EXACT)
        assert_allclose(body.inertia, right.inertia, rtol=EXACT, atol=EXACT)


def test_of_each_part_the_fewest_triangles_are_turned(tmp_path: Path) -> None:
    vertices, faces = cuboid((1.0, 1.0, 1.0))
    both = np.vstack([faces, np.vstack([faces[:1, ::-1], faces[1:]]) + len(vertices)])
    path = written(tmp_path, np.vstack([vertices, np.add(vertices, (5.0, 0.0, 0.0))]), both)
    with pytest.warns(MeshWarning, match="1 of 24 triangles"):
        body = fm.Body.from_mesh(path, scale=1.0, density=1.0)
    assert body.mass == pytest.approx(2.0, rel=EXACT)


def test_an_open_surface_is_refused_and_its_hull_is_taken_on_request(tmp_path: Path) -> None:
    vertices, faces = cuboid((1.0, 2.0, 3.0))
    path = written(tmp_path, vertices, faces[2:])
    with pytest.raises(fm.ModelError, match=r"4 of its edges do not join two triangles.*hull=True"):
        fm.Body.from_mesh(path, scale=1.0, density=1.0)
    body = fm.Body.from_mesh(path, scale=1.0, density=1.0, hull=True)
    assert body.mass == pytest.approx(6.0, rel=EXACT)
    assert_allclose(np.diag(body.inertia), (6.5, 5.0, 2.5), rtol=EXACT)


def test_what_is_refused(tmp_path: Path) -> None:
    vertices, faces = cuboid((1.0, 1.0, 1.0))
    path = written(tmp_path, vertices, faces)
    flat = written(tmp_path, [[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2], [0, 2, 1]], "flat.obj")
    (tmp_path / "empty.stl").write_text("solid nothing\nendsolid nothing\n")
    with pytest.raises(TypeError, match="scale"):
        fm.Body.from_mesh(path, density=1.0)  # type: ignore[call-arg]
    for said, given in (
        ("no such file", {"path": tmp_path / "absent.stl"}),
        ("Mesh '.*empty.stl'", {"path": tmp_path / "empty.stl"}),
        ("encloses no volume", {"path": flat}),
        ("neither mass nor density", {"density": None}),
        ("scale", {"scale": -1.0}),
        ("'red', which is not a colour", {"color": "red"}),
        ("above 1", {"opacity": 1.5}),
    ):
        arguments = {"path": path, "scale": 1.0, "density": 1.0} | given
        with pytest.raises(fm.ModelError, match=said):
            fm.Body.from_mesh(arguments.pop("path"), **arguments)  # type: ignore[arg-type]
    with pytest.raises(fm.ModelError, match="not a list of meshes"):
        fm.Body("B", mass=1.0, visual="link.stl")  # type: ignore[arg-type]


def test_many_triangles_become_fewer_and_keep_their_shape() -> None:
    ball = trimesh.creation.icosphere(6, radius=1.0)
    found = Triangles(np.asarray(ball.vertices), np.asarray(ball.faces)).simplified(15_000)
    assert 10_000 < len(found.faces) <= 15_000
    assert np.linalg.norm(found.vertices, axis=1).min() > 0.99
    assert found.integrals()[0] == pytest.approx(4.0 / 3.0 * pi, rel=5e-3)
    assert found.open_edges() == 0


def test_a_body_with_a_look_is_compared_printed_and_swung(tmp_path: Path) -> None:
    vertices, faces = cuboid((1.0, 1.0, 1.0))
    path = written(tmp_path, vertices, faces)
    one, two = (fm.Body.from_mesh(path, scale=0.1, mass=1.0, color=color) for color in ("#8aa", "#88aaaa"))
    assert one == two and one != fm.Body.from_mesh(path, scale=0.2, mass=1.0, color="#8aa")
    model = fm.Model("swing")
    model.add(one, fm.Revolute("A", model.ground.at(), one.at(0, 0, 0.5), axis="y", q0=0.01))
    period = 2 * pi * sqrt((0.25 + 0.01 / 6.0) / (9.81 * 0.5))
    result = fm.simulate(model, times=[period / 2])
    assert result["A.q"][-1] == pytest.approx(-0.01, rel=1e-3)


def test_pages_and_pictures_draw_the_mesh(tmp_path: Path) -> None:
    vertices, faces = cuboid((1.0, 0.4, 0.2))
    path = written(tmp_path, vertices, faces)
    model = fm.Model("seen")
    mesh = fm.Mesh(path, scale=1.0, color="#c04020", at=(0.5, 0.0, 0.0))
    link = fm.Body("link", mass=1.0, inertia=(1, 1, 1), visual=[mesh], opacity=0.5)
    model.add(link, fm.Revolute("A", model.ground.at(), link.at(), axis="y"))
    (look,) = fm.compile(model).scene.bodies
    assert look.shape is None and look.opacity == 0.5
    (drawn,) = look.meshes
    assert drawn.colour == "#c04020"
    assert_allclose((drawn.low, drawn.size), ((0.0, -0.2, -0.1), (1.0, 0.4, 0.2)), atol=1e-9)
    from fmumbs.view.still import still

    pixels = still(fm.compile(model), 120, thin=0.01, samples=2)
    red = (pixels[..., 3] > 0) & (pixels[..., 0].astype(int) > pixels[..., 2] + 40)
    assert 1500 < red.sum() < 4500  # a fifth of the square, seen face-on
