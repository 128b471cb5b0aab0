"""fmumbs check: the tree, the mobility, problems of a model, and which reactions are unique."""

import json
from pathlib import Path

import pytest

from support.commands import fmumbs

APART = """
import fmumbs as fm

def build():
    model = fm.Model("apart")
    model.add(fm.Body.rod("a", length=1.0, mass=1.0, radius=0.1))
    return model
"""

BRAKED = """
import fmumbs as fm

def build():
    model = fm.Model("braked")
    a, b = (fm.Body.rod(name, length=1.0, mass=1.0) for name in "ab")
    A = fm.Revolute("A", model.ground.at(), a.base, axis="y")
    B = fm.Revolute("B", a.tip, b.base, axis="y")
    model.add(a, b, A, B, fm.Coupling.gear("gear", A, B, ratio=2.0))
    model.add(fm.Spring("s", model.ground.at(0, 0, 3), a.tip, stiffness=1.0))
    model.add(fm.Law.brake("brake", A, 1.0), fm.Stop("stop", B, upper=1.0, stiffness=10.0))
    return model
"""


def test_check_prints_the_tree_and_the_mobility() -> None:
    result = fmumbs("check", "double_pendulum")
    assert result.exit_code == 0
    assert "upper" in result.output
    assert "mobility" in result.output


def test_check_counts_springs_loads_laws_and_couplings(tmp_path: Path) -> None:
    (tmp_path / "braked.py").write_text(BRAKED)
    lines = [line.split() for line in fmumbs("check", "braked.py").output.splitlines()]
    assert ["springs,", "loads,", "force", "laws", "1,", "0,", "2"] in lines
    assert ["couplings", "1"] in lines
    facts = json.loads(fmumbs("check", "braked.py", "--json").output)
    assert (facts["couplings"], facts["springs"], facts["loads"], facts["laws"]) == (1, 1, 0, 2)


def test_check_as_json() -> None:
    facts = json.loads(fmumbs("check", "arm6", "--json").output)
    assert (facts["bodies"], facts["mobility"], facts["loops"]) == (6, 6, 0)
    assert facts["problems"] == facts["warnings"] == []


def test_check_takes_parameters() -> None:
    facts = json.loads(fmumbs("check", "arm6", "--set", "joints=3", "--json").output)
    assert facts["bodies"] == 3


def test_check_of_a_model_that_does_not_compile_ends_with_1_and_the_reason(tmp_path: Path) -> None:
    (tmp_path / "apart.py").write_text(APART)
    result = fmumbs("check", "apart.py")
    assert result.exit_code == 1
    assert "problem: " in result.output
    assert "'a'" in result.output


# Reactions that are not unique -----------------------------------------------------------------------------


def test_check_prints_which_reactions_are_unique_and_the_fix() -> None:
    result = fmumbs("check", "four_bar")
    assert result.exit_code == 0
    assert "20, 17 of them independent" in result.output
    assert "fix: free joint 'C' of force along y, torque about x, torque about z" in result.output
    assert "make flexible: crank, coupler, rocker" in result.output


def test_check_of_a_large_mechanism_prints_the_first_rows_and_the_number_of_the_others() -> None:
    cut, whole = (fmumbs("check", "rod_loop", *more).output.splitlines() for more in ([], ["--all"]))
    assert len(cut) < 100 < 200 < len(whole)
    assert [line for line in cut if line.startswith("... and")] == [
        "... and 76 more; --all shows them",  # of 100 rods: two chains, 12 levels of each
        "... and 61 more; --all shows them",  # of 101 joints, 40
    ]
    assert not any("more" in line for line in whole)
    assert sum("revolute" in line for line in whole) == 100


def test_check_as_json_has_the_rank_and_every_joint() -> None:
    facts = json.loads(fmumbs("check", "four_bar", "--json").output)
    assert (facts["rows"], facts["rank"], facts["redundant"], facts["mobility"]) == (20, 17, 3, 1)
    assert [joint["joint"] for joint in facts["joints"]] == ["A", "B", "D", "C"]
    for joint in facts["joints"]:
        assert (joint["unique"], joint["indeterminate_dimension"]) == (False, 3)
        assert joint["components_unique"] == [True, False, True, False, True, False]


def test_check_of_a_tree_prints_that_all_is_unique() -> None:
    facts = json.loads(fmumbs("check", "arm6", "--json").output)
    assert (facts["rows"], facts["rank"], facts["redundant"], facts["singular"]) == (30, 30, 0, False)
    assert all(joint["unique"] and all(joint["components_unique"]) for joint in facts["joints"])


@pytest.mark.parametrize(
    ("joints", "unique", "components"),
    [("A,C,E,G", True, False), ("K,M", True, True), ("A,C,E,G,K,M", True, False), ("A", False, False)],
)
def test_check_of_a_set_of_joints(joints: str, unique: bool, components: bool) -> None:
    arguments = ("check", "parallelogram_pendulum", "--set-of", joints)
    found = json.loads(fmumbs(*arguments, "--json").output)["set"]
    assert (found["unique"], found["components_unique"]) == (unique, components)
    assert f"in total {'unique' if unique else 'not unique'}" in fmumbs(*arguments).output


def test_check_of_a_set_with_an_unknown_joint() -> None:
    result = fmumbs("check", "four_bar", "--set-of", "A,E")
    assert result.exit_code == 1
    assert "there is no joint 'E'" in result.output


@pytest.mark.parametrize("tool", ["rank", "qr", "svd", "nullspace"])
def test_check_by_divide_and_conquer_prints_its_steps(tool: str) -> None:
    arguments = ("check", "parallelogram_pendulum", "--tool", tool, "--set-of", "K,M")
    found = json.loads(fmumbs(*arguments, "--json").output)["divide_and_conquer"]
    assert found["tool"] == tool
    assert [(one["rank"], one["size"]) for one in found["connections"]] == [(17, 18)]
    assert [step["step"] for step in found["steps"]] == [1, 2, 3, 4, 5, 6, 7, 6, 7]
    assert found["set"] == {"unique": True, "components_unique": True}
    output = fmumbs(*arguments).output
    assert f"G has rank 17 of 18 ({tool})" in output
    assert "bodies with two joints, one of them known" in output


FOLDED = """
import fmumbs as fm

def build():
    model = fm.Model("folded")
    a, b, c = (fm.Body.rod(n, length=l, mass=1.0, radius=0.01) for n, l in (("a", 1.0), ("b", 2.0), ("c", 1.0)))
    model.add(a, b, c, fm.Revolute("A", model.ground.at(), a.base, axis="y"))
    model.add(fm.Revolute("B", a.tip, b.base, axis="y"), fm.Revolute("D", model.ground.at(2, 0, 0), c.base, axis="y"))
    model.add(fm.Revolute("C", b.tip, c.tip, axis="y"))
    return model
"""


def test_check_of_a_singular_start_prints_the_drop_of_rank(tmp_path: Path) -> None:
    (tmp_path / "folded.py").write_text(FOLDED)
    result = fmumbs("check", "folded.py", "--json")
    facts = json.loads(result.output)
    assert result.exit_code == 1
    assert (facts["singular"], facts["rank"], set(facts["rank_nearby"])) == (True, 16, {17})
    assert "the loops are singular at the start" in facts["problems"][0]


# Statics ---------------------------------------------------------------------------------------------------


def test_check_tells_the_equilibrium_when_asked() -> None:
    result = fmumbs("check", "cantilever", "--statics", "--set", "elements=2")
    assert result.exit_code == 0
    assert "stable equilibrium, lowest frequency" in result.output
    assert "strip_e1.q[1] = " in result.output
    facts = json.loads(fmumbs("check", "four_bar", "--statics", "--json").output)["equilibrium"]
    assert facts["verdict"] == "unstable"
    assert facts["growth"] == pytest.approx((-facts["squares"][0][0]) ** 0.5)
    facts = json.loads(fmumbs("check", "gantry", "--statics", "--json").output)
    assert facts["equilibrium"]["stable"]
    assert len(facts["equilibrium"]["frequencies"]) == 2


def test_check_warns_where_there_is_no_equilibrium() -> None:
    result = fmumbs("check", "bennett", "--statics")
    assert result.exit_code == 0
    assert "warning: Model 'bennett': the equilibrium is indifferent" in result.output


def test_flexible_links_are_named_as_they_were_given() -> None:
    """Not their elements; a link that bends in one plane lacks the other."""
    text = fmumbs("check", "flexible_four_bar").output
    assert "or make flexible: crank, coupler (plane=None), rocker;" in text
    assert "joints that constrain nothing" in text


def test_a_number_with_underscores_is_refused() -> None:
    result = fmumbs("check", "pendulum", "--set", "length=1_000")
    assert result.exit_code == 1
    assert "is '1_000', which is not a number" in result.output
