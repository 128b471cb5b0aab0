"""modelDescription.xml has the contents of the image's variable table in the standard's form."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fmpy.model_description import read_model_description
from lxml import etree

import fmumbs as fm
from fmumbs.compiler import ModelImage, compile
from fmumbs.export.fmi2 import fmi2_xml
from fmumbs.export.model_description import SCHEMES, Capabilities, model_description, model_identifier
from fmumbs.export.xml import element


def written(image: ModelImage, **options: Any) -> bytes:
    return fmi2_xml(model_description(image, **options))


def parsed(image: ModelImage, **options: Any) -> Any:
    return etree.fromstring(written(image, **options))


def scalars(root: Any) -> dict[str, Any]:
    return {v.get("name"): v for v in root.iterfind("ModelVariables/ScalarVariable")}


def index(root: Any, name: str) -> str:
    """The 1-based index that the standard counts variables by."""
    return str(1 + list(scalars(root)).index(name))


def unknown(root: Any, part: str, name: str) -> Any:
    number = index(root, name)
    return next(u for u in root.iterfind(f"ModelStructure/{part}/Unknown") if u.get("index") == number)


def test_fmpy_reads_and_validates_it_without_warnings(image: ModelImage, tmp_path: Path) -> None:
    path = tmp_path / "modelDescription.xml"
    path.write_bytes(written(image))
    read_model_description(str(path), validate=True, validate_variable_names=True, validate_model_structure=True)


def test_it_is_the_same_bytes_for_the_same_image(pendulum: ModelImage) -> None:
    assert written(pendulum) == written(ModelImage.load(pendulum.bytes))


def test_text_is_escaped_as_any_reader_of_xml_expects() -> None:
    text = "a<b> & \"c\" 'd'\n\te\r ä λ ]]> &amp; \U0001f600"
    root = etree.fromstring(element(0, "r", {"one": text, "two": "plain"}, element(1, "s", {})))
    assert dict(root.attrib) == {"one": text, "two": "plain"}
    assert [child.tag for child in root] == ["s"]


@pytest.mark.parametrize("character", ["\0", "\x01", "\x0b", "\x1f", "\ud800", "\ufffe", "\uffff"])
def test_a_description_that_xml_cannot_hold_is_refused(character: str) -> None:
    with pytest.raises(fm.ModelError, match=rf"Model 'm': description has the character U\+{ord(character):04X} at 3,"):
        fm.Model("m", description=f"ab{character}c")


def test_it_is_written_as_lxml_writes_it(image: ModelImage) -> None:
    text = written(image, sources=("a.c", "b.c"))
    root = etree.fromstring(text, etree.XMLParser(remove_blank_text=True))
    assert etree.tostring(root, xml_declaration=True, encoding="UTF-8", pretty_print=True) == text


def test_a_value_reference_is_the_place_in_the_table(image: ModelImage) -> None:
    references = [int(v.get("valueReference")) for v in scalars(parsed(image)).values()]
    assert references == list(range(len(image.variables)))


def test_an_angle_is_the_state_of_its_velocity(pendulum: ModelImage) -> None:
    root = parsed(pendulum)
    variables = scalars(root)
    assert variables["A.qd"][0].get("derivative") == index(root, "A.q")
    assert variables["A.qdd"][0].get("derivative") == index(root, "A.qd")
    assert variables["A.q"].get("initial") == "exact"
    assert variables["A.qdd"].get("initial") == "calculated"
    assert variables["A.qdd"][0].get("start") is None


def test_the_derivatives_are_listed_and_each_names_its_state(image: ModelImage) -> None:
    root = parsed(image)
    variables = list(scalars(root).values())
    listed = [variables[int(u.get("index")) - 1] for u in root.iterfind("ModelStructure/Derivatives/Unknown")]
    assert listed == [
        v
        for v in variables
        if (of := v[0].get("derivative")) is not None and variables[int(of) - 1].get("initial") in ("exact", "approx")
    ]


def test_the_outputs_are_all_listed_in_order(image: ModelImage) -> None:
    root = parsed(image)
    listed = [int(u.get("index")) for u in root.iterfind("ModelStructure/Outputs/Unknown")]
    assert listed == [v.index + 1 for v in image.variables if v.causality == "output"]


def test_the_initial_unknowns_are_the_outputs_that_are_computed(image: ModelImage) -> None:
    root = parsed(image)
    listed = [int(u.get("index")) for u in root.iterfind("ModelStructure/InitialUnknowns/Unknown")]
    assert listed == [
        v.index + 1 for v in image.variables if v.causality == "output" and v.initial in ("calculated", "approx")
    ]


def test_a_state_depends_on_itself_alone_and_an_acceleration_on_everything(pendulum: ModelImage) -> None:
    root = parsed(pendulum)
    assert unknown(root, "Outputs", "A.q").get("dependencies") == index(root, "A.q")
    assert unknown(root, "Outputs", "A.qdd").get("dependencies") is None


def test_a_position_depends_on_states_and_on_no_input(pendulum: ModelImage) -> None:
    root = parsed(pendulum)
    states = [index(root, name) for name in ("A.q", "A.qd", "B.q", "B.qd")]
    listed = unknown(root, "Outputs", "lower.r[1]").get("dependencies").split()
    assert listed == sorted(states, key=int)


def test_an_input_has_a_start_value_and_no_initial(image: ModelImage) -> None:
    for variable in scalars(parsed(image)).values():
        if variable.get("causality") == "input":
            assert variable.get("initial") is None
            assert variable[0].get("start") is not None


def test_every_unit_is_defined_and_every_type_carries_its_unit(image: ModelImage) -> None:
    root = parsed(image)
    units = {u.get("name") for u in root.iterfind("UnitDefinitions/Unit")}
    types = {t.get("name"): t[0] for t in root.iterfind("TypeDefinitions/SimpleType")}
    for variable in scalars(root).values():
        value = variable[0]
        assert value.get("unit") is None or value.get("unit") in units
        if value.get("declaredType") is not None:
            assert types[value.get("declaredType")].get("unit") == value.get("unit")


def test_a_choice_among_numbers_has_its_smallest_and_largest(pendulum: ModelImage) -> None:
    found = {name: v[0] for name, v in scalars(parsed(pendulum)).items() if v[0].get("min")}
    assert (found["solver.scheme"].get("min"), found["solver.scheme"].get("max")) == ("0", str(len(SCHEMES) - 1))
    assert all(int(v.get("min")) <= int(v.get("start")) <= int(v.get("max")) for v in found.values())


def test_an_angle_may_be_shown_in_degrees(pendulum: ModelImage) -> None:
    root = parsed(pendulum)
    value = scalars(root)["A.q"][0]
    declared = root.find(f"TypeDefinitions/SimpleType[@name='{value.get('declaredType')}']")
    assert (value.get("unit"), declared[0].get("displayUnit")) == ("rad", "deg")


def test_the_default_experiment_is_the_models(pendulum: ModelImage) -> None:
    experiment = parsed(pendulum).find("DefaultExperiment")
    assert float(experiment.get("stopTime")) == 5.0
    assert float(experiment.get("stepSize")) == 0.01
    assert float(experiment.get("tolerance")) == 1e-6


def test_a_model_that_declares_no_experiment_gets_one() -> None:
    model = fm.Model("plain")
    rod = fm.Body.rod("rod", length=1.0, mass=1.0, radius=0.1)
    model.add(rod, fm.Revolute("A", model.ground.at(0, 0, 0), rod.base, axis="y"))
    experiment = parsed(compile(model)).find("DefaultExperiment")
    assert float(experiment.get("stopTime")) > 0.0
    assert float(experiment.get("stepSize")) > 0.0


@pytest.mark.parametrize("seed", range(5))
def test_starts_and_experiments_are_the_models_numbers_to_the_last_digit(seed: int) -> None:
    rng = np.random.default_rng(seed)
    stop, interval, tolerance = (float(10 ** rng.uniform(low, high)) for low, high in ((0, 1), (-3, -1), (-9, -4)))
    model = fm.Model("random", gravity=rng.normal(size=3))
    end = model.ground.at(*rng.normal(size=3))
    for k in range(3):
        rod = fm.Body.rod(f"rod{k}", length=float(rng.uniform(0.1, 2)), mass=float(rng.uniform(0.1, 2)), radius=0.1)
        model.add(rod, fm.Revolute(f"A{k}", end, rod.base, axis=rng.normal(size=3), q0=rng.normal(), u0=rng.normal()))
        end = rod.tip
    model.experiment(stop=stop, interval=interval, tolerance=tolerance)
    compiled = compile(model)
    root = parsed(compiled)
    found = root.find("DefaultExperiment")
    assert [float(found.get(name)) for name in ("stopTime", "stepSize", "tolerance")] == [stop, interval, tolerance]
    shown = scalars(root)
    for k in range(3):
        joint, rod = model[f"A{k}"], model[f"rod{k}"]
        for name, value in ((f"A{k}.q", joint.q0), (f"A{k}.qd", joint.u0), (f"rod{k}.mass", rod.mass)):
            assert float(shown[name][0].get("start")) == value
    assert [float(shown[f"gravity[{k}]"][0].get("start")) for k in (1, 2, 3)] == list(model.gravity)


def test_declared_variables_alone_are_shown_under_their_names() -> None:
    model = fm.Model("narrow")
    rod = fm.Body.rod("rod", length=1.0, mass=1.0, radius=0.1)
    model.add(rod, fm.Revolute("A", model.ground.at(0, 0, 0), rod.base, axis="y"))
    model.input("torque", to="A.tau")
    model.output("angle", of="A.q")
    model.parameter("weight", of="rod.mass")
    variables = scalars(parsed(compile(model)))
    assert {"torque", "angle", "weight"} <= set(variables)
    assert not {name for name, v in variables.items() if v.get("causality") == "input"} - {"torque"}


def test_the_attributes_claim_exactly_the_binarys_capabilities(pendulum: ModelImage) -> None:
    simulation = parsed(pendulum).find("CoSimulation")
    claimed = {name for name, value in simulation.attrib.items() if value == "true"}
    assert claimed == {
        "canHandleVariableCommunicationStepSize",
        "canInterpolateInputs",
        "canNotUseMemoryManagementFunctions",
        "canGetAndSetFMUstate",
        "canSerializeFMUstate",
        "providesDirectionalDerivative",
    }
    assert simulation.get("maxOutputDerivativeOrder") == "1"


def test_another_back_end_claims_less(pendulum: ModelImage) -> None:
    poor = Capabilities(interpolates_inputs=False, output_derivatives=0, directional_derivatives=False)
    simulation = parsed(pendulum, capabilities=poor).find("CoSimulation")
    assert simulation.get("canInterpolateInputs") == "false"
    assert simulation.get("maxOutputDerivativeOrder") == "0"
    assert simulation.get("providesDirectionalDerivative") == "false"


def test_two_mechanisms_have_two_guids(pendulum: ModelImage) -> None:
    other = pendulum.with_options(tolerance=1e-9)
    assert parsed(other).get("guid") != parsed(pendulum).get("guid")


@pytest.mark.parametrize(("name", "identifier"), [("arm6", "arm6"), ("6_arms", "_6_arms"), ("my-arm", "my_arm")])
def test_the_binary_is_called_by_a_c_identifier(name: str, identifier: str) -> None:
    assert model_identifier(name) == identifier


def test_what_initial_unknowns_depend_on_follows_their_kind(image: ModelImage) -> None:
    """Positions on positions, velocities and forces of springs on more, and all else on everything, without a list."""
    places, speeds = {"q", "r", "quat", "eta", "length", "stress", "mises"}, {"qd", "v", "w", "u", "kappa"}
    table = {str(v.index + 1): v for v in image.variables}
    for entry in parsed(image).iterfind("ModelStructure/InitialUnknowns/Unknown"):
        kind, listed = table[entry.get("index")].kind, entry.get("dependencies")
        if kind in places:
            assert {table[one].kind for one in listed.split()} <= places
        elif kind not in speeds | {"f"}:
            assert listed is None
