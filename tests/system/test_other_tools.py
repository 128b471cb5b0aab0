"""Packages as other tools write them: nested systems, parameter bindings and mappings, signal dictionaries, units.

Each is written by hand, valid against the schemas of SSP 1.0, with the FMU of a pendulum: its input A.tau [N.m], its
outputs A.q [rad] and A.qd [rad/s], its parameters rod.mass [kg] and solver.scheme.
"""

import io
import math
import re
import zipfile
from pathlib import Path

import fmpy.ssp
import numpy as np
import pytest
from lxml import etree

import fmumbs as fm
from fmumbs.errors import ExportError, ModelError
from fmumbs.system import Plan, open_system
from support.systems import fmu

SCHEMAS = Path(fmpy.ssp.__file__).parent / "schema"
HEAD = " ".join(
    f'xmlns:{short}="http://ssp-standard.org/SSP1/SystemStructure{long}"'
    for short, long in {
        "ssd": "Description", "ssc": "Common", "ssv": "ParameterValues", "ssm": "ParameterMapping",
        "ssb": "SignalDictionary",
    }.items()
)  # fmt: skip
UNITS = (
    '<{0}:Units><ssc:Unit name="deg"><ssc:BaseUnit rad="1" factor="0.017453292519943295"/></ssc:Unit>'
    '<ssc:Unit name="t"><ssc:BaseUnit kg="1" factor="1000"/></ssc:Unit>'
    '<ssc:Unit name="kN.m"><ssc:BaseUnit kg="1" m="2" s="-2" factor="1000"/></ssc:Unit></{0}:Units>'
)


def connector(name: str, kind: str, unit: str = "", of: str = "Real") -> str:
    unit = f' unit="{unit}"' if unit else ""
    return f'<ssd:Connector name="{name}" kind="{kind}"><ssc:{of}{unit}/></ssd:Connector>'


def connectors(*several: str) -> str:
    return f"<ssd:Connectors>{''.join(several)}</ssd:Connectors>"


PORTS = connectors(
    connector("A.tau", "input", "N.m"), connector("A.q", "output", "rad"), connector("A.qd", "output", "rad/s")
)


def component(name: str, inside: str = "", source: str = "resources/pendulum.fmu", **attributes: str) -> str:
    more = "".join(f' {key}="{value}"' for key, value in attributes.items())
    return f'<ssd:Component name="{name}" source="{source}"{more}>{PORTS}{inside}</ssd:Component>'


def system(name: str, elements: str, connections: str = "", before: str = "", after: str = "") -> str:
    inside = f"<ssd:Connections>{connections}</ssd:Connections>" if connections else ""
    return f'<ssd:System name="{name}">{before}<ssd:Elements>{elements}</ssd:Elements>{inside}{after}</ssd:System>'


def connection(source: str, target: str, inside: str = "", **attributes: str) -> str:
    """ELEMENT/CONNECTOR, or /CONNECTOR of the system itself."""
    ends = ""
    for side, text in (("start", source), ("end", target)):
        element, _, name = text.rpartition("/")
        ends += f' {side}Element="{element}"' if element else ""
        ends += f' {side}Connector="{name}"'
    more = "".join(f' {key}="{value}"' for key, value in attributes.items())
    return f"<ssd:Connection{ends}{more}>{inside}</ssd:Connection>"


def binding(inside: str = "", **attributes: str) -> str:
    more = "".join(f' {key}="{value}"' for key, value in attributes.items())
    return f"<ssd:ParameterBinding{more}>{inside}</ssd:ParameterBinding>"


def bindings(*several: str) -> str:
    return f"<ssd:ParameterBindings>{''.join(several)}</ssd:ParameterBindings>"


def values(parameters: str, units: str = "") -> str:
    return (
        f'<ssv:ParameterSet {HEAD} version="1.0" name="a"><ssv:Parameters>{parameters}</ssv:Parameters>'
        f"{units}</ssv:ParameterSet>"
    )


def real(name: str, value: float, unit: str = "") -> str:
    unit = f' unit="{unit}"' if unit else ""
    return f'<ssv:Parameter name="{name}"><ssv:Real value="{value}"{unit}/></ssv:Parameter>'


def inline(*parameters: str) -> str:
    return f"<ssd:ParameterValues>{values(''.join(parameters))}</ssd:ParameterValues>"


def description(top: str) -> str:
    return (
        f'<ssd:SystemStructureDescription {HEAD} version="1.0" name="a">{top}{UNITS.format("ssd")}'
        '<ssd:DefaultExperiment startTime="0" stopTime="0.02"/></ssd:SystemStructureDescription>'
    )


KINDS = {"ssd": "Description", "ssv": "ParameterValues", "ssm": "ParameterMapping", "ssb": "SignalDictionary"}


def package(fmus: Path, folder: Path, top: str, valid: bool = True, **others: str) -> Path:
    """A package with the pendulum's FMU and other files, names with __ for a dot. valid: by the schemas."""
    files = {"SystemStructure.ssd": description(top)}
    files |= {f"resources/{name.replace('__', '.')}": text for name, text in others.items()}
    path = folder / "S.ssp"
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            kind = KINDS.get(name.rpartition(".")[2])
            if kind and valid:
                schema = etree.XMLSchema(file=SCHEMAS / f"SystemStructure{kind}.xsd")
                schema.assertValid(etree.fromstring(text))
            archive.writestr(name, text)
        archive.write(fmu(fmus, "pendulum"), "resources/pendulum.fmu")
    return path


def plan(path: Path) -> Plan:
    with open_system(path, step=1e-3) as read:
        return read.check()


def starts(path: Path) -> dict[str, object]:
    """ELEMENT.VARIABLE to start value."""
    return {f"{part.name}.{name}": value for part in plan(path).parts for name, value in part.starts.items()}


def links(path: Path) -> list[tuple[str, float, float]]:
    return sorted((str(link), link.factor, link.offset) for link in plan(path).links)


def refused(path: Path) -> str:
    with pytest.raises((ExportError, ModelError)) as caught:
        plan(path)
    return str(caught.value)


# Start values ----------------------------------------------------------------------------------------------


def test_a_value_in_another_unit_is_converted(fmus: Path, tmp_path: Path) -> None:
    given = bindings(binding(inline(real("A.q", 28.6, "deg"), real("rod.mass", 0.002, "t"), real("A.qd", 3.0))))
    path = package(fmus, tmp_path, system("s", component("p", given)))
    assert starts(path) == {
        "p.A.q": pytest.approx(math.radians(28.6)), "p.rod.mass": pytest.approx(2.0), "p.A.qd": 3.0,
    }  # fmt: skip
    with open_system(path, step=1e-3) as read:
        assert read.run()["p.A.q"][0] == pytest.approx(math.radians(28.6))


@pytest.mark.parametrize(
    ("parameter", "message"),
    [
        (real("A.q", 1.0, "t"), "units of different quantities"),
        (real("A.q", 1.0, "furlong"), "the start value of 'p.A.q' has the unknown unit 'furlong'"),
        ('<ssv:Parameter name="A.q"><ssv:Boolean value="true"/></ssv:Parameter>', "is Boolean, but the variable Real"),
        ('<ssv:Parameter name="A.q"><ssv:String value="1"/></ssv:Parameter>', "is String, but the variable Real"),
        (real("A.q", float("nan")).replace("nan", "NaN"), "which is not finite"),
    ],
)
def test_a_value_that_does_not_fit_is_refused(parameter: str, message: str, fmus: Path, tmp_path: Path) -> None:
    path = package(fmus, tmp_path, system("s", component("p", bindings(binding(inline(parameter))))))
    assert message in refused(path)


def test_annotations_of_a_parameter_do_not_count(fmus: Path, tmp_path: Path) -> None:
    note = '<ssv:Annotations><ssc:Annotation type="a.b"/></ssv:Annotations>'
    parameter = real("A.q", 0.4).replace("</ssv:Parameter>", f"{note}</ssv:Parameter>")
    path = package(fmus, tmp_path, system("s", component("p", bindings(binding(inline(parameter))))))
    assert starts(path) == {"p.A.q": 0.4}


def test_a_prefix_leads_to_an_element(fmus: Path, tmp_path: Path) -> None:
    """And an outer system's value replaces an inner one's, a later binding's an earlier one's."""
    own = bindings(binding(inline(real("A.q", 0.1), real("A.qd", 0.2))))
    outer = bindings(
        binding(prefix="p.", source="resources/a.ssv"), binding(inline(real("p.A.q", 0.5))), binding(inline())
    )
    top = system("s", component("p", own) + component("other"), before=outer)
    path = package(fmus, tmp_path, top, a__ssv=values(real("A.q", 0.3) + real("rod.mass", 2.0)))
    assert starts(path) == {"p.A.q": 0.5, "p.A.qd": 0.2, "p.rod.mass": 2.0}


def test_a_set_may_lie_in_the_fmu_and_names_be_escaped(fmus: Path, tmp_path: Path) -> None:
    source = fmu(fmus, "pendulum")
    top = system("s", component("p", bindings(binding(source="resources/start%20s.ssv", sourceBase="component")),
                                source="resources/%70endulum.fmu"))  # fmt: skip
    path = package(fmus, tmp_path, top)
    inside = tmp_path / "pendulum.fmu"
    inside.write_bytes(source.read_bytes())
    with zipfile.ZipFile(inside, "a") as archive:
        archive.writestr("resources/start s.ssv", values(real("A.q", 0.7)))
    with zipfile.ZipFile(path) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()} | {
            "resources/pendulum.fmu": inside.read_bytes()
        }
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in entries.items():
            archive.writestr(name, data)
    assert starts(path) == {"p.A.q": 0.7}


def mapping(*rows: str) -> str:
    return f'<ssm:ParameterMapping {HEAD} version="1.0">{"".join(rows)}</ssm:ParameterMapping>'


def row(source: str, target: str, inside: str = "", **attributes: str) -> str:
    more = "".join(f' {key}="{value}"' for key, value in attributes.items())
    return f'<ssm:MappingEntry source="{source}" target="{target}"{more}>{inside}</ssm:MappingEntry>'


def test_a_mapping_renames_converts_and_transforms(fmus: Path, tmp_path: Path) -> None:
    """Units first, then the transformation, as SSP 1.0 says of LinearTransformation; in a file and inline."""
    double = '<ssc:LinearTransformation factor="2" offset="0.5"/>'
    table = '<ssc:IntegerMappingTransformation><ssc:MapEntry source="7" target="1"/></ssc:IntegerMappingTransformation>'
    rows = [
        row("angle", "A.q", double), row("raw", "A.qd", double, suppressUnitConversion="true"), row("mass", "rod.mass"),
        row("method", "solver.scheme", table), row("absent", "A.tau"),
    ]  # fmt: skip
    method = '<ssv:Parameter name="method"><ssv:Integer value="7"/></ssv:Parameter>'
    given = real("angle", 90.0, "deg") + real("raw", 90.0, "deg") + real("mass", 0.003, "t") + method
    expected = {
        "p.A.q": pytest.approx(math.pi + 0.5), "p.A.qd": 180.5, "p.rod.mass": pytest.approx(3.0), "p.solver.scheme": 1,
    }  # fmt: skip
    for how in (
        '<ssd:ParameterMapping source="resources/m.ssm"/>',
        f"<ssd:ParameterMapping>{mapping(*rows)}</ssd:ParameterMapping>",
    ):
        inside = bindings(binding(inline(given) + how))
        assert starts(package(fmus, tmp_path, system("s", component("p", inside)), m__ssm=mapping(*rows))) == expected
    wrong = mapping(row("method", "solver.scheme", table.replace('"7"', '"8"')))
    inside = bindings(binding(inline(method) + f"<ssd:ParameterMapping>{wrong}</ssd:ParameterMapping>"))
    assert "has no entry for 7" in refused(package(fmus, tmp_path, system("s", component("p", inside))))


@pytest.mark.parametrize("name", ["ssm:LinearTransformation", "ssc:QuadraticTransformation"])
def test_a_transformation_that_ssp_does_not_define_is_refused(name: str, fmus: Path, tmp_path: Path) -> None:
    """It was dropped, and the value taken as it stood."""
    unknown = f'<{name} factor="2"/>'
    how = f"<ssd:ParameterMapping>{mapping(row('angle', 'A.q', unknown))}</ssd:ParameterMapping>"
    mapped = system("s", component("p", bindings(binding(inline(real("angle", 0.2)) + how))))
    connected = system("s", component("p") + component("q"), connection("p/A.q", "q/A.tau", unknown))
    for top, what in ((mapped, "the mapping of 'angle'"), (connected, "the connection 'p.A.q' -> 'q.A.tau'")):
        message = refused(package(fmus, tmp_path, top, valid=False))
        assert f"{what} has a {name.partition(':')[2]} of the namespace" in message


def test_a_name_that_matches_nothing_is_noted(fmus: Path, tmp_path: Path) -> None:
    path = package(fmus, tmp_path, system("s", component("p", bindings(binding(inline(real("A.z", 1.0)))))))
    assert starts(path) == {}
    assert any("p.A.z" in note and "ignored" in note for note in plan(path).notes)


# Systems within systems ------------------------------------------------------------------------------------


def two_pendulums() -> tuple[str, str]:
    """p.A.q -> q.A.tau by the transformation 3 y + 1, flat, and the same with each pendulum in a system of its own."""
    by = '<ssc:LinearTransformation factor="3" offset="1"/>'
    options = {"suppressUnitConversion": "true"}
    flat = system("s", component("p") + component("q"), connection("p/A.q", "q/A.tau", by, **options))
    left = system("left", component("p"), connection("p/A.q", "/out"), connectors(connector("out", "output", "deg")))
    right = system(
        "right",
        component("q"),
        connection("/in", "q/A.tau", by, **options),
        connectors(connector("in", "input", "rad")),
    )
    nested = system("s", left + right, connection("left/out", "right/in"))
    return flat, nested


def test_a_system_of_systems_is_that_of_their_fmus(fmus: Path, tmp_path: Path) -> None:
    """rad to deg, to rad, then the transformation: that of the flat system, and the same motion."""
    results = []
    for top in two_pendulums():
        path = package(fmus, tmp_path, top)
        ((_, factor, offset),) = links(path)
        assert (factor, offset) == (pytest.approx(3.0, rel=1e-15), 1.0)
        with open_system(path, step=1e-3) as read:
            results.append(read.run())
    assert results[1].names == ["left_p.A.q", "left_p.A.qd", "right_q.A.q", "right_q.A.qd"]
    for one, other in zip(results[0].values(), results[1].values(), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-15)


def test_values_of_a_systems_connector_reach_the_fmus_inside(fmus: Path, tmp_path: Path) -> None:
    """Through two levels, with the units on the way; of nested elements by names with dots."""
    ends = connectors(connector("torque", "input", "kN.m"), connector("mass", "parameter", "t"))
    inner = system("in", component("p"), connection("/torque", "p/A.tau") + connection("/mass", "p/rod.mass"), ends)
    outer = system("out", inner, connection("/t", "in/torque"), connectors(connector("t", "input", "N.m")))
    given = bindings(binding(inline(real("out.t", 5.0), real("out.in.mass", 0.001), real("out.in.p.A.q", 9.0, "deg"))))
    inner_ports = PORTS.replace("</ssd:Connectors>", f"{connector('rod.mass', 'parameter', 'kg')}</ssd:Connectors>")
    top = system("s", outer, before=given).replace(PORTS, inner_ports)
    found = starts(package(fmus, tmp_path, top))
    assert found == {
        "out_in_p.A.tau": pytest.approx(5.0), "out_in_p.rod.mass": pytest.approx(1.0),
        "out_in_p.A.q": pytest.approx(math.radians(9.0)),
    }  # fmt: skip


def test_descriptions_packages_and_references_are_followed(fmus: Path, tmp_path: Path) -> None:
    inner = system("in", component("p", bindings(binding(inline(real("A.q", 0.1))))), connection("p/A.q", "/out"),
                   connectors(connector("out", "output", "rad")))  # fmt: skip
    own = package(fmus, tmp_path, inner).read_bytes()
    definition = description(inner.replace("resources/pendulum.fmu", "pendulum.fmu"))
    ports = connectors(connector("out", "output", "rad"))
    given = bindings(binding(inline(real("p.A.q", 0.2))))
    parts = {
        "a": f'<ssd:Component name="a" source="resources/in.ssd" type="application/x-ssp-definition">{ports}{given}'
        "</ssd:Component>",
        "b": f'<ssd:Component name="b" source="resources/in.ssp" type="application/x-ssp-package">{ports}'
        "</ssd:Component>",
        "c": f'<ssd:Component name="c" source="#here" type="application/x-ssp-definition">{ports}</ssd:Component>',
        "in": inner.replace("<ssd:System ", '<ssd:System id="here" '),
    }
    last = component("q")
    by = '<ssc:LinearTransformation factor="1"/>'
    top = system("s", "".join(parts.values()) + last,
                 connection("b/out", "q/A.tau", by, suppressUnitConversion="true"))  # fmt: skip
    path = package(fmus, tmp_path, top, in__ssd=definition)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("resources/in.ssp", own)
    assert starts(path) == {"a_p.A.q": 0.2, "b_p.A.q": 0.1, "c_p.A.q": 0.1, "in_p.A.q": 0.1}
    assert [name for name, *_ in links(path)] == ["b_p.A.q -> q.A.tau"]


def test_a_system_that_contains_itself_is_refused(fmus: Path, tmp_path: Path) -> None:
    again = '<ssd:Component name="again" source="{}" type="application/x-ssp-definition"/>'
    top = system("s", again.format("#a")).replace("<ssd:System ", '<ssd:System id="a" ')
    assert "contains itself" in refused(package(fmus, tmp_path, top))
    inner = description(system("in", again.format("in.ssd")))
    top = system("s", again.format("resources/in.ssd"))
    assert "contains itself" in refused(package(fmus, tmp_path, top, in__ssd=inner))


def test_a_signal_dictionary_connects_what_refers_to_it(fmus: Path, tmp_path: Path) -> None:
    """From within another system too, and in the dictionary's unit."""
    entry = '<ssb:DictionaryEntry name="x"><ssc:Real unit="deg"/></ssb:DictionaryEntry>'
    dictionary = f'<ssb:SignalDictionary {HEAD} version="1.0">{entry}</ssb:SignalDictionary>'
    stated = (
        '<ssd:SignalDictionaries><ssd:SignalDictionary name="bus" source="resources/bus.ssb"/></ssd:SignalDictionaries>'
    )
    port = connectors(connector("x", "inout", "deg"))
    reference = f'<ssd:SignalDictionaryReference name="bus{{}}" dictionary="bus">{port}</ssd:SignalDictionaryReference>'
    by = '<ssc:LinearTransformation factor="2"/>'
    inner = system("in", component("p") + reference.format(1), connection("p/A.q", "bus1/x"))
    top = system(
        "s", inner + component("q") + reference.format(2),
        connection("bus2/x", "q/A.tau", by, suppressUnitConversion="true"), after=stated,
    )  # fmt: skip
    ((name, factor, offset),) = links(package(fmus, tmp_path, top, bus__ssb=dictionary))
    assert (name, factor, offset) == ("in_p.A.q -> q.A.tau", pytest.approx(2 * 180 / math.pi), 0.0)
    assert "there is no signal dictionary 'bus'" in refused(
        package(fmus, tmp_path, top.replace(stated, ""), bus__ssb=dictionary)
    )


# What tools write that the standard does not foresee ---------------------------------------------------------


def unlisted(path: Path) -> bytes:
    """The FMU without the lists of what its outputs depend on, as tools may leave them out."""
    with zipfile.ZipFile(path) as archive, io.BytesIO() as buffer:
        with zipfile.ZipFile(buffer, "w") as out:
            for name in archive.namelist():
                data = archive.read(name)
                if name == "modelDescription.xml":
                    data = re.sub(rb' dependencies="[^"]*"| dependenciesKind="[^"]*"', b"", data)
                out.writestr(name, data)
        return buffer.getvalue()


def test_connections_of_fmus_that_list_no_dependencies_may_form_a_circle(fmus: Path, tmp_path: Path) -> None:
    """As in libcosim's own example: the engines take the values of the step before."""
    options = {"suppressUnitConversion": "true"}
    wires = connection("p/A.qd", "q/A.tau", **options) + connection("q/A.qd", "p/A.tau", **options)
    path = package(fmus, tmp_path, system("s", component("p") + component("q"), wires))
    with zipfile.ZipFile(path) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    files["resources/pendulum.fmu"] = unlisted(fmu(fmus, "pendulum"))
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    assert [note for note in plan(path).notes if "lists no dependencies" in note] == [
        f"{name}: its FMU lists no dependencies, so its outputs are taken to follow from its last step" for name in "pq"
    ]
    with open_system(path, step=1e-3) as read:
        assert np.isfinite(read.run()["p.A.q"]).all()


def test_an_empty_element_of_a_connection_is_the_system(fmus: Path, tmp_path: Path) -> None:
    ports = connectors(connector("q", "output", "rad"))
    wire = connection("p/A.q", "/q").replace("<ssd:Connection ", '<ssd:Connection endElement="" ')
    assert links(package(fmus, tmp_path, system("s", component("p"), wire, ports))) == []


def test_a_unit_that_nobody_defines_matters_only_where_values_convert(fmus: Path, tmp_path: Path) -> None:
    given = bindings(binding(inline(real("solver.tolerance", 1e-5, "[1]"), real("nowhere", 1.0, "furlong"))))
    path = package(fmus, tmp_path, system("s", component("p", given)))
    assert starts(path) == {"p.solver.tolerance": 1e-5}


def test_what_is_missing_is_named(fmus: Path, tmp_path: Path) -> None:
    assert "has no FMU, so there is nothing to run" in refused(package(fmus, tmp_path, '<ssd:System name="s"/>'))
    path = package(fmus, tmp_path, system("s", component("p", source="resources/other.fmu")))
    assert "has no 'resources/other.fmu', the FMU of 'p'. Pack it." in refused(path)
    text = mapping(row("mass", "A.q").replace('target="A.q"', 'target=""'))
    given = bindings(binding(inline(real("mass", 1.0)) + f"<ssd:ParameterMapping>{text}</ssd:ParameterMapping>"))
    assert "the mapping of 'mass' has no target" in refused(
        package(fmus, tmp_path, system("s", component("p", given)))
    )


# What engines do not do ------------------------------------------------------------------------------------


def test_what_no_engine_does_is_refused_by_name(fmus: Path, tmp_path: Path) -> None:
    table = "<ssc:{0}MappingTransformation>{1}</ssc:{0}MappingTransformation>"
    same = '<ssc:MapEntry source="true" target="true"/><ssc:MapEntry source="false" target="false"/>'
    other = '<ssc:MapEntry source="true" target="false"/>'
    whole = '<ssc:MapEntry source="1" target="2"/>'
    both = component("p") + component("q")
    for kind, entries in (("Boolean", other), ("Integer", whole), ("Enumeration", whole)):
        top = system("s", both, connection("p/A.q", "q/A.tau", table.format(kind, entries)))
        message = refused(package(fmus, tmp_path, top))
        assert re.search(rf"'p.A.q' -> 'q.A.tau' has a {kind}MappingTransformation, which no engine", message)
    options = {"suppressUnitConversion": "true"}
    assert links(
        package(
            fmus, tmp_path, system("s", both, connection("p/A.q", "q/A.tau", table.format("Boolean", same), **options))
        )
    )
    assert "Model Exchange" in refused(
        package(fmus, tmp_path, system("s", component("p", implementation="ModelExchange")))
    )
    last = connector("rod.mass", "parameter", "kg") + "</ssd:Connectors>"
    top = system("s", both, connection("p/A.q", "q/rod.mass", **options)).replace("</ssd:Connectors>", last)
    assert "'q.rod.mass', a parameter, which no engine does" in refused(package(fmus, tmp_path, top))
    circle = system(
        "in", component("p"), connection("/a", "/b"), connectors(connector("a", "input"), connector("b", "output"))
    )
    top = system("s", circle + component("q"), connection("in/b", "in/a") + connection("in/b", "q/A.tau"))
    assert "in a circle" in refused(package(fmus, tmp_path, top))


def test_the_step_is_also_that_of_omsimulator(fmus: Path, tmp_path: Path) -> None:
    path = package(fmus, tmp_path, system("s", component("p")))
    with pytest.raises(ExportError, match="no communication step"), open_system(path):
        pass
    oms = "https://raw.githubusercontent.com/OpenModelica/OMSimulator/master/schema/oms.xsd"
    note = (
        '<ssd:Annotations><ssc:Annotation type="org.openmodelica"><oms:Annotations '
        f'xmlns:oms="{oms}"><oms:SimulationInformation><oms:FixedStepMaster description="oms-ma" stepSize="0.005"/>'
        "</oms:SimulationInformation></oms:Annotations></ssc:Annotation></ssd:Annotations>"
    )
    with open_system(package(fmus, tmp_path, system("s", component("p"), after=note))) as read:
        assert isinstance(read, fm.System)
        assert (read.step, read.stop) == (0.005, 0.02)
