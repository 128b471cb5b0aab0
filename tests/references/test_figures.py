"""The sampled figures, and how they are compared."""

import json
import re

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from references import figures
from references.figures import DATA, FULL, Curve, carried

CASES = sorted(path.stem for path in DATA.glob("*.json"))
at_hand = pytest.mark.skipif(not FULL.is_dir(), reason="the full figures are not at hand")


@pytest.mark.parametrize("case", CASES)
def test_sampled_figures_have_their_source_and_are_small(case):
    assert {"source", "licence"} < set(carried(case))
    assert (DATA / f"{case}.json").stat().st_size < 40_000


def test_every_file_of_figures_has_a_licence():
    rows = [line.split("|")[1:4] for line in (DATA / "README.md").read_text("utf-8").splitlines() if ".json`" in line]
    licences = {}
    for files, licence, text in rows:
        for name in re.findall(r"`(\w+)\.json`", files):
            licences[name] = licence.strip(), DATA / "licences" / text.strip(" `")
    assert sorted(licences) == CASES
    for case, (licence, text) in licences.items():
        assert carried(case)["licence"] == licence
        assert "opyright" in text.read_text("utf-8"), text
    assert {text for _, text in licences.values()} >= set((DATA / "licences").iterdir())


@at_hand
@pytest.mark.parametrize("case", [case for case in CASES if "curves" in carried(case)])
def test_sampled_rows_are_rows_of_the_published_curves(case):
    for name in carried(case)["curves"]:
        few, all_of_them = figures.sampled(case, name), figures.full(case, name)
        picked = np.searchsorted(all_of_them.time, few.time)
        assert_array_equal(few.rows, all_of_them.stack(" ".join(few.columns))[picked])


@at_hand
def test_sampled_values_are_the_published_ones():
    for case in ("puma560_rne", "reaction_uniqueness"):
        assert carried(case)["values"] == published(case)
    for name, values in published("urdf_pinocchio").items():
        few = carried(f"urdf_{name}")["values"]
        assert few == values | {"cases": values["cases"][: len(few["cases"])]}


def published(case):
    return json.loads((FULL / case / "values.json").read_text(encoding="utf-8"))


def test_a_curve_gives_columns_by_name_and_vectors_by_their_stem():
    curve = Curve(("time", "w[1]", "w[2]", "x"), np.arange(8.0).reshape(2, 4))
    assert_array_equal(curve.time, [0, 4])
    assert_array_equal(curve["w"], [[1, 2], [5, 6]])
    assert_array_equal(curve.stack("x time"), [[3, 0], [7, 4]])
    with pytest.raises(KeyError, match="there are time, w"):
        curve["y"]
