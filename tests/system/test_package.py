"""Packages: valid against the schemas of SSP 1.0, reproducible, and read back as the same system."""

import io
import os
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import fmpy.ssp
import numpy as np
import pytest
from fmpy.ssp.ssd import read_ssd
from lxml import etree

import fmumbs as fm
from fmumbs.errors import ExportError, ModelError
from fmumbs.system import open_system
from fmumbs.system.ssp import osp_structure
from support.systems import fmu, speed_control

SCHEMAS = Path(fmpy.ssp.__file__).parent / "schema"  # FMPy's copies of those of the standard
NAMES = {
    "ssd": "http://ssp-standard.org/SSP1/SystemStructureDescription",
    "ssc": "http://ssp-standard.org/SSP1/SystemStructureCommon",
    "osp": "http://opensimulationplatform.com/MSMI/OSPSystemStructure",
}


def entries(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def changed(path: Path, change: Callable[[dict[str, bytes]], object]) -> Path:
    """The package with other contents."""
    contents = entries(path)
    change(contents)
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in contents.items():
            archive.writestr(name, data)
    return path


def replaced(entry: str, old: str, new: str) -> Callable[[dict[str, bytes]], None]:
    def change(contents: dict[str, bytes]) -> None:
        assert old.encode() in contents[entry]
        contents[entry] = contents[entry].replace(old.encode(), new.encode())

    return change


def everything(folder: Path) -> fm.System:
    """A system with each feature: units that convert, start values of each type, one FMU twice, no feedthrough."""
    system = fm.System("everything", stop=0.02, step=1e-3, description='<"Everything" & more>')
    system.add("plant", fmu(folder, "four_bar"), starts={"A.tau": 0.25, "solver.scheme": 1}, outputs=["A.q"])
    system.add("plant2", fmu(folder, "four_bar"), starts={"crank.mass": 0.4})
    units = {"measured": "deg/s", "u": "N.mm"}
    system.add("pid", fmu(folder, "pid"), starts={"kp": 1e-4}, units=units, feedthrough=False)
    system.connect("plant.A.qd", "pid.measured", start=340.0)
    system.connect("pid.u", "plant.A.tau")
    return system


def test_a_package_is_valid_against_the_schemas_and_fmpy_reads_it(fmus: Path, tmp_path: Path) -> None:
    path = everything(fmus).save(tmp_path / "S.ssp")
    found = entries(path)
    values = ["resources/plant.ssv", "resources/plant2.ssv", "resources/pid.ssv"]
    fmus_and_osp = [f"resources/{name}" for name in ("OspSystemStructure.xml", "four_bar.fmu", "pid.fmu")]
    assert list(found) == ["SystemStructure.ssd", *values, *fmus_and_osp]
    for name, schema in {"SystemStructure.ssd": "Description", **dict.fromkeys(values, "ParameterValues")}.items():
        etree.XMLSchema(file=SCHEMAS / f"SystemStructure{schema}.xsd").assertValid(etree.fromstring(found[name]))
    system = read_ssd(path).system
    assert [component.name for component in system.elements] == ["plant", "plant2", "pid"]
    (binding,) = system.elements[0].parameterBindings
    assert [(p.name, p.type, p.value) for p in binding.parameterValues[0].parameters] == [
        ("A.tau", "Real", "0.25"), ("solver.scheme", "Integer", "1"),
    ]  # fmt: skip
    assert found["resources/four_bar.fmu"] == fmu(fmus, "four_bar").read_bytes()


def test_a_connection_of_other_units_has_its_transformation_and_no_automatic_one(fmus: Path, tmp_path: Path) -> None:
    found = entries(everything(fmus).save(tmp_path / "S.ssp"))
    root = etree.fromstring(found["SystemStructure.ssd"])
    first, second = root.iterfind(".//ssd:Connection", NAMES)
    assert first.get("suppressUnitConversion") == second.get("suppressUnitConversion") == "true"
    factor = float(first.find("ssc:LinearTransformation", NAMES).get("factor"))
    assert factor == pytest.approx(180 / np.pi, rel=1e-15)
    assert float(second.find("ssc:LinearTransformation", NAMES).get("factor")) == pytest.approx(1e-3)
    units = {unit.get("name"): unit[0].attrib for unit in root.iterfind(".//ssc:Unit", NAMES)}
    assert units["rad/s"] == {"rad": "1", "s": "-1"}
    assert float(units["deg/s"]["factor"]) == pytest.approx(np.pi / 180)
    osp = etree.fromstring(found["resources/OspSystemStructure.xml"])
    functions = [function.get("factor") for function in osp.iterfind(".//osp:LinearTransformation", NAMES)]
    assert [float(text) for text in functions] == pytest.approx([180 / np.pi, 1e-3])


@pytest.mark.parametrize(("stop", "step"), [(1.0, 0.25), (0.3, 0.1), (2.0, 1 / 512)])
def test_every_reader_of_a_package_finds_its_step_and_its_times(
    stop: float, step: float, fmus: Path, tmp_path: Path
) -> None:
    """libcosim reads it in an annotation or in a file of its own, OMSimulator in the annotation of the system."""
    found = entries(speed_control(fmus, stop=stop, step=step).save(tmp_path / "S.ssp"))
    root = etree.fromstring(found["SystemStructure.ssd"])
    (experiment,) = root.iterfind("ssd:DefaultExperiment", NAMES)
    assert (float(experiment.get("startTime")), float(experiment.get("stopTime"))) == (0.0, stop)
    (annotation,) = experiment.iterfind("ssd:Annotations/ssc:Annotation", NAMES)
    assert annotation.get("type") == "com.opensimulationplatform"
    (algorithm,) = annotation
    (fixed,) = algorithm
    assert [etree.QName(one).localname for one in (algorithm, fixed)] == ["Algorithm", "FixedStepAlgorithm"]
    assert etree.QName(fixed).namespace.endswith("OSPAnnotations") and dict(fixed.attrib) == {
        "baseStepSize": repr(step)
    }
    (master,) = root.iter("{*}FixedStepMaster")
    assert float(master.get("stepSize")) == step
    (own,) = etree.fromstring(found["resources/OspSystemStructure.xml"]).iterfind("osp:BaseStepSize", NAMES)
    assert float(own.text) == step
    (beginning,) = etree.fromstring(found["resources/OspSystemStructure.xml"]).iterfind("osp:StartTime", NAMES)
    assert float(beginning.text) == 0.0


def test_the_same_system_gives_the_same_bytes(fmus: Path, tmp_path: Path) -> None:
    one = everything(fmus).save(tmp_path / "one.ssp")
    os.utime(fmu(fmus, "four_bar"), (0, 0))
    two = everything(fmus).save(tmp_path / "two.ssp")
    assert one.read_bytes() == two.read_bytes()


def test_a_package_reads_back_as_the_same_system(fmus: Path, tmp_path: Path) -> None:
    system = everything(fmus)
    path = system.save(tmp_path / "S.ssp")
    with open_system(path) as again:
        assert again.save(tmp_path / "again.ssp").read_bytes() == path.read_bytes()
        result = again.run()
    first = system.run()
    for name in first:
        np.testing.assert_array_equal(result[name], first[name])
    with open_system(path, stop=0.03, step=1e-2) as other:
        assert other.check().count == 3


def test_libcosim_reads_the_packages_own_files(fmus: Path, tmp_path: Path) -> None:
    """Both forms, the structure of SSP and that of OSP, as other users of libcosim would load them."""
    from libcosimpy.CosimExecution import CosimExecution
    from libcosimpy.CosimObserver import CosimObserver

    system = everything(fmus)
    with zipfile.ZipFile(system.save(tmp_path / "S.ssp")) as archive:
        archive.extractall(tmp_path)
    expected = system.run()
    for execution in (
        CosimExecution.from_osp_config_file(str(tmp_path / "resources")),
        CosimExecution.from_ssp_file(str(tmp_path)),
    ):
        observer = CosimObserver.create_last_value()
        execution.add_observer(observer)
        slave = execution.slave_index_from_instance_name("plant")
        (reference,) = (v.reference for v in execution.slave_variables(slave) if v.name == b"A.q")
        assert execution.step(20)
        assert observer.last_real_values(slave, [reference])[0] == expected["plant.A.q"][-1]


def test_libcosim_does_not_cut_the_step_to_a_nanosecond_less(fmus: Path) -> None:
    """It converts seconds to nanoseconds and leaves out the fraction: 6.5e-5 s times 1e9 is below 65 000."""
    plan = speed_control(fmus).check()
    sources = {part.name: "a.fmu" for part in plan.parts}
    steps = [65_000, *np.random.default_rng(3).integers(1, 10**9, size=200).tolist()]
    assert any(int(step / 1e9 * 1e9) != step for step in steps)
    for step in steps:
        root = etree.fromstring(osp_structure(replace(plan, step=step), sources))
        assert int(float(root.find("osp:BaseStepSize", NAMES).text) * 1e9) == step


def test_fmus_of_one_name_from_other_folders_stay_apart(fmus: Path, tmp_path: Path) -> None:
    for name, mechanism in (("a", "pendulum"), ("b", "four_bar")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "plant 1.fmu").write_bytes(fmu(fmus, mechanism).read_bytes())
    system = fm.System("apart", stop=0.01, step=1e-3)
    system.add("a", tmp_path / "a" / "plant 1.fmu", outputs=["A.q"])
    system.add("b", tmp_path / "b" / "plant 1.fmu", outputs=["D.q"])
    found = entries(system.save(tmp_path / "S.ssp"))
    assert {"resources/plant_1.fmu", "resources/plant_1_2.fmu"} < set(found)
    assert system.run().names == ["a.A.q", "b.D.q"]


# Packages of others, and damaged ones ----------------------------------------------------------------------

SSD = "SystemStructure.ssd"


def without_steps(contents: dict[str, bytes]) -> None:
    for name in (b"osp:FixedStepAlgorithm", b"oms:FixedStepMaster"):
        assert name in contents[SSD]
        contents[SSD] = contents[SSD].replace(name, b"osp:Other")


def refusal(path: Path) -> str:
    with pytest.raises((ExportError, ModelError)) as caught, open_system(path) as system:
        system.check()
    return str(caught.value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda c: c.pop("resources/pid.fmu"), "has no 'resources/pid.fmu', the FMU of 'pid'. Pack it."),
        (lambda c: c.pop("resources/pid.ssv"), "has no 'resources/pid.ssv', the start values of 'pid'"),
        (lambda c: c.pop(SSD), "is not a system structure package"),
        (lambda c: c.update({SSD: b"<a"}), "is damaged: SystemStructure.ssd cannot be read"),
        (lambda c: c.update({SSD: b"<a/>"}), "has no system"),
        (lambda c: c.update({"../evil": b""}), "is unsafe to unpack"),
        (replaced(SSD, 'source="resources/pid.fmu"', 'source="../pid.fmu"'), "which is not in the package"),
        (replaced(SSD, 'source="resources/pid.fmu"', 'source="http://a/pid.fmu"'), "which is not in the package"),
        (replaced(SSD, 'endConnector="measured"', 'endConnector="mesured"'), "has no input 'mesured'"),
        (replaced(SSD, 'endElement="pid"', 'endElement="pod"'), "connects 'pod', and has no such element"),
        (replaced(SSD, 'startTime="0.0"', 'startTime="2"'), "starts at 2 s, and systems start at 0"),
        (replaced(SSD, 'source="resources/pid.fmu"', 'source="%2e%2e/pid.fmu"'), "which is not in the package"),
        (replaced(SSD, 'stopTime="0.05"', 'stopTime="soon"'), "does not follow SSP 1.0"),
        (replaced(SSD, 'ssd:Connector name="A.q"', "ssd:Connector"), "Connector without 'name'"),
        (replaced(SSD, ' startConnector="u"', ""), "Connection without 'startConnector'"),
        (replaced(SSD, 'of="measured" unit="rad/s"', 'of="measured"'), "Unit without 'unit'"),
        (replaced(SSD, ' stopTime="0.05"', ""), "has no stop time. Give one with --stop"),
        (without_steps, "has no communication step. Give one with --step"),
    ],
)  # fmt: skip
def test_a_package_that_cannot_be_run_is_refused(
    change: Callable[[dict[str, bytes]], object], message: str, fmus: Path, tmp_path: Path
) -> None:
    assert message in refusal(changed(speed_control(fmus).save(tmp_path / "S.ssp"), change))


def test_units_convert_without_a_transformation_unless_that_is_suppressed(fmus: Path, tmp_path: Path) -> None:
    """SSP: automatic conversion is the default."""
    connection = b' endElement="pid" endConnector="measured"'
    for attribute, factor in ((b"", 180 / np.pi), (b' suppressUnitConversion="true"', 1.0)):
        path = speed_control(fmus).save(tmp_path / "S.ssp")

        def change(contents: dict[str, bytes], attribute: bytes = attribute) -> None:
            text = contents[SSD].replace(connection, connection + attribute)
            at = text.index(b'name="measured"')
            contents[SSD] = text[:at] + text[at:].replace(b'unit="rad/s"', b'unit="deg/s"', 1)

        with open_system(changed(path, change)) as system:
            assert system.check().links[0].factor == pytest.approx(factor)


def test_start_values_within_the_structure_are_read(fmus: Path, tmp_path: Path) -> None:
    """In place of an .ssv, as other tools write them."""

    def inline(contents: dict[str, bytes]) -> None:
        root = etree.fromstring(contents[SSD])
        for binding in root.iterfind(".//ssd:ParameterBinding", NAMES):
            values = etree.fromstring(contents.pop(binding.attrib.pop("source")))
            etree.SubElement(binding, f"{{{NAMES['ssd']}}}ParameterValues").append(values)
        etree.XMLSchema(file=SCHEMAS / "SystemStructureDescription.xsd").assertValid(root)
        contents[SSD] = etree.tostring(root)

    with open_system(changed(speed_control(fmus).save(tmp_path / "S.ssp"), inline)) as system:
        assert system.check().parts[1].starts == {"kp": 0.5, "setpoint": 10.0, "measured": 6.0}


def test_a_file_that_is_not_a_package_is_refused(tmp_path: Path) -> None:
    (tmp_path / "S.ssp").write_bytes(b"no")
    assert "is not a zip archive" in refusal(tmp_path / "S.ssp")
    assert "there is no file" in refusal(tmp_path / "T.ssp")


def test_a_truncated_binary_in_a_package_is_refused_before_any_engine_loads_it(fmus: Path, tmp_path: Path) -> None:
    def cut(contents: dict[str, bytes]) -> None:
        whole = io.BytesIO(contents["resources/four_bar.fmu"])
        half = io.BytesIO()
        with zipfile.ZipFile(whole) as old, zipfile.ZipFile(half, "w") as new:
            for name in old.namelist():
                data = old.read(name)
                new.writestr(name, data[: len(data) // 2] if name.endswith(".so") else data)
        contents["resources/four_bar.fmu"] = half.getvalue()

    message = refusal(changed(speed_control(fmus).save(tmp_path / "S.ssp"), cut))
    place = tmp_path / "S.ssp" / "resources" / "four_bar.fmu"
    assert f"'{place}' is damaged: 'four_bar.so' in it is truncated" in message


def test_a_description_of_too_many_elements_is_refused(fmus: Path, tmp_path: Path) -> None:
    """Before it is parsed: each takes some hundred bytes of memory, and next to none in the archive."""

    def swell(contents: dict[str, bytes]) -> None:
        contents[SSD] = contents[SSD].replace(b"</ssd:System>", b"<a/>" * 5_000_000 + b"</ssd:System>")

    assert "tags and attributes, more than" in refusal(changed(speed_control(fmus).save(tmp_path / "S.ssp"), swell))


def test_truncated_and_flipped_packages_end_with_an_error_of_ours(fmus: Path, tmp_path: Path) -> None:
    whole = speed_control(fmus).save(tmp_path / "S.ssp").read_bytes()
    random = np.random.default_rng(4)
    for case in range(60):
        data = bytearray(whole)
        if case % 2:
            data = data[: random.integers(len(data))]
        else:
            for at in random.integers(min(len(data), 8000), size=8):
                data[at] = random.integers(256)
        (tmp_path / "D.ssp").write_bytes(bytes(data))
        try:
            with open_system(tmp_path / "D.ssp") as system:
                system.check()
        except (ExportError, ModelError):
            pass
    assert zipfile.is_zipfile(io.BytesIO(whole))
