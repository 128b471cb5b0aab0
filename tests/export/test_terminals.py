"""Terminals of an FMU are the flanges of its joints: their members are variables of the description."""

from pathlib import Path
from typing import Any
from zipfile import ZipFile

import fmpy
import pytest
from fmpy.validation import validate_fmu
from lxml import etree

import fmumbs as fm
from fmumbs.readers import model_names, read_model
from support.slave import hinged_rod
from support.sweeps import first

FILE = "terminalsAndIcons/terminalsAndIcons.xml"
SCHEMA = Path(fmpy.__file__).parent / "schema" / "fmi3" / "fmi3TerminalsAndIcons.xsd"
FIRST = ("manipulator5", "heavy_top", "skate", "crane", "four_bar")
CHOSEN = (*FIRST, *(name for name in model_names() if name not in FIRST))
UNITS = {"phi": ("rad", "N.m"), "s": ("m", "N")}
Members = dict[str, list[tuple[str, str, str]]]


def read(path: Path) -> tuple[bool, Members, Any]:
    """Whether the FMU has the file, member, kind and variable by terminal, and FMPy's description."""
    description = fmpy.read_model_description(str(path))
    with ZipFile(path) as archive:
        if FILE not in archive.namelist():
            return False, {}, description
        root = etree.fromstring(archive.read(FILE))
    schema = etree.XMLSchema(file=str(SCHEMA))
    assert schema.validate(root), schema.error_log
    found = {
        one.get("name"): [(m.get("memberName"), m.get("variableKind"), m.get("variableName")) for m in one]
        for one in root.iter("Terminal")
    }
    assert len(found) == len(list(root.iter("Terminal")))
    assert all(one.get("matchingRule") == "plug" for one in root.iter("Terminal"))
    return True, found, description


@pytest.mark.parametrize("name", first(5, CHOSEN))
def test_flanges_are_a_position_and_the_force_that_acts_on_it(name: str, tmp_path: Path) -> None:
    model, per_version = read_model(name), []
    for fmi in (2, 3):
        path = fm.export_fmu(model, tmp_path / f"{fmi}.fmu", fmi=fmi, all_variables=True)
        assert validate_fmu(str(path)) == []
        exists, found, description = read(path)
        assert exists == bool(found)
        variables = {v.name: v for v in description.modelVariables}
        for position, effort in found.values():
            assert (position[1], effort[1]) == ("signal", "inflow")
            assert (variables[position[2]].causality, variables[effort[2]].causality) == ("output", "input")
            assert (variables[position[2]].unit, variables[effort[2]].unit) == UNITS[position[0]]
            assert position[2].replace(".q", ".tau") == effort[2] or position[2].replace(".q", ".f") == effort[2]
        per_version.append(found)
    assert per_version[0] == per_version[1]


def test_terminals_are_named_after_joints_and_modes(tmp_path: Path) -> None:
    names = {
        name: list(read(fm.export_fmu(read_model(name), tmp_path / f"{name}.fmu", all_variables=True))[1])
        for name in ("manipulator5", "heavy_top", "skate", "crane")
    }
    assert names["manipulator5"] == ["turret", "shoulder", "elbow", "reach", "lift"]
    assert names["heavy_top"] == []  # a quaternion
    assert names["skate"] == []  # three positions, two modes
    assert names["crane"][:2] == ["feet_base[1]", "feet_base[2]"]


def test_what_drives_the_mechanism_flows_in(tmp_path: Path) -> None:
    path = fm.export_fmu(hinged_rod(), tmp_path / "r.fmu")
    ((_, position), (_, effort)) = [(m, v) for m, _, v in next(iter(read(path)[1].values()))]
    ends = [
        fmpy.simulate_fmu(str(path), stop_time=0.1, start_values={effort: torque}, output=[position])[position][-1]
        for torque in (-5.0, 5.0)
    ]
    assert ends[0] < ends[1]


def test_declared_variables_are_members_under_their_names(tmp_path: Path) -> None:
    model = hinged_rod()
    model.input("torque", to="A.tau")
    model.output("angle", of="A.q")
    assert read(fm.export_fmu(model, tmp_path / "a.fmu", fmi=3))[1] == {
        "A": [("phi", "signal", "angle"), ("tau", "inflow", "torque")]
    }
    only = hinged_rod()
    only.output("angle", of="A.q")
    assert not read(fm.export_fmu(only, tmp_path / "b.fmu"))[0]


def test_flat_names_and_inverse_dynamics_have_terminals(tmp_path: Path) -> None:
    flat = fm.export_fmu(hinged_rod(), tmp_path / "f.fmu", naming="flat")
    assert read(flat)[1] == {"A": [("phi", "signal", "A_q"), ("tau", "inflow", "A_tau")]}
    inverse = fm.export_fmu(hinged_rod(), tmp_path / "i.fmu", inverse=True)
    _, found, description = read(inverse)
    causality = {v.name: v.causality for v in description.modelVariables}
    assert [causality[name] for _, _, name in found["A"]] == ["input", "output"]
