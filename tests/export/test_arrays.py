"""Vectors as arrays of FMI 3.0: the same variables, numbers and columns, and what the functions take."""

from ctypes import byref, c_double, c_int32, c_size_t, c_uint32
from pathlib import Path
from typing import Any

import fmpy
import numpy as np
import pytest
from fmpy.validation import validate_fmu

import fmumbs as fm
from fmumbs.cli.inspection import fmu_info
from fmumbs.export.structure import Structure, Unknown
from fmumbs.play import Options, run_fmu
from fmumbs.play.fmu import Fmu
from fmumbs.readers import model_names, read_model
from fmumbs.verify import verify_fmu
from support.slave import hinged_rod
from support.sweeps import first

FIRST = ("heavy_top", "four_bar", "crane", "skate")
CHOSEN = (*FIRST, *(name for name in model_names() if name not in FIRST))


class Both:
    """A model as FMUs without and with arrays."""

    def __init__(self, model: fm.Model, folder: Path, **options: Any) -> None:
        self.paths = [
            fm.export_fmu(model, folder / f"{n}.fmu", fmi=3, arrays=n == 1, all_variables=True, **options)
            for n in (0, 1)
        ]


@pytest.fixture(params=first(4, CHOSEN), scope="module")
def both(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Both:
    return Both(read_model(request.param), tmp_path_factory.mktemp("both"))


def pushed_rod() -> fm.Model:
    """A rod with a load at its tip."""
    model = hinged_rod("pushed_rod")
    model.add(fm.Load("push", next(iter(model.bodies)).tip))
    return model


@pytest.fixture(scope="module")
def pushed(tmp_path_factory: pytest.TempPathFactory) -> Both:
    return Both(pushed_rod(), tmp_path_factory.mktemp("pushed"))


def elements(path: Path) -> dict[str, dict[str, Any]]:
    """What FMPy reads of each variable, with arrays by their elements, which are counted here."""
    found = {}
    for v in fmpy.read_model_description(str(path)).modelVariables:
        length = int(v.dimensions[0].start) if v.dimensions else 0
        starts = v.start.split() if length and v.start else [v.start] * max(length, 1)
        for i, start in enumerate(starts):
            derivative = v.derivative and v.derivative.name + (f"[{i + 1}]" if length else "")
            what = (v.type, v.causality, v.variability, v.initial, v.unit, v.nominal, v.description.split(";")[0])
            found[f"{v.name}[{i + 1}]" if length else v.name] = (
                v.valueReference + (i if length else 0), start, derivative, *what,
            )  # fmt: skip
    return found


def test_arrays_are_the_vectors_of_the_scalars(both: Both) -> None:
    assert validate_fmu(str(both.paths[1])) == []
    assert elements(both.paths[0]) == elements(both.paths[1])
    variables = {v.name: v for v in fmpy.read_model_description(str(both.paths[1])).modelVariables}
    lengths = {name: int(v.dimensions[0].start) for name, v in variables.items() if v.dimensions}
    assert lengths["gravity"] == 3
    assert {n for name, n in lengths.items() if name.endswith(".quat")} == {4}
    assert {n for name, n in lengths.items() if name.endswith((".reaction.f", ".reaction_unique.t"))} == {3}
    assert not [name for name in variables if name.endswith(("quat[1]", "reaction.f[1]"))]


def test_states_stay_scalars(both: Both) -> None:
    description = fmpy.read_model_description(str(both.paths[1]))
    assert not any(u.variable.dimensions or u.variable.derivative.dimensions for u in description.derivatives)


def test_an_array_depends_on_what_its_elements_do(both: Both) -> None:
    scalar, array = (fmpy.read_model_description(str(path)) for path in both.paths)
    for what in ("outputs", "derivatives", "initialUnknowns"):
        wanted: dict[str, set[str] | None] = {}
        for one in getattr(scalar, what):
            known = None if one.dependencies is None else {v.name.split("[")[0] for v in one.dependencies}
            name = one.variable.name.split("[")[0]
            before = wanted.get(name, set())
            wanted[name] = None if known is None or before is None else before | known
        found = {}
        for one in getattr(array, what):
            known = None if one.dependencies is None else {v.name.split("[")[0] for v in one.dependencies}
            name = one.variable.name.split("[")[0]
            before = found.get(name, set())
            found[name] = None if known is None or before is None else before | known
        assert found == wanted


def test_elements_of_one_array_may_depend_on_different_variables() -> None:
    unknowns = [Unknown(0, (9,)), Unknown(1, (4, 5)), Unknown(2, None), Unknown(3, (7,)), Unknown(8, (5, 9))]
    found = Structure(unknowns, [], []).of_arrays({0: 0, 1: 0, 2: 2, 3: 2, 4: 4, 5: 4})
    assert found.outputs == [Unknown(0, (4, 9)), Unknown(2, None), Unknown(8, (4, 9))]
    assert Structure(unknowns[3:1:-1], [], []).of_arrays({2: 2, 3: 2}).outputs == [Unknown(2, None)]


def test_arrays_are_derivatives_of_arrays_in_co_simulation(tmp_path: Path) -> None:
    both = Both(read_model("double_pendulum"), tmp_path, kind="cs")
    assert elements(both.paths[0]) == elements(both.paths[1])
    variables = fmpy.read_model_description(str(both.paths[1])).modelVariables
    assert any(v.dimensions and v.derivative for v in variables)
    assert validate_fmu(str(both.paths[1])) == []


def test_columns_of_a_run_are_the_same_bits(both: Both) -> None:
    results = [run_fmu(path, Options(stop=0.05, interval=0.01)) for path in both.paths]
    assert results[0].names == results[1].names
    assert all(np.array_equal(results[0][name], results[1][name]) for name in results[0].names)


def test_verify_finds_nothing(pushed: Both) -> None:
    assert verify_fmu(pushed.paths[1]) == []


def test_elements_are_set_one_by_one_and_read_together(pushed: Both) -> None:
    values = []
    for path in pushed.paths:
        with Fmu(path) as fmu, fmu.instance() as one:
            one.begin()
            one.set({fmu.reference("gravity[3]"): -1.0, fmu.reference("push.force[1]"): 2.0})
            one.slave.exitInitializationMode()
            one.set({fmu.reference("push.force[3]"): 3.0})
            state = one.slave.getFMUstate()
            one.step(0.1)
            one.set({fmu.reference("push.force[1]"): 9.0})
            one.slave.setFMUstate(state)
            one.set({fmu.reference("push.force[2]"): 1.0})
            names = [f"{n}[{i}]" for n in ("gravity", "push.force") for i in (3, 1, 2)]
            references = [fmu.reference(name) for name in names]
            found = one.reals(references).tolist()
            assert found == one.reader(references, [])().tolist() == [-1.0, 0.0, 0.0, 3.0, 2.0, 1.0]
            values.append(one.everything().tolist())
            one.slave.reset()
            one.start({fmu.reference("push.force[2]"): 4.0})
            assert one.reals(references).tolist() == [-9.81, 0.0, 0.0, 0.0, 0.0, 4.0]
    assert values[0] == values[1]


def test_derivatives_are_those_of_the_scalars(pushed: Both) -> None:
    found = []
    for path in pushed.paths:
        with Fmu(path) as fmu, fmu.started(fmu.excitation()) as one:
            one.step(0.01, 3)
            knowns = [fmu.reference(name) for name in ("push.force[3]", "A.tau", "push.torque[2]")]
            jacobian = one.slave.getDirectionalDerivative(fmu.outputs, knowns, [1.0, 2.0, 3.0])
            found.append((jacobian, one.output_derivatives(fmu.outputs).tolist()))
    assert found[0] == found[1] and any(found[0][0]) and any(found[0][1])


def call(one: Any, name: str, references: list[int], count: int) -> int:
    """The status of a Float64 function with `count` values."""
    values = (c_double * max(count, 1))()
    n = len(references)
    function = getattr(one.slave.dll, name)
    return int(function(one.slave.component, (c_uint32 * n)(*references), n, values, c_size_t(count)))


def test_numbers_of_values_are_those_of_elements(pushed: Both) -> None:
    with Fmu(pushed.paths[1]) as fmu, fmu.started() as one:
        force, tau = fmu.reference("push.force[1]"), fmu.reference("A.tau")
        for name in ("fmi3GetFloat64", "fmi3SetFloat64"):
            assert call(one, name, [force, tau, force], 7) == 0
            for count in (0, 2, 3, 6, 8):
                assert call(one, name, [force, tau, force], count) == 3
                assert f"{count} values are given for 7 elements" in one.last_message
            assert call(one, name, [force + 1], 1) == 3
            assert f"value reference {force + 1} does not exist; it is within an array" in one.last_message
        many = [force] * len(fmu.variables)
        assert call(one, "fmi3GetFloat64", many, 3 * len(many)) == 3 and "ask for each once" in one.last_message
        values, order = (c_double * 4)(), c_int32(1)
        reaction = fmu.reference("A.reaction.f[1]")
        get = one.slave.dll.fmi3GetOutputDerivatives
        assert get(one.slave.component, byref(c_uint32(reaction)), 1, byref(order), values, c_size_t(4)) == 3
        assert get(one.slave.component, byref(c_uint32(reaction)), 1, byref(order), values, c_size_t(3)) == 0


def test_a_token_tells_arrays_from_scalars(pushed: Both, tmp_path: Path) -> None:
    with Fmu(pushed.paths[0]) as fmu, fmu.started() as one:
        assert call(one, "fmi3GetFloat64", [fmu.reference("push.force[1]")], 3) == 3
        assert "3 values are given for 1 variables, which are scalars" in one.last_message
    two = fm.export_fmu(pushed_rod(), tmp_path / "two.fmu")
    with Fmu(two) as fmu:
        fmu.description.guid += "/arrays"
        with pytest.raises(fm.ExportError, match="is not that of the model"), fmu.instance():
            pass


def test_only_whole_vectors_of_one_name_are_arrays(tmp_path: Path) -> None:
    model = pushed_rod()
    model.input("force", to="push.force")
    model.output("fx", of="A.reaction.f[1]")
    for i, name in enumerate("uvw"):
        model.output(name, of=f"A.reaction.t[{i + 1}]")
    model.output("angle", of="A.q")
    path = fm.export_fmu(model, tmp_path / "d.fmu", fmi=3, arrays=True)
    shapes = {v.name: len(v.dimensions) for v in fmpy.read_model_description(str(path)).modelVariables}
    assert {name: shapes[name] for name in ("force", "fx", "u", "v", "w", "angle")} == {
        "force": 1, "fx": 0, "u": 0, "v": 0, "w": 0, "angle": 0,
    }  # fmt: skip
    assert validate_fmu(str(path)) == []
    assert run_fmu(path, Options(stop=0.1)).names


def test_inverse_dynamics_has_arrays_too(tmp_path: Path) -> None:
    both, ends = Both(read_model("heavy_top"), tmp_path, inverse=True), []
    assert validate_fmu(str(both.paths[1])) == []
    for path in both.paths:
        with Fmu(path) as fmu, fmu.started(fmu.excitation()) as one:
            one.step(fmu.interval)
            ends.append(dict(zip((fmu.names[r] for r in fmu.outputs), one.reals(fmu.outputs).tolist(), strict=True)))
    assert ends[0] == ends[1] and any(ends[0].values())


def test_info_lists_elements(pushed: Both) -> None:
    scalar, array = (fmu_info(path)["variables"] for path in pushed.paths)
    for a, b in zip(scalar, array, strict=True):
        assert {**a, "description": a["description"].split(";")[0]} == {
            **b, "description": b["description"].split(";")[0],
        }  # fmt: skip


@pytest.mark.parametrize(("options", "text"), [({"fmi": 2}, "FMI 2.0 has no arrays"), ({"naming": "flat"}, "'flat'")])
def test_arrays_are_refused_where_there_are_none(options: dict[str, Any], text: str, tmp_path: Path) -> None:
    with pytest.raises(fm.ExportError, match=text):
        fm.export_fmu(hinged_rod(), tmp_path / "r.fmu", **{"fmi": 3, "arrays": True, **options})
