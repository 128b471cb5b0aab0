"""Flexible bodies: what is refused, and that they print, compare and pickle."""

import pickle
from dataclasses import FrozenInstanceError, replace
from typing import Any

import numpy as np
import pytest

import fmumbs as fm
from fmumbs.compiler import compile

BEAM = fm.ModalBody.beam("b", length=1.3, mass=0.7, EI=12.0, modes=2)
MODES: dict[str, Any] = {
    "mass": 1.0, "inertia": (0, 1, 1), "points": {"tip": (1, 0, 0)}, "shapes": {"tip": [(0, 1, 0)]}, "stiffness": 1.0,
    "shape_mass": [(0, 0.5, 0)], "shape_moment": [np.zeros((3, 3))], "modal_mass": 0.5,
}  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"stiffness": -1.0}, "stiffness is not positive semidefinite"),
        ({"stiffness": np.ones((2, 2))}, r"stiffness is not an array of \(1, 1\) finite numbers"),
        ({"damping": [np.nan]}, "damping is not an array"),
        ({"modal_mass": None}, "so is shape_product. Give one of them"),
        ({"modal_mass": 0.1}, "are inconsistent"),
        ({"shape_mass": np.zeros((0, 3))}, "has 0 modes. Give 1 to 64, or a Body"),
        ({"shape_mass": [(0, 0, 0.5)]}, "leaves the plane xy"),
        ({"plane": "zx"}, "must be one of xy, xz, yz"),
        ({"shapes": {}}, "shapes has no entry for the point 'tip'"),
        ({"shapes": {"tap": [(0, 1, 0)]}}, "The nearest name is 'tip'"),
        ({"q0": (1, 2)}, "q0 has 2 entries, but must have 1"),
        ({"points": {"q": (1, 0, 0)}, "shapes": {"q": [(0, 1, 0)]}}, "every body has a variable of that name"),
    ],
)
def test_invalid_modal_data_are_refused(changes: Any, words: str) -> None:
    with pytest.raises(fm.ModelError, match=words):
        fm.ModalBody("b", **(MODES | changes))


@pytest.mark.parametrize("field", ["stiffness", "damping"])
def test_a_matrix_that_is_not_symmetric_is_refused(field: str) -> None:
    with pytest.raises(fm.ModelError, match=f"{field} is not symmetric"):
        replace(BEAM, **{field: [[1.0, 0.5], [0.0, 1.0]]})


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"EI": 0.0}, "EI is 0, but must be above zero"),
        ({"mass": None}, "neither mass nor density is given"),
        ({"density": 1.0}, "only one of density and area is given"),
        ({"density": 1.0, "area": 1.0}, "both mass and density are given"),
        ({"mass": None, "density": 1.0, "area": 0.0}, "area"),
        ({"modes": 0}, "modes is 0, but must be 1 to 64. For a rigid body use Body.rod"),
        ({"modes": 65}, "must be 1 to 64"),
        ({"boundary": "clamped"}, "boundary is 'clamped', but must be two of clamped, pinned, free, sliding"),
        ({"along": "z"}, "cannot bend in the plane 'xy'"),
        ({"damping_ratio": -0.1}, "damping_ratio is -0.1, below zero"),
    ],
)
def test_invalid_beams_are_refused(changes: Any, words: str) -> None:
    with pytest.raises(fm.ModelError, match=words):
        fm.ModalBody.beam("b", **({"length": 1.0, "mass": 1.0, "EI": 1.0} | changes))


def test_a_place_off_the_beam_and_a_point_without_a_name_are_refused() -> None:
    beam, plate = BEAM, fm.ModalBody("b", **MODES)
    ground = fm.Model("m").ground
    for point, words in ((beam.at(1.4), "is 1.4 m along the beam"), (plate.at(0.5), "not a named point of")):
        model = fm.Model("m")
        model.add(point.body, fm.Weld("w", ground.at(), point))
        with pytest.raises(fm.ModelError, match=words):
            compile(model)


def test_flexible_bodies_print_compare_pickle_and_can_be_replaced() -> None:
    beam = BEAM
    assert pickle.loads(pickle.dumps(beam)) == beam
    assert replace(beam, q0=(0.1, 0.0)).q0 == (0.1, 0.0)
    assert replace(beam, color="#8aa").color == "#88aaaa"
    assert repr(beam).startswith("ModalBody(name='b'")
    assert beam.modes == 2
    with pytest.raises(FrozenInstanceError):
        beam.q0 = ()  # type: ignore[misc]
