"""FMUs of FMI 3.0 say and do what those of FMI 2.0 do; what they have in addition."""

from itertools import pairwise
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import fmpy
import numpy as np
import pytest
from fmpy.validation import validate_fmu
from lxml import etree

import fmumbs as fm
from fmumbs.export.fmi3 import PLATFORMS
from fmumbs.export.installed import installed_binaries
from fmumbs.play import Options, run_fmu
from fmumbs.play.fmu import Fmu
from fmumbs.readers import model_names, read_model
from support.slave import hinged_rod
from support.sweeps import first

SAME = ("name", "valueReference", "description", "causality", "variability", "initial", "unit", "start", "min", "max")
FIRST = ("four_bar", "braked_rotor", "crane", "manipulator5", "skate", "engine", "governor", "heavy_top")
CHOSEN = (*FIRST, *(name for name in model_names() if name not in FIRST))
TYPES = {"Float64": "Real", "Int32": "Integer", "Boolean": "Boolean"}


class Pair:
    """A model as FMUs of both versions, and FMPy's descriptions of them."""

    def __init__(self, name: str, folder: Path, **options: Any) -> None:
        model = read_model(name)
        self.paths = [fm.export_fmu(model, folder / f"{n}.fmu", fmi=n, all_variables=True, **options) for n in (2, 3)]
        self.two, self.three = (fmpy.read_model_description(str(path)) for path in self.paths)


@pytest.fixture(params=first(8, CHOSEN), scope="module")
def pair(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Pair:
    return Pair(request.param, tmp_path_factory.mktemp("pair"))


def stopped_rod() -> fm.Model:
    """A rod that swings against a stop."""
    model = hinged_rod("stopped_rod")
    model.add(fm.Stop("end", next(iter(model.joints)), upper=1.0, stiffness=1e3))
    return model


def _added(system: fm.System, path: Path) -> fm.System:
    system.add("r", path)
    return system


def _unknowns(found: Any, without: set[str]) -> list[tuple[str, set[str] | None]]:
    return [
        (one.variable.name, None if one.dependencies is None else {v.name for v in one.dependencies} - without)
        for one in found
    ]


def test_both_versions_describe_the_same_variables(pair: Pair) -> None:
    marks = [one.variable.name for one in pair.three.eventIndicators]
    assert len(marks) == pair.two.numberOfEventIndicators
    others = [v for v in pair.three.modelVariables if v.name not in marks]
    assert len(others) == len(pair.two.modelVariables)
    for a, b in zip(pair.two.modelVariables, others, strict=True):
        assert a.type == TYPES[b.type]
        assert [getattr(a, what) for what in SAME] == [getattr(b, what) for what in SAME]
        assert (a.derivative and a.derivative.name) == (b.derivative and b.derivative.name)
        assert (a.declaredType and a.declaredType.name) == (b.declaredType and b.declaredType.name)
        assert a.nominal == b.nominal
    parameters = {v.name for v in pair.three.modelVariables if v.variability == "tunable"}
    for what in ("outputs", "derivatives", "initialUnknowns"):
        more = {"time"} if what == "initialUnknowns" else {"time", *parameters}
        two, three = _unknowns(getattr(pair.two, what), set()), _unknowns(getattr(pair.three, what), more)
        assert [name for name, _ in two] == [name for name, _ in three]
        everything = set().union(*(known for _, known in three if known))
        for (name, known), (_, listed) in zip(two, three, strict=True):
            assert listed == known or (known is None and listed == everything), name  # long lists are left out
    units = [
        [(u.name, repr(u.baseUnit), [(d.name, d.factor) for d in u.displayUnits]) for u in one.unitDefinitions]
        for one in (pair.two, pair.three)
    ]
    assert units[0] == units[1] and units[0]
    for what in ("startTime", "stopTime", "tolerance", "stepSize"):
        assert getattr(pair.two.defaultExperiment, what) == getattr(pair.three.defaultExperiment, what)


def test_descriptions_are_valid_and_the_time_is_a_known_where_paths_are_followed(pair: Pair) -> None:
    assert validate_fmu(str(pair.paths[1])) == []
    with ZipFile(pair.paths[1]) as archive:
        names = archive.namelist()
        roots = [
            etree.fromstring(archive.read(name)) for name in ("modelDescription.xml", "sources/buildDescription.xml")
        ]
    for root, file in zip(roots, ("fmi3ModelDescription.xsd", "fmi3BuildDescription.xsd"), strict=True):
        schema = etree.XMLSchema(file=str(Path(fmpy.__file__).parent / "schema" / "fmi3" / file))
        assert schema.validate(root), schema.error_log
    files = [one.get("name") for one in roots[1].iter("SourceFile")]
    assert files == [f"{pair.three.modelName}.c"] and {f"sources/{name}" for name in files} < set(names)
    listed = [
        one.dependencies for one in (*pair.three.outputs, *pair.three.derivatives) if one.dependencies is not None
    ]
    image = fm.compile(read_model(pair.three.modelName))
    timed = [any(v.name == "time" for v in one) for one in listed]
    assert all(timed) if image.sizes["excitations"] else not any(timed)
    assert "terminalsAndIcons/icon.png" in names and "model.png" not in names


def test_both_versions_move_by_the_same_bits(pair: Pair) -> None:
    runs = []
    for path in pair.paths:
        with Fmu(path) as fmu, fmu.started(fmu.excitation()) as one:
            one.step(fmu.interval, 10)
            values = dict(zip((fmu.names[r] for r in fmu.readable), one.reals(fmu.readable), strict=True))
            runs.append(values)
    assert {name: value.hex() for name, value in runs[0].items()} == {n: runs[1][n].hex() for n in runs[0]}


def test_the_host_of_either_version_integrates_alike(pair: Pair) -> None:
    ends = []
    for path in pair.paths:
        with Fmu(path, exchange=True) as fmu, fmu.started(fmu.excitation()) as one:
            one.step(fmu.interval, 10)
            ends.append(dict(zip((fmu.names[r] for r in fmu.outputs), one.reals(fmu.outputs), strict=True)))
    assert ends[0] == ends[1]


def test_fmpy_simulates_it_by_both_kinds(tmp_path: Path) -> None:
    path = fm.export_fmu(read_model("double_pendulum"), tmp_path / "d.fmu", fmi=3)
    solver = fm.Solver(read_model("double_pendulum"))
    solver.assemble()
    solver.step(1.0)
    for kind in ("CoSimulation", "ModelExchange"):
        found = fmpy.simulate_fmu(
            str(path), fmi_type=kind, stop_time=1.0, output_interval=0.1, relative_tolerance=1e-9, output=["A.q", "B.q"]
        )
        for name in ("A.q", "B.q"):
            assert found[name][-1] == pytest.approx(solver.get(name), rel=1e-4)


def test_folders_of_binaries_are_those_of_fmi_3(tmp_path: Path) -> None:
    path = fm.export_fmu(hinged_rod(), tmp_path / "r.fmu", fmi=3)
    with ZipFile(path) as archive:
        folders = {name.split("/")[1] for name in archive.namelist() if name.startswith("binaries/")}
    assert folders == {
        one for name in installed_binaries() if name != "wasm32-wasi" for one in PLATFORMS.get(name, (name,))
    }
    assert "linux64" not in folders and {"x86_64-linux", "aarch64-linux"} & folders


def test_one_kind_alone_has_the_time_and_only_what_it_needs(tmp_path: Path) -> None:
    names = {}
    for kind in ("cs", "me"):
        path = fm.export_fmu(stopped_rod(), tmp_path / f"{kind}.fmu", fmi=3, kind=kind)
        description = fmpy.read_model_description(str(path))
        assert validate_fmu(str(path)) == []
        assert (description.coSimulation is None, description.modelExchange is None) == (kind == "me", kind == "cs")
        names[kind] = {v.name for v in description.modelVariables}
        assert [v.name for v in description.modelVariables if v.causality == "independent"] == ["time"]
    assert names["cs"] < names["me"]
    assert "end.indicator" in names["me"] - names["cs"]


def test_inverse_dynamics_is_exported_in_fmi_3(tmp_path: Path) -> None:
    ends = []
    for fmi in (2, 3):
        path = fm.export_fmu(read_model("arm6"), tmp_path / f"{fmi}.fmu", fmi=fmi, inverse=True)
        assert validate_fmu(str(path)) == []
        with Fmu(path) as fmu, fmu.started(fmu.excitation()) as one:
            ends.append({fmu.names[r]: v for r, v in zip(fmu.outputs, one.reals(fmu.outputs), strict=True)})
    assert ends[0] == ends[1] and any(np.abs(list(ends[0].values())) > 0.0)


def test_flat_names_hold_for_all_variables(tmp_path: Path) -> None:
    path = fm.export_fmu(read_model("braked_rotor"), tmp_path / "b.fmu", fmi=3, naming="flat")
    names = [v.name for v in fmpy.read_model_description(str(path)).modelVariables]
    assert not any(set(name) & set(".[]()") for name in names)
    with Fmu(path) as fmu, fmu.started() as one:
        one.step(fmu.interval)
        assert "shaft_q" in fmu.variables and fmu.reference("shaft.q") == fmu.reference("shaft_q")


@pytest.mark.parametrize("fmi", [1, 4, "3", 2.0, True, None])
def test_other_versions_are_refused(tmp_path: Path, fmi: Any) -> None:
    with pytest.raises(fm.ExportError, match="Give the version 2 or 3"):
        fm.export_fmu(hinged_rod(), tmp_path / "r.fmu", fmi=fmi)
    assert not list(tmp_path.iterdir())


def test_what_fmi_3_does_not_serve_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(fm.ExportError, match=r"'pythonfmu' makes FMUs of FMI 2\.0 only"):
        fm.export_fmu(hinged_rod(), tmp_path / "r.fmu", fmi=3, backend="pythonfmu")
    model = hinged_rod()
    model.output("time", of="A.q")
    with pytest.raises(fm.ExportError, match=r"'time' is also the name of the time, as FMI 3\.0 needs it"):
        fm.export_fmu(model, tmp_path / "r.fmu", fmi=3, kind="cs")
    fm.export_fmu(model, tmp_path / "r.fmu", kind="cs")
    fm.export_fmu(hinged_rod(), tmp_path / "r.fmu", fmi=3, arrays=True)
    with pytest.raises(fm.ExportError, match=r"has arrays, which systems cannot connect. Export it without --arrays"):
        _added(fm.System("s", stop=1.0, step=0.1), tmp_path / "r.fmu").check()


def test_inputs_are_held_over_a_step_and_the_run_says_so(tmp_path: Path) -> None:
    path = fm.export_fmu(hinged_rod(), tmp_path / "r.fmu", fmi=3)
    (tmp_path / "in.csv").write_text("time,A.tau\n0,0\n1,1\n")
    with pytest.warns(Warning, match=r"cannot interpolate inputs \(FMI 3\.0 has no derivatives of inputs\)"):
        result = run_fmu(path, Options(stop=1.0, interval=0.1, inputs=tmp_path / "in.csv"))
    solver = fm.Solver(hinged_rod())
    solver.assemble()
    for begin, end in pairwise(result.time):
        solver.set("A.tau", begin)
        solver.step(end)
    assert result["A.q"][-1] == pytest.approx(solver.get("A.q"), rel=1e-9)
