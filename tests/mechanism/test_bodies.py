"""Bodies: their mass properties, their points, and what is refused."""

import dataclasses
import pickle
from math import inf, nan, pi

import numpy as np
import pytest
from numpy.testing import assert_allclose

from fmumbs import Body, Model, ModelError, Rotation, SpatialInertia, Transform
from fmumbs.mechanism import Frame, Section, Slender  # noqa: F401, as the printed body names them

ALONG = {"x": (1, 0, 0), "y": (0, 1, 0), "z": (0, 0, 1), "-x": (-1, 0, 0), "-y": (0, -1, 0), "-z": (0, 0, -1)}


def test_a_thin_rod_has_no_inertia_about_its_own_axis():
    rod = Body.rod("rod", length=2.0, mass=3.0)
    assert rod.inertia == ((0, 0, 0), (0, 1, 0), (0, 0, 1))
    assert rod.com == (1, 0, 0)


def test_a_rod_with_a_radius_is_a_full_cylinder():
    rod = Body.rod("b", length=0.5, density=7700, radius=0.03)
    mass = 7700 * pi * 0.03**2 * 0.5
    assert_allclose(rod.mass, mass)
    assert_allclose(np.diag(rod.inertia), mass * np.array([0.03**2 / 2, *[0.5**2 / 12 + 0.03**2 / 4] * 2]))
    assert rod == Body.cylinder("b", length=0.5, density=7700, radius=0.03)


@pytest.mark.parametrize("along", ALONG)
def test_a_slender_body_reaches_from_base_to_tip_along_its_axis(along):
    direction = np.array(ALONG[along])
    for body in (
        Body.rod("b", length=2, mass=1, radius=0.1, along=along),
        Body.cylinder("b", length=2, radius=0.1, mass=1, along=along),
        Body.box("b", size=(2, 2, 2), mass=1, along=along),
    ):
        assert_allclose(body.base.X_BP.translation, 0)
        assert_allclose(body.tip.X_BP.translation, 2 * direction)
        assert_allclose(body.com, direction)
    rod = Body.rod("b", length=2, mass=1, radius=0.1, along=along)
    assert_allclose(direction @ np.array(rod.inertia) @ direction, 0.1**2 / 2)


@pytest.mark.parametrize("along", ALONG)
def test_a_box_is_the_sum_of_its_two_halves(along):
    size = np.array([0.3, 0.5, 0.7])
    k = "xyz".index(along[-1])
    half = size.copy()
    half[k] /= 2
    whole = Body.box("whole", size=size, density=1000, along=along).spatial_inertia
    near = Body.box("half", size=half, density=1000, along=along)
    both = near.spatial_inertia + near.spatial_inertia.shifted(near.tip.X_BP.translation)
    assert_allclose(whole.mass, 1000 * 0.3 * 0.5 * 0.7)
    assert_allclose(both.mass, whole.mass)
    assert_allclose(both.com, whole.com)
    assert_allclose(both.inertia, whole.inertia, atol=1e-14)


def test_a_sphere_is_the_same_about_every_axis():
    sphere = Body.sphere("s", radius=0.5, density=2.0)
    assert_allclose(sphere.mass, 2.0 * 4 / 3 * pi * 0.125)
    assert_allclose(sphere.inertia, 0.4 * sphere.mass * 0.25 * np.eye(3))
    assert sphere.com == (0, 0, 0)


def test_a_body_takes_inertia_in_three_forms_and_keeps_the_matrix():
    six = Body("b", mass=1, inertia=(2, 3, 4, 0.1, 0.2, 0.3))
    assert six.inertia == ((2, 0.1, 0.2), (0.1, 3, 0.3), (0.2, 0.3, 4))
    assert six == Body("b", mass=1, inertia=np.array(six.inertia))
    assert Body("b", mass=1, inertia=(2, 3, 4)).inertia == ((2, 0, 0), (0, 3, 0), (0, 0, 4))
    assert_allclose(six.spatial_inertia.inertia, six.inertia)
    assert isinstance(six.spatial_inertia, SpatialInertia)


def test_points_have_frames_and_names():
    turned = Rotation.about("z", 0.2)
    body = Body("b", mass=1, points={"eye": (1, 2, 3), "hand": Transform(turned, (0, 0, 1))})
    assert Transform(None, (1, 2, 3)) == body.point("eye").X_BP
    assert body.point("hand").X_BP.rotation == turned
    assert [frame.name for frame in body.points] == ["eye", "hand"]
    assert body == Body("b", mass=1, points=[Frame("eye", Transform(None, (1, 2, 3))), body.points[1]])
    foot = body.at(0.5, 0, 0, rotation=turned, name="foot")
    assert (foot.body, foot.name, foot.X_BP) == (body, "foot", Transform(turned, (0.5, 0, 0)))
    assert Transform.identity() == body.at().X_BP


def test_points_print_shortly():
    rod = Body.rod("rod", length=1, mass=1)
    assert repr(rod.tip) == "rod.tip"
    assert repr(rod.at(0.5)) == "rod.at(0.5, 0, 0)"
    assert repr(Model("m").ground.at(1, 2, 3)) == "ground.at(1, 2, 3)"
    assert "rotation=Rotation" in repr(rod.at(rotation=Rotation.about("x", 1)))


def test_bodies_print_compare_pickle_and_can_be_replaced_but_not_changed():
    body = Body.rod("rod", length=1, mass=1, radius=0.1, along="-z")
    assert pickle.loads(pickle.dumps(body)) == body
    assert eval(repr(body)) == body
    assert len({body, pickle.loads(pickle.dumps(body))}) == 1
    heavier = dataclasses.replace(body, mass=2.0)
    assert (heavier.mass, heavier.inertia, heavier.tip.X_BP) == (2.0, body.inertia, body.tip.X_BP)
    with pytest.raises(dataclasses.FrozenInstanceError):
        body.mass = 2.0  # type: ignore[misc]


def test_numpy_numbers_are_numbers():
    body = Body("b", mass=np.float32(1.5), com=np.array([1, 2, 3]))
    assert (body.mass, body.com) == (1.5, (1.0, 2.0, 3.0))
    assert all(type(x) is float for x in (body.mass, *body.com))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Body("crank", mass=-0.3), ["Body 'crank'", "mass", "-0.3", "at least 0", "Give"]),
        (lambda: Body("b", mass=nan), ["mass", "nan", "finite"]),
        (lambda: Body("b", mass="1"), ["mass", "'1'", "not a number"]),
        (lambda: Body("b", mass=True), ["mass", "not a number"]),
        (lambda: Body("b", mass=np.ones((1, 1))), ["mass", "not a number"]),
        (lambda: Body("b", mass=1, com=(0, inf, 0)), ["com[2]", "inf"]),
        (lambda: Body("b", mass=1, com=(0, 0)), ["com", "2 entries", "3"]),
        (lambda: Body("b", mass=1, com="abc"), ["com", "'abc'"]),
        (lambda: Body("b", mass=1, inertia=(1, 2, 4)), ["1 + 2", "less than 4", "no solid", "measured=True"]),
        (lambda: Body("b", mass=1, inertia=(1, 1, -1)), ["-1", "at least 0"]),
        (lambda: Body("b", mass=1, inertia=np.ones((3, 2))), ["inertia", "2 entries"]),
        (lambda: Body("b", mass=1, inertia=(nan, 1, 1)), ["inertia[1]", "nan"]),
        (lambda: Body("1st", mass=1), ["'1st'", "'_1st'"]),
        (lambda: Body("my arm", mass=1), ["'my arm'", "'my_arm'"]),
        (lambda: Body("größe", mass=1), ["letters", "'gr__e'"]),
        (lambda: Body("", mass=1), ["''"]),
        (lambda: Body(7, mass=1), ["7", "not a string"]),
        (lambda: Body("b", mass=1, points={"r": (0, 0, 0)}), ["'r'", "'r_point'"]),
        (lambda: Body("b", mass=1, points={"p": (0, 0)}), ["'p'", "2 entries"]),
        (lambda: Body("b", mass=1, points=["p"]), ["points", "str"]),
        (lambda: Body("b", mass=1, points=[Frame("p", Transform())] * 2), ["two points 'p'", "'p2'"]),
        (lambda: Body.rod("b", length=1), ["neither mass nor density"]),
        (lambda: Body.rod("b", length=1, mass=1, density=1, radius=1), ["both mass and density"]),
        (lambda: Body.rod("b", length=1, density=1), ["density is given without a radius"]),
        (lambda: Body.rod("b", length=0, mass=1), ["length", "above zero"]),
        (lambda: Body.rod("b", length=1, mass=1, radius=-1), ["radius", "-1"]),
        (lambda: Body.rod("b", length=1, mass=1, along="w"), ["along", "'w'", "x, y, z"]),
        (lambda: Body.rod("b", length=1, mass=1, along=(1, 0, 0)), ["along", "letter"]),
        (lambda: Body.box("b", size=(1, 0, 1), mass=1), ["size[2]", "above zero"]),
        (lambda: Body.box("b", size=1, mass=1), ["size", "3 numbers"]),
        (lambda: Body.sphere("b", radius=1, density=0), ["density", "above zero"]),
        (lambda: Body.rod("b", length=1, mass=1).point("tipp"), ["'tipp'", "'tip'"]),
        (lambda: Body("b", mass=1).tip, ["no point 'tip'", "b.at(x, y, z)"]),
        (lambda: Body("b", mass=1).at(nan), ["'b'", "x", "nan"]),
        (lambda: Body("b", mass=1).at(name="mass"), ["'mass'", "'mass_point'"]),
        (lambda: Body("b", mass=1).at(rotation=0.3), ["float", "Rotation"]),
    ],
)
def test_what_is_not_valid_is_a_model_error(make, words):
    with pytest.raises(ModelError) as error:
        make()
    for word in words:
        assert word in str(error.value)
    assert str(error.value).endswith(".")
