"""Planes, roads and forces of contacts, in pictures and in the page's data."""

import base64
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.interpolate import CubicSpline

import fmumbs as fm
from fmumbs.scene import GROUND
from fmumbs.view.data import data_of
from fmumbs.view.motion import motion_of
from fmumbs.view.solids import solids
from fmumbs.view.still import start_poses
from fmumbs.view.viewpoint import viewpoint

G, MASS, STIFF = 9.81, 2.0, 1e5
DIGITS = 1e-8  # m: a scene has nine digits
ROAD = [(0.0, 0.0), (1.0, 0.1), (2.5, -0.1), (3.0, 0.0)]
PAGE = Path(fm.__file__).parent / "view" / "page"


def resting(shape: Any, tilt: float = 0.0, height: float = 0.1) -> fm.Model:
    """A body with its centre of mass beside the middle of its shape, and one that touches nothing."""
    turn = fm.Rotation.about("y", tilt)
    model = fm.Model("rest", gravity=tuple(turn.matrix @ (0, 0, -G)))
    body, other = (fm.Body(name, mass=MASS, com=(0.03, 0, 0), inertia=(0.02,) * 3) for name in ("b", "o"))
    at = model.ground.at(0, 0, 0.5, rotation=turn)
    model.add(body, other, fm.Free("f", at, body.at(), q0=(0, 0, height, 1, 0, 0, 0)))
    model.add(fm.Weld("w", model.ground.at(0, 0, 3.0), other.at()))
    plane, press, hold = fm.Plane(at), fm.Press(STIFF, damping=0.3), fm.Coulomb(0.5, stiffness=1e5)
    model.add(fm.Contact("far", fm.Sphere(other.at(), 0.1), plane, press))
    model.add(fm.Contact("touch", shape(body), plane, press, hold))
    return model


def numbers(field: Any) -> Any:
    return np.frombuffer(base64.b64decode(field["data"]), f"<{field['type']}").reshape(-1, 3)


@pytest.mark.parametrize("tilt", [0.0, 0.4])
def test_the_force_of_a_contact_is_drawn_where_it_presses(tilt: float) -> None:
    """Below the centre of mass, which is off the middle of the box; a contact that is open has none."""
    model = resting(lambda body: fm.Box(body.at(), (0.2, 0.2, 0.2)), tilt)
    result = model.simulate(stop=0.1, interval=0.1, equilibrium=True)
    data = data_of(result, motion_of(result))
    forces = {one["kind"]: one for one in data["forces"] if one["kind"] in ("contact", "spot")}
    assert [data["scene"]["contacts"][one["index"]]["name"] for one in forces.values()] == ["touch"] * 2
    assert data["largest"]["contact"] == pytest.approx(MASS * G, rel=1e-4)
    up, at = fm.Rotation.about("y", tilt).matrix, np.array([0, 0, 0.5])
    assert_allclose(numbers(forces["contact"]["f"]), [up @ (0, 0, MASS * G)] * 2, atol=1e-3)
    assert_allclose((numbers(forces["spot"]["f"]) - at) @ up, [[0.03, 0, 0]] * 2, atol=1e-4)


def test_a_plane_is_drawn_once_and_a_road_by_its_spline() -> None:
    model = resting(lambda body: fm.Sphere(body.at(), 0.1))
    wheel = fm.Body("wheel", mass=1.0, inertia=(0.1,) * 3)
    model.add(wheel, fm.Free("g", model.ground.at(1.5, 1.0, 0.6), wheel.at()))
    road = fm.Road(model.ground.at(0, 0.5, 0.2), ROAD)
    model.add(fm.Contact("rolls", fm.Sphere(wheel.at(), 0.1), road, fm.Press(1e4)))
    plane, way = fm.compile(model).scene.grounds
    assert plane.P.body == GROUND and plane.P.at == (0.0, 0.0, 0.5) and plane.profile == ()
    x, z = np.array(way.profile).T
    assert x[0] == -3.0 and x[-1] == 6.0 and len(x) > 150
    inside = (x >= 0.0) & (x <= 3.0)
    assert_allclose(z[inside], CubicSpline(*np.transpose(ROAD), bc_type="natural")(x[inside]), atol=DIGITS)


def test_planes_and_roads_are_where_contacts_touch_them() -> None:
    """The upper face of a plate, below the middle of all bodies; and the surface of a road, under all of them."""
    model = resting(lambda body: fm.Sphere(body.at(), 0.1), 0.4)
    image = fm.compile(model)
    at, _ = start_poses(image)
    plate = next(one for one in solids(image.scene, at, viewpoint(image.scene, at)) if one.opacity < 0.5)
    normal = fm.Rotation.about("y", 0.4).matrix[:, 2]
    assert_allclose((plate.at - (0, 0, 0.5)) @ normal + plate.half[2], 0.0, atol=DIGITS)
    middle = 0.5 * (at.r[0].min(axis=0) + at.r[0].max(axis=0))
    assert_allclose(np.cross(plate.at - middle, normal), 0.0, atol=DIGITS)

    model = fm.Model("rolls")
    wheel = fm.Body("wheel", mass=1.0, inertia=(0.1,) * 3)
    model.add(wheel, fm.Free("g", model.ground.at(1.5, 1.0, 0.6), wheel.at()))
    model.add(fm.Contact("c", fm.Sphere(wheel.at(), 0.1), fm.Road(model.ground.at(0, 0, 0.2), ROAD), fm.Press(1e4)))
    image = fm.compile(model)
    at, _ = start_poses(image)
    found = [one for one in solids(image.scene, at, viewpoint(image.scene, at)) if one.kind == "mesh"]
    assert len(found) == 1 and found[0].mesh is not None
    corners = found[0].mesh[0] + found[0].at
    inside = (corners[:, 0] > 0.0) & (corners[:, 0] < 3.0)
    spline = CubicSpline(*np.transpose(ROAD), bc_type="natural")
    lines = 0.2 + np.interp(corners[inside, 0], np.linspace(0, 3, 151), spline(np.linspace(0, 3, 151)))
    assert_allclose(corners[inside, 2], lines, atol=1e-3)
    assert corners[:, 1].min() < 1.0 < corners[:, 1].max() and corners[:, 0].min() < 1.5 < corners[:, 0].max()


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_the_page_finds_the_same_place_of_a_live_contact() -> None:
    text = (PAGE / "panel.js").read_text()
    function = text[text.index("function meanSpot") : text.index("/** The least of 1, 2, 5")]
    rng = np.random.default_rng(1)
    points, normals = rng.normal(size=(4, 3)), rng.uniform(0, 5, 4)
    for weights in (normals, np.zeros(4)):
        values = json.dumps([*points.ravel(), *weights])
        script = f"{function}; console.log(JSON.stringify(meanSpot(Float64Array.from({values}), 4)))"
        found = subprocess.run(["node", "-e", script], capture_output=True, text=True, check=True).stdout
        assert_allclose(json.loads(found), np.average(points, axis=0, weights=weights + (not weights.any())))
