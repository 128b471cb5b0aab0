"""Packages whose descriptions are damaged at random, or ask for much: each is refused or runs."""

import io
import random
import re
import zipfile
from contextlib import nullcontext
from pathlib import Path

import pytest
from lxml import etree

import fmumbs as fm
from fmumbs.errors import ExportError
from fmumbs.system import open_system, structure
from support.hostile import WORDS, foreign
from support.sweeps import seeds
from support.systems import speed_control
from system.test_other_tools import (
    UNITS,
    binding,
    bindings,
    component,
    connection,
    connector,
    connectors,
    inline,
    mapping,
    package,
    real,
    row,
    system,
    values,
)

DESCRIPTIONS = re.compile(r"\.(ssd|ssv|ssm|ssb)$|OspSystemStructure\.xml$")
NAMES = ("A.q", "A.qd", "rod.mass", "rod.com[1]", "rod.inertia[3]", "solver.step", "solver.tolerance", "kp")
NUMBERS = ("0", "-1", "2", "1e-9", "1e-12", "5e-324", "1e9", "1e300", "1e999", "NaN", "INF", "9" * 400)
BY = '<ssc:LinearTransformation factor="2" offset="0.5"/>'


@pytest.fixture(scope="module")
def whole(fmus: Path, tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, bytes]]:
    """Our own package, and one by others of all that SSP 1.0 has: a dictionary, mappings, units, systems in systems."""
    folder = tmp_path_factory.mktemp("whole")
    own = contents(speed_control(fmus).save(folder / "own.ssp"))
    entry = '<ssb:DictionaryEntry name="x"><ssc:Real unit="deg"/></ssb:DictionaryEntry>'
    dictionary = values("").replace("ssv:ParameterSet", "ssb:SignalDictionary").replace('name="a"', "")
    dictionary = re.sub("<ssv:Parameters>.*</ssv:Parameters>", entry, dictionary)
    bus = '<ssd:SignalDictionary name="bus" source="resources/bus.ssb"/>'
    port = connectors(connector("x", "inout", "deg"))
    reference = f'<ssd:SignalDictionaryReference name="bus{{}}" dictionary="bus">{port}</ssd:SignalDictionaryReference>'
    given = binding('<ssd:ParameterMapping source="resources/m.ssm"/>', prefix="p.", source="resources/a.ssv")
    inner = system("in", component("p", bindings(given)) + reference.format(1), connection("p/A.q", "bus1/x"))
    outer = system(
        "s",
        inner + component("q", bindings(binding(inline(real("A.q", 20.0, "deg"))))) + reference.format(2),
        connection("bus2/x", "q/A.tau", BY, suppressUnitConversion="true"),
        before=bindings(binding(inline(real("in.p.A.qd", 0.1)))),
        after=f"<ssd:SignalDictionaries>{bus}</ssd:SignalDictionaries>",
    )
    given = values(real("angle", 9.0, "deg") + real("mass", 0.002, "t"), UNITS.format("ssv"))
    rows = mapping(row("angle", "A.q", BY), row("mass", "rod.mass"))
    files = {"bus__ssb": dictionary, "a__ssv": given, "m__ssm": rows}
    return [lean(own), lean(contents(package(fmus, folder, outer, **files)))]


def contents(path: Path | io.BytesIO) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def lean(files: dict[str, bytes]) -> dict[str, bytes]:
    """A package without the sources of its FMUs, which take most of the time to unpack."""
    for place in [name for name in files if name.endswith(".fmu")]:
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w") as archive:
            for name, data in contents(io.BytesIO(files[place])).items():
                if not name.startswith(("sources/", "documentation/")):
                    archive.writestr(name, data)
        files[place] = out.getvalue()
    return files


def damaged(draw: random.Random, text: bytes) -> bytes:
    """Elements and attributes removed, doubled, moved, renamed, or given values of others."""
    if draw.random() < 0.05:
        return foreign(draw, text)
    root = etree.fromstring(text)
    for _ in range(draw.choice((1, 1, 2, 5))):
        every = list(root.iter(etree.Element))
        one, other = draw.choice(every), draw.choice(every)
        parent, name = one.getparent(), draw.choice([*one.attrib, *other.attrib, "id", "source"])
        match draw.randrange(8):
            case 0 if parent is not None:
                parent.remove(one)
            case 1 if parent is not None:
                parent.append(etree.fromstring(etree.tostring(one)))
            case 2:
                other.append(etree.fromstring(etree.tostring(one)))
            case 3:
                one.attrib.pop(name, None)
            case 4:
                one.tag = other.tag
            case 5:
                one.set(name, draw.choice(WORDS))
            case 6:
                one.set(name, draw.choice(NUMBERS))
            case _:
                one.set(name, draw.choice([*other.attrib.values(), *NAMES, ""]))
    return bytes(etree.tostring(root))


def case(draw: random.Random, files: dict[str, bytes], path: Path) -> str:
    """What comes of a damaged package at this path."""
    chosen = draw.choice([name for name in files if DESCRIPTIONS.search(name)])
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, damaged(draw, data) if name == chosen else data)
    times = {} if draw.random() < 0.2 else {"stop": 2e-3, "step": 1e-3}
    try:
        with open_system(path, **times) as read:
            plan = read.check()
            if plan.count > 20:
                return "long"
            read.run(engine=draw.choice(("libcosim", "fmpy")))
    except fm.FmumbsError as error:
        return type(error).__name__
    return "run"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", seeds(6, 100))
def test_damaged_descriptions_are_refused_or_run(seed: int, whole: list[dict[str, bytes]], tmp_path: Path) -> None:
    for number in range(10):
        draw = random.Random(f"{seed} {number}")
        case(draw, draw.choice(whole), tmp_path / "D.ssp")


AGAIN = '<ssd:Component name="{}" source="#{}" type="application/x-ssp-definition"/>'


def levels(count: int, *references: str) -> str:
    """Systems of which each refers to the next by these names; the last one has the FMU."""
    inside = ["".join(AGAIN.format(name, f"i{i + 1}") for name in references) for i in range(count)]
    text = "".join(system(f"l{i}", one) for i, one in enumerate([*inside, component("p")]))
    return system("s", re.sub('name="l([0-9]+)"', r'name="l\1" id="i\1"', text))


def passing(count: int) -> str:
    """A value that goes from connector to connector of one system."""
    ports = connectors(*(connector(f"c{i}", "input") for i in range(count + 1)))
    wires = "".join(connection(f"/c{i}", f"/c{i + 1}") for i in range(count)) + connection(f"/c{count}", "p/A.tau")
    return system("s", component("p"), wires, ports + bindings(binding(inline(real("c0", 1.0)))))


def bound(count: int) -> str:
    """One file of a thousand start values for many bindings."""
    return system("s", component("p", bindings(*(binding(source="resources/a.ssv") for _ in range(count)))))


@pytest.mark.parametrize(
    ("top", "refusal"),
    [
        (levels(50, "a"), ""),
        (levels(9, "a", "b"), ""),
        (passing(1000), ""),
        (bound(100), ""),
        (system("s", "".join(component(chr(0x4E00 + i)) for i in range(1000))), ""),
        (levels(1500, "a"), "more than 60 levels of systems"),
        (levels(40, "a", "b"), "more than 10000 elements"),
        (passing(6000), "more than 10000000 steps along connections"),
        (bound(300), "more than 250000 start values"),
    ],
    ids=["deep", "shared", "passed", "bound", "names", "too deep", "doubled", "passed too far", "bound too often"],
)
def test_a_small_package_cannot_ask_for_much(top: str, refusal: str, fmus: Path, tmp_path: Path) -> None:
    """As by systems of which each refers to the next one twice, or values that many elements read from one file."""
    path = package(fmus, tmp_path, top, valid=False, a__ssv=values("".join(real(f"v{i}", 1.0) for i in range(1000))))
    with pytest.raises(ExportError, match=refusal) if refusal else nullcontext(), open_system(path, step=1e-3) as read:
        read.check()


def test_the_fmu_of_many_elements_is_read_once(fmus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reading, read_from = structure.read_interface, []
    monkeypatch.setattr(structure, "read_interface", lambda *where: read_from.append(where) or reading(*where))
    path = package(fmus, tmp_path, system("s", "".join(component(f"p{i}") for i in range(20))), valid=False)
    with open_system(path, step=1e-3) as read:
        assert len(read.check().parts) == 20
    assert len(read_from) == 1
