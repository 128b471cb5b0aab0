"""Flat names: unique, of letters, digits and _, and known to all commands beside the structured ones."""

import re
import zipfile
from pathlib import Path

import pytest
from fmpy.model_description import read_model_description
from fmpy.validation import validate_fmu
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

import fmumbs as fm
from fmumbs import play
from fmumbs._naming import flat_names
from fmumbs.compiler import ModelImage
from fmumbs.export import export_fmu
from fmumbs.system.interface import read_interface
from fmumbs.verify import verify_fmu
from support.commands import fmumbs
from support.strategies import EVERY, Case, trees

PART = st.from_regex(r"[A-Za-z_][a_]{0,3}(\[[1-3]\])?", fullmatch=True)
NAMES = st.lists(st.lists(PART, min_size=1, max_size=3).map(".".join), min_size=1, max_size=30, unique=True)


@given(NAMES)
@settings(max_examples=300)
def test_flat_names_differ(names: list[str]) -> None:
    if any(re.search(r"_\.|\._", name) for name in names):
        return  # an underscore beside a dot, which no separator makes clear
    flat = flat_names(names)
    assert len(set(flat)) == len(names)
    assert all(re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII) for name in flat)
    letters = [re.sub(r"[\W_]", "", name) for name in names]
    assert [name.replace("_", "") for name in flat] == letters


@pytest.mark.parametrize(
    ("names", "flat"),
    [
        (["A.q", "S.w[2]", "A.reaction.f[1]", "tip"], ["A_q", "S_w_2", "A_reaction_f_1", "tip"]),
        (["a.b_q", "a_b.q"], ["a__b_q", "a_b__q"]),
        (["a__b_q", "a_b.q", "a.b_q"], ["a__b_q", "a_b___q", "a___b_q"]),
    ],
)
def test_a_longer_separator_keeps_names_apart(names: list[str], flat: list[str]) -> None:
    assert flat_names(names) == flat


def test_names_that_no_separator_keeps_apart_are_refused() -> None:
    with pytest.raises(fm.ExportError, match=r"'a_\.b' and 'a\._b' have the same flat name"):
        flat_names(["c", "a_.b", "a._b"])


def described(path: Path) -> list[dict[str, str]]:
    with zipfile.ZipFile(path) as archive:
        root = etree.fromstring(archive.read("modelDescription.xml"))
    return [dict(root.attrib), *(dict(v.attrib) for v in root.iterfind("ModelVariables/ScalarVariable"))]


def test_every_shipped_mechanism_exports_flat_names(image: ModelImage, tmp_path: Path) -> None:
    path = export_fmu(image, tmp_path / "a.fmu", kind="cs", naming="flat", all_variables=True)
    about, *variables = described(path)
    assert about["variableNamingConvention"] == "flat"
    names = [v.name for v in image.variables]
    assert [v["name"] for v in variables] == [re.sub(r"[.\[]", "_", name.replace("]", "")) for name in names]
    root = described(export_fmu(image, tmp_path / "b.fmu", kind="cs", all_variables=True))
    assert [{**v, "name": ""} for v in variables] == [{**v, "name": ""} for v in root[1:]]
    read_model_description(str(path), validate=True, validate_variable_names=True, validate_model_structure=True)


@given(trees(max_bodies=5, kinds=EVERY))
@settings(max_examples=4)
def test_random_mechanisms_with_flat_names_are_verified(tmp_path_factory: pytest.TempPathFactory, case: Case) -> None:
    path = export_fmu(case.model, tmp_path_factory.mktemp("flat") / "a.fmu", naming="flat", all_variables=True)
    assert verify_fmu(path) == []
    assert validate_fmu(str(path)) == []


def test_a_flat_fmu_runs_as_the_structured_one_by_either_name(pendulum: ModelImage, tmp_path: Path) -> None:
    both = {name: export_fmu(pendulum, tmp_path / f"{name}.fmu", naming=name) for name in ("structured", "flat")}
    options = play.Options(stop=0.1, run={"scheme": "rk4", "step": 1e-3})
    wanted = play.run_fmu(both["structured"], options, {"A.q": 0.4})
    for name in ("A.q", "A_q"):
        found = play.run_fmu(both["flat"], options, {name: 0.4})
        assert found.names == flat_names(wanted.names)
        assert all((found[a] == wanted[b]).all() for a, b in zip(found.names, wanted.names, strict=True))
    with pytest.raises(fm.SolverError, match="The nearest name is 'A_q'"):
        play.run_fmu(both["flat"], options, {"A_qx": 0.4})


def test_the_command_line_knows_both_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert fmumbs("export", "double_pendulum", "--naming", "flat", "-o", "flat.fmu").exit_code == 0
    assert fmumbs("export", "double_pendulum", "-o", "own.fmu").exit_code == 0
    runs = {"own": ("own.fmu", "A.tau"), "one": ("flat.fmu", "A_tau"), "two": ("flat.fmu", "A.tau")}
    for name, (target, variable) in runs.items():
        (tmp_path / "in.csv").write_text(f"time,{variable}\n0,0\n0.1,0.2\n")
        done = fmumbs("run", target, "--stop", "0.1", "--scheme", "auto", "--input", "in.csv", "--out", f"{name}.csv")
        assert done.exit_code == 0, done.output
        assert "auto took radau" in done.output
    own, one, two = ((tmp_path / f"{name}.csv").read_text().partition("\n") for name in ("own", "one", "two"))
    assert own[2] == one[2] == two[2]
    assert "A_q" in one[0]
    assert fmumbs("verify", "flat.fmu", "--against", "double_pendulum").exit_code == 0
    assert "A_reaction_f_1" in fmumbs("info", "flat.fmu").output
    refused = fmumbs("export", "double_pendulum", "--naming", "buses")
    assert refused.exit_code == 2
    assert "structured" in refused.output


def test_the_interface_for_systems_has_the_flat_names(pendulum: ModelImage, tmp_path: Path) -> None:
    interface = read_interface(export_fmu(pendulum, tmp_path / "a.fmu", naming="flat"))
    assert interface.named("input") == flat_names([v.name for v in pendulum.variables if v.causality == "input"])


def test_an_unknown_convention_is_refused(pendulum: ModelImage, tmp_path: Path) -> None:
    with pytest.raises(fm.ExportError, match=r"naming 'bus' is unknown\. Choose one of: structured, flat\."):
        export_fmu(pendulum, tmp_path / "a.fmu", naming="bus")


def test_pythonfmu_has_flat_names_too(tmp_path: Path, pendulum: ModelImage) -> None:
    path = export_fmu(pendulum, tmp_path / "a.fmu", naming="flat", backend="pythonfmu")
    assert verify_fmu(path) == []
    assert "A_q" in {v.get("name") for v in described(path)}
