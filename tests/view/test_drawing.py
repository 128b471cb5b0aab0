"""Mechanisms as pixels: what is drawn stands where the projection has it, and planar mechanisms are seen face-on."""

import warnings
from pathlib import Path
from zlib import crc32

import numpy as np
import pytest
from numpy.typing import NDArray

import fmumbs as fm
from fmumbs.compiler import ModelImage
from fmumbs.export.picture import SIZE, icon
from fmumbs.readers import read_model
from fmumbs.scene import Scene
from fmumbs.view import Poses, rays
from fmumbs.view.rays import Solid, Window, draw, extents
from fmumbs.view.solids import BODIES, solids
from fmumbs.view.still import start_poses, still, window_of
from fmumbs.view.viewpoint import Projection, viewpoint
from support import closed
from support.drawn_things import everything

MODELS = sorted(path.stem for path in (Path(__file__).parents[2] / "models").glob("*.py"))
Array = NDArray[np.float64]


def compiled(model: fm.Model) -> ModelImage:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fm.StartWarning)
        return fm.compile(model)


# Rays: against points of the solids themselves -------------------------------------------------------------------


def surface(one: Solid, count: int, rng: np.random.Generator) -> Array:
    """(count, 3) random points in a solid, in the world."""
    u = rng.uniform(-1.0, 1.0, (40 * count, 3))
    inside = {
        "box": np.ones(len(u), bool),
        "ellipsoid": (u**2).sum(axis=1) <= 1.0,
        "cylinder": (u[:, 1:] ** 2).sum(axis=1) <= 1.0,
        "cone": (u[:, 1:] ** 2).sum(axis=1) <= (0.5 * (1.0 - u[:, 0])) ** 2,
    }[one.kind]
    return one.at + (u[inside][:count] * one.half) @ one.R.T


@pytest.mark.parametrize("kind", ["box", "ellipsoid", "cylinder", "cone"])
@pytest.mark.parametrize("seed", range(8))
def test_a_solid_covers_the_pixels_of_its_points_and_no_others(kind: str, seed: int) -> None:
    """Pixels in which random points of the solid fall are opaque; those a pixel away from any are transparent."""
    rng = np.random.default_rng(seed)
    R, rows = (np.linalg.qr(rng.standard_normal((3, 3)))[0] for _ in range(2))
    half = rng.uniform(0.2, 1.0, 3)
    if seed < 4:  # seen along its axis from either end, and from within the opening of a cone
        angle = (seed // 2) * 0.4 * half[1] / half[0] / 2.0
        R, end, c, s = np.eye(3), 1.0 - 2.0 * (seed % 2), np.cos(angle), np.sin(angle)
        rows = np.array([[-s * end, c, 0.0], [0.0, 0.0, end], [c * end, s, 0.0]])
    if kind == "cone":
        half[2] = half[1]
    one = Solid(kind, rng.standard_normal(3), R * np.sign(np.linalg.det(R)), tuple(half), (200, 100, 50))  # type: ignore[arg-type]
    window = Window(*(rows[:2] @ one.at), 0.04, 96, 96)
    opacity = draw([one], rows, window, 3)[..., 3]
    points = surface(one, 80_000, rng) @ rows[:2].T
    column = (points[:, 0] - window.x) / window.pixel + window.width / 2
    line = window.height / 2 - (points[:, 1] - window.y) / window.pixel
    hits = np.zeros((96, 96), bool)
    hits[line.astype(int), column.astype(int)] = True
    around = [np.roll(hits, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1)]
    near, deep = np.any(around, axis=0), np.all(around, axis=0)
    assert deep.sum() > 80
    assert np.all(opacity[deep] == 255)
    assert np.all(opacity[~near] == 0)
    low, high = extents([one], rows)
    assert np.all(points >= low - 1e-12) and np.all(points <= high + 1e-12)


def test_the_nearer_solid_is_seen_and_symbols_are_over_bodies() -> None:
    eye = np.eye(3)
    red, blue = (200, 0, 0), (0, 0, 200)
    far = Solid("box", np.array([0.0, 0.0, -1.0]), eye, (1.0, 1.0, 0.5), red)
    near = Solid("ellipsoid", np.array([0.0, 0.0, 1.0]), eye, (0.5, 0.5, 0.5), blue)
    window = Window(0.0, 0.0, 0.1, 24, 24)

    def middle(*found: Solid) -> tuple[int, int, int, int]:
        return tuple(int(v) for v in draw(found, eye, window)[12, 12])  # type: ignore[return-value]

    for order in ((far, near), (near, far)):
        r, _, b, opacity = middle(*order)
        assert b > 100 > r and opacity == 255
    symbol = Solid(far.kind, far.at, far.R, far.half, far.colour, front=True)
    assert middle(near, symbol)[0] > 100


def random_solids(rng: np.random.Generator, count: int) -> list[Solid]:
    """Solids that overlap, some of them twice, some drawn in front, some that let light through."""
    found = []
    for _ in range(count):
        kind = str(rng.choice(["box", "cylinder", "ellipsoid", "cone"]))
        half = rng.uniform(0.1, 0.8, 3)
        half[2] = half[1]
        R = np.linalg.qr(rng.standard_normal((3, 3)))[0]
        colour, opacity = tuple(rng.integers(0, 256, 3).tolist()), float(rng.choice([1.0, 0.6, 0.3]))
        front, joined = bool(rng.random() < 0.3), bool(rng.random() < 0.2)
        one = Solid(kind, rng.standard_normal(3), R, tuple(half.tolist()), colour, front, joined, opacity)  # type: ignore[arg-type]
        found += [one] * (1 + (rng.random() < 0.2))
    return found


@pytest.mark.parametrize("seed", range(8))
def test_a_picture_does_not_depend_on_how_many_solids_are_drawn_at_once(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Drawn together, and one after the other."""
    rng = np.random.default_rng(seed)
    found, rows = random_solids(rng, 30), np.linalg.qr(rng.standard_normal((3, 3)))[0]
    together = draw(found, rows, Window(0.0, 0.0, 0.08, 64, 48))
    monkeypatch.setattr(rays, "_AT_ONCE", 1)
    assert np.array_equal(draw(found, rows, Window(0.0, 0.0, 0.08, 64, 48)), together)


def test_of_solids_that_are_equally_near_the_first_is_seen() -> None:
    """Boxes with one face in common: in either order, together and with solids of another kind between them."""
    eye, window = np.eye(3), Window(0.0, 0.0, 0.1, 16, 16)
    red, blue = (Solid("box", np.zeros(3), eye, (2.0, 2.0, 0.5), colour) for colour in ((200, 0, 0), (0, 0, 200)))
    ball = Solid("ellipsoid", np.zeros(3), eye, (0.2, 0.2, 0.2), (0, 200, 0))
    assert draw([red, ball, blue], eye, window)[8, 8, 0] > 100
    assert draw([blue, ball, red], eye, window)[8, 8, 2] > 100


def test_solids_that_let_light_through_lie_over_one_another_from_the_farthest_on() -> None:
    """Over white, whatever their order: colours by the formula of layers over one another."""
    eye, window = np.eye(3), Window(0.0, 0.0, 0.1, 16, 16)
    layers = [((200, 10, 30), 0.6), ((20, 220, 40), 0.3), ((60, 80, 180), 0.5)]
    boxes = [
        Solid("box", np.array([0.0, 0.0, float(z)]), eye, (2.0, 2.0, 0.1), colour, opacity=opacity)
        for z, (colour, opacity) in enumerate(layers)
    ]
    alone = [draw([Solid(one.kind, one.at, eye, one.half, one.colour)], eye, window)[8, 8, :3] for one in boxes]
    expected = np.full(3, 255.0)
    for own, (_, opacity) in zip(alone, layers, strict=True):
        expected = opacity * own + (1.0 - opacity) * expected
    for order in ((0, 1, 2), (2, 1, 0), (1, 2, 0)):
        shown = draw([boxes[i] for i in order], eye, window)[8, 8, :3]
        assert np.abs(shown - expected).max() <= 1.5  # each is rounded to a whole number
    wall = Solid("box", np.array([0.0, 0.0, 5.0]), eye, (2.0, 2.0, 0.1), (90, 90, 90))
    assert np.array_equal(draw([wall, *boxes], eye, window), draw([wall], eye, window))


# Views -----------------------------------------------------------------------------------------------------------


def seen(model: fm.Model) -> tuple[ModelImage, Poses, Projection]:
    image = compiled(model)
    at, _ = start_poses(image)
    return image, at, viewpoint(image.scene, at)


@pytest.mark.parametrize("name", MODELS)
def test_every_model_has_a_picture_with_its_bodies_in_it(name: str) -> None:
    """Each body is drawn in its colour within the picture, and something of it is seen unless others hide it."""
    image = compiled(read_model(name, {}))
    pixels = still(image, 160, thin=0.03, samples=2)
    assert pixels.shape == (160, 160, 4)
    covered = pixels[..., 3] > 0
    assert 0.005 < covered.mean() < 0.9
    assert covered.any(axis=0).sum() > 140 or covered.any(axis=1).sum() > 140  # it fills the picture in one direction


# Each was looked at. If one changes on purpose, look at what still() draws now and replace its number.
PICTURES = {
    "arm6": 0xDB20EFFF,
    "bennett": 0x3F89FF29,
    "braked_rotor": 0x602DD4C4,
    "branch_chain": 0xEA28B364,
    "branch_pendulum": 0x335735EC,
    "bricard": 0x46B1156B,
    "cantilever": 0x35C99AD3,
    "cardan_shaft": 0x18EB926B,
    "crane": 0xF80A15F5,
    "double_pendulum": 0xFA14A38D,
    "engine": 0x00ADFFD8,
    "flexible_four_bar": 0x45A934E0,
    "four_bar": 0x642042FD,
    "four_link_flexible": 0xFF4409EF,
    "gantry": 0x0B3DA6BD,
    "governor": 0x2F2CA35E,
    "heavy_top": 0x24B571CE,
    "ladder": 0x4257B054,
    "manipulator5": 0xD3FD39C6,
    "multi_loop_flexible": 0x3CC46C42,
    "parallel_cranks": 0x4E54AF45,
    "parallelogram_pendulum": 0x25CBA561,
    "pendulum": 0x6A61D71E,
    "rod_loop": 0x099BEC94,
    "rolling_disk": 0x05C059B5,
    "rotor_blade": 0xE5676AFB,
    "rpsup": 0x7EAEB404,
    "skate": 0xF168D896,
    "slider_crank": 0x51F19788,
    "sliders": 0x5D08D5A6,
    "solid_engine": 0x2A534403,
    "spin_up_beam": 0xB6B24C87,
    "trough": 0xF8710D91,
    "everything": 0xFBA603BA,
}  # of 96 x 96 pixels


@pytest.mark.parametrize("name", PICTURES)
def test_pictures_are_those_that_were_looked_at(name: str) -> None:
    """Pixel by pixel, as the same image gives the same pixels on every machine."""
    model = everything() if name == "everything" else read_model(name, {})
    assert crc32(still(compiled(model), 96, thin=0.035, samples=2).tobytes()) == PICTURES[name], "its picture changed"


def test_a_motor_stands_beside_its_joint_on_its_axis() -> None:
    def of(driven: bool) -> list[Solid]:
        model = fm.Model("driven")
        rod = fm.Body.rod("rod", length=1.0, mass=1.0, radius=0.02)
        joint = fm.Revolute("J", model.ground.at(0.3, 0.2, 0.1), rod.base, axis="y", q0=0.4)
        model.add(rod, joint, *([fm.Motor("M", joint, resistance=1.0, constant=0.1)] if driven else []))
        image, poses, view = seen(model)
        return solids(image.scene, poses, view)

    without, added = of(False), of(True)
    places = [one.at for one in added if not any(np.array_equal(one.at, other.at) for other in without)]
    assert len(added) == len(without) + 2 == len(places) + len(without)
    for at in places:
        assert abs(at[0] - 0.3) < 1e-12 and abs(at[2] - 0.1) < 1e-12 and at[1] > 0.2


def test_bodies_are_drawn_where_the_projection_has_them() -> None:
    """The core's own positions of points on the bodies, projected, fall on pixels of the body's colour."""
    image = compiled(read_model("four_bar", {}))
    (at, _), scene = start_poses(image), image.scene
    view = viewpoint(scene, at)
    found = solids(scene, at, view, thin=0.02)
    window = window_of(found, view, scene, 300, 300, 0.03)
    pixels = draw(found, view.rows, window)
    solver = fm.Solver(image)
    solver.assemble()
    for i, body in enumerate(scene.bodies):
        base, tip = solver.get(f"{body.name}.base.r"), solver.get(f"{body.name}.tip.r")
        x, y, _ = view.project(np.array(base + 0.4 * (tip - base)))
        column = int((x - window.x) / window.pixel + 150)
        line = int(150 - (y - window.y) / window.pixel)
        colour = pixels[line, column, :3].astype(float)
        assert pixels[line, column, 3] == 255
        hue = colour / colour.sum() - np.array(BODIES[i]) / np.sum(BODIES[i])
        assert np.abs(hue).max() < 0.06, body.name


@pytest.mark.parametrize("seed", range(12))
def test_planar_mechanisms_are_seen_along_their_normal_and_upright(seed: int) -> None:
    """Random chains in a random plane: the viewer looks along the joints' axis, and gravity points down."""
    rng = np.random.default_rng(seed)
    R = fm.Rotation(np.linalg.qr(rng.standard_normal((3, 3)))[0]) if seed % 3 else fm.Rotation.rpy(0, 0, 0.3 * seed)
    gravity = -9.81 * (R.matrix @ [0.6, 0.8, 0.0]) if seed % 2 else (0.0, 0.0, -9.81)
    image, _, view = seen(chain(R, gravity, rng))
    assert view.face_on
    assert abs(view.rows[2] @ R.matrix[:, 2]) == pytest.approx(1.0, abs=1e-9)
    assert np.allclose(view.rows @ view.rows.T, np.eye(3), atol=1e-12) and np.linalg.det(view.rows) > 0.0
    inside = np.array(gravity) - (np.array(gravity) @ R.matrix[:, 2]) * R.matrix[:, 2]
    if np.linalg.norm(inside) > 1.0:
        assert view.rows[1] @ inside == pytest.approx(-np.linalg.norm(inside))
    assert image.scene.gravity == pytest.approx(gravity)


def chain(R: fm.Rotation, gravity: object, rng: np.random.Generator) -> fm.Model:
    """Rods on hinges about the normal of a plane, and a slide in it."""
    model = fm.Model("chain", gravity=gravity)  # type: ignore[arg-type]
    place = model.ground.at(rotation=R)
    for i in range(4):
        body = fm.Body.rod(f"b{i}", length=float(rng.uniform(0.3, 1.0)), mass=1.0, radius=0.02, along="xy"[i % 2])
        joint = fm.Prismatic if i == 2 else fm.Revolute
        axis = "x" if i == 2 else "z"
        model.add(body, joint(f"J{i}", place, body.base, axis=axis, q0=float(rng.uniform(0.2, 1.5))))
        place = body.tip
    return model


@pytest.mark.parametrize(
    ("name", "face_on"),
    [
        ("four_bar", True), ("slider_crank", True), ("engine", True), ("pendulum", True), ("multi_loop_flexible", True),
        ("bennett", False), ("arm6", False), ("rolling_disk", False), ("heavy_top", False), ("gantry", False),
    ],
)  # fmt: skip
def test_only_planar_mechanisms_are_seen_face_on(name: str, face_on: bool) -> None:
    _, _, view = seen(read_model(name, {}))
    assert view.face_on is face_on


def test_the_first_pendulum_of_a_newcomer_has_x_to_the_right_and_z_upwards() -> None:
    _, _, view = seen(read_model("four_bar", {}))
    assert np.array_equal(view.rows, [[1, 0, 0], [0, 0, 1], [0, -1, 0]])


def test_a_deep_mechanism_in_parallel_planes_is_seen_at_an_angle() -> None:
    model = fm.Model("shaft")
    place = model.ground.at()
    for i in range(4):
        body = fm.Body.rod(f"b{i}", length=0.1, mass=1.0, radius=0.02, along="x")
        model.add(body, fm.Revolute(f"J{i}", place, body.base, axis="y"))
        place = body.at(0.1, 0.5, 0.0)
    assert not seen(model)[2].face_on


# Icons -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(10))
def test_a_random_mechanism_has_an_icon_that_is_not_blank_and_always_the_same(seed: int) -> None:
    sorts = ("revolute", "prismatic", "spherical", "cylindrical", "screw", "product", "skate")
    image = compiled(closed.space(seed, loops=1 + seed % 2, sorts=sorts, guess=0.0).model)
    data = icon(image)
    assert data == icon(ModelImage(image.bytes))
    pixels = decoded(data)
    assert pixels.shape == (SIZE, SIZE, 4)
    assert 0.01 < (pixels[..., 3] > 0).mean() < 0.95
    assert len(np.unique(pixels[pixels[..., 3] == 255][:, :3], axis=0)) > 10  # shaded


def decoded(data: bytes) -> NDArray[np.uint8]:
    """The pixels of a PNG, by Pillow, which comes with matplotlib."""
    import io

    images = pytest.importorskip("PIL.Image")
    return np.asarray(images.open(io.BytesIO(data)))


def test_different_mechanisms_have_different_icons() -> None:
    assert len({icon(compiled(read_model(name, {}))) for name in ("four_bar", "pendulum", "slider_crank")}) == 3


@pytest.mark.parametrize("kind", ["box", "ellipsoid", "cylinder"])
def test_round_off_changes_no_pixel_not_even_on_the_edge(kind: str) -> None:
    """As by the sines of another machine: a solid whose edges go through the middle of samples, moved by round-off."""
    half = 10.5 * 0.1 / 2  # samples are 0.05 wide, and their middles odd multiples of half of that from the centre
    pictures = set()
    for shift in (0.0, 1e-16, -1e-16):
        R = np.array([[1.0, shift, 0.0], [-shift, 1.0, shift], [0.0, -shift, 1.0]])
        size = half * (1.0 + 2.0 * shift)
        one = Solid(kind, np.array([0.3 + shift, 0.7, 0.0]), R, (size, size, size), (200, 100, 50))  # type: ignore[arg-type]
        pictures.add(draw([one], np.eye(3), Window(0.3, 0.7 + shift, 0.1, 24, 24)).tobytes())
    assert len(pictures) == 1


@pytest.mark.parametrize("seed", range(3))
def test_loops_are_drawn_closed(seed: int) -> None:
    """Bodies stand where the core has them after assembly, from a start that is only a guess."""
    image = compiled(closed.plane(seed, guess=0.1).model)
    solver = fm.Solver(image)
    solver.assemble()
    at, failure = start_poses(image)
    assert failure is None
    r = [solver.get(f"{body.name}.r") for body in image.scene.bodies]
    assert np.abs(at.r[0] - r).max() < 1e-12


def test_loops_that_cannot_be_closed_are_drawn_at_the_given_start() -> None:
    model = fm.Model("apart")
    a, b = (fm.Body.rod(name, length=0.4, mass=1.0, radius=0.02, along="x") for name in "ab")
    model.add(a, b, fm.Revolute("A", model.ground.at(), a.base, axis="y"))
    model.add(fm.Revolute("B", model.ground.at(3.0), b.base, axis="y"), fm.Distance("D", a.tip, b.tip, length=9.0))
    image = compiled(model)
    with pytest.raises(fm.AssemblyError):
        fm.Solver(image).assemble()
    assert start_poses(image)[0].r[0, :, 0].tolist() == [0.0, 3.0]
    assert (decoded(icon(image))[..., 3] > 0).mean() > 0.01


@pytest.mark.parametrize("scale", [1e-9, 1e-3, 1e6, 1e90])
def test_mechanisms_of_any_size_have_the_same_picture(scale: float) -> None:
    def model(size: float) -> fm.Model:
        one = fm.Model("rods")
        a, b = (fm.Body("ab"[i], mass=1.0, com=(size, 0, 0), inertia=(0, 0, 0)) for i in range(2))
        one.add(a, b, fm.Revolute("A", one.ground.at(), a.at(), axis="y", q0=0.5))
        one.add(fm.Revolute("B", a.at(2 * size), b.at(), axis="y", q0=-1.0))
        return one

    expected = decoded(icon(compiled(model(1.0)))).astype(int)
    found = decoded(icon(compiled(model(scale)))).astype(int)
    assert (np.abs(found - expected).max(axis=2) > 8).mean() < 0.002


def test_a_point_mass_on_the_ground_and_an_empty_scene_are_drawn() -> None:
    model = fm.Model("point")
    point = fm.Body("p", mass=1.0)
    model.add(point, fm.Prismatic("P", model.ground.at(), point.at(), axis="z"))
    assert (decoded(icon(compiled(model)))[..., 3] > 0).any()
    view = Projection(np.eye(3), np.eye(3)[1], False)
    nothing = Poses(np.zeros((1, 0, 3)), np.zeros((1, 0, 3, 3)), {})
    assert solids(Scene("empty"), nothing, view) == []
    assert not draw([], view.rows, window_of([], view, Scene("empty"), 8, 8, 0.0)).any()


def test_only_what_is_covered_is_averaged_and_all_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Solids inside, at the edges and beyond; the picture is that of averaging all."""
    rng = np.random.default_rng(5)
    window = Window(0.0, 0.0, 0.02, 90, 60)
    for size in (0.01, 0.2, 2.0):
        some = [
            Solid("ellipsoid", rng.uniform(-1.0, 1.0, 3), np.eye(3), (size, 0.7 * size, size), (200, 90, 40))
            for _ in range(2)
        ]
        found = draw(some, np.eye(3), window, samples=3)
        with monkeypatch.context() as patch:
            patch.setattr(rays, "_covered", lambda face, *_: (slice(0, face.shape[0]), slice(0, face.shape[1])))
            assert np.array_equal(found, draw(some, np.eye(3), window, samples=3))


@pytest.mark.parametrize("seed", range(3))
def test_a_mesh_of_a_cuboid_is_drawn_as_the_cuboid(seed: int) -> None:
    """But for the edges between its sides. A ball before it, or behind it, hides as much."""
    rng = np.random.default_rng(seed)
    half = rng.uniform(0.3, 0.9, 3)
    R = fm.Rotation.quaternion(*rng.normal(size=4)).matrix
    corners = np.array(np.meshgrid((-1, 1), (-1, 1), (-1, 1))).reshape(3, -1).T * half
    hull = pytest.importorskip("scipy.spatial").ConvexHull(corners)
    size = (float(half[0]), float(half[1]), float(half[2]))
    window = Window(0.0, 0.0, 0.02, 150, 150)
    for away in (-3.0, 0.0, 3.0):
        ball = Solid("ellipsoid", np.array([0.4, 0.1, away]), np.eye(3), (0.5, 0.5, 0.5), (40, 160, 60))
        box = Solid("box", np.zeros(3), R, size, (200, 90, 40))
        mesh = Solid("mesh", np.zeros(3), R, size, (200, 90, 40), mesh=(corners, hull.simplices.astype(np.int64)))
        one, other = (draw([ball, solid], np.eye(3), window, samples=1).astype(int) for solid in (box, mesh))
        assert (one[..., 3] != other[..., 3]).mean() < 0.01  # pixels whose centres are on an edge
        both = (one[..., 3] > 0) & (other[..., 3] > 0)
        assert (np.abs(one - other).max(axis=2)[both] <= 1).mean() > 0.93
