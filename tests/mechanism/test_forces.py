"""Springs and loads."""

import pickle
from math import nan

import pytest

import fmumbs as fm
from fmumbs import ModelError
from fmumbs.mechanism import GROUND

a = fm.Body.rod("a", length=1, mass=1)
b = fm.Body.rod("b", length=1, mass=1)

FORCES = [
    fm.Spring("k", a.tip, b.tip, stiffness=10, damping=1, free_length=0.5),
    fm.Load("push", a.at(0.5, 0, 0), force=[1, 2, 3], torque=(0, 0, 1)),
]


@pytest.mark.parametrize("force", FORCES, ids=lambda f: f.name)
def test_forces_print_compare_and_pickle(force):
    assert pickle.loads(pickle.dumps(force)) == force
    assert len({force, pickle.loads(pickle.dumps(force))}) == 1
    assert force.name in repr(force)


def test_a_force_knows_where_it_acts():
    assert FORCES[0].ends == (a.tip, b.tip)
    assert FORCES[1].ends == (a.at(0.5, 0, 0),)


def test_a_load_keeps_its_start_values():
    assert (FORCES[1].force, FORCES[1].torque) == ((1.0, 2.0, 3.0), (0.0, 0.0, 1.0))


def test_a_spring_may_end_on_the_ground():
    fm.Spring("k", GROUND.at(1, 0, 0), a.tip)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: fm.Spring("k", a.tip, b.tip, damping=-1), ["Spring 'k': damping", "-1", "at least 0"]),
        (lambda: fm.Spring("k", a.tip, b.tip, damping=nan), ["damping", "nan"]),
        (lambda: fm.Spring("k", a.tip, b.tip, free_length=-1), ["free_length", "at least 0"]),
        (lambda: fm.Spring("k", a.tip, a.base), ["both on 'a'", "two different bodies"]),
        (lambda: fm.Spring("k", a.tip, b), ["Q", "the body 'b'", "b.at(x, y, z)"]),
        (lambda: fm.Load("L", GROUND.at()), ["ground", "point on a body"]),
        (lambda: fm.Load("L", a.tip, force=(1, 2)), ["force", "2 entries", "3"]),
        (lambda: fm.Load("L", a.tip, torque=(1, 2, nan)), ["torque[3]", "nan"]),
    ],
)
def test_what_is_not_valid_is_a_model_error(make, words):
    with pytest.raises(ModelError) as error:
        make()
    for word in words:
        assert word in str(error.value)
    assert str(error.value).endswith(".")
