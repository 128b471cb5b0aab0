"""Damaged FMUs, model files and options, drawn at random.

python -m support.hostile CASES [SEED]    in tests/: tries as many on every verb, as test_hostile.py does
"""

import contextlib
import io
import random
import struct
import sys
import tempfile
import traceback
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

from click.testing import CliRunner
from lxml import etree

from fmumbs.cli import main
from fmumbs.export import export_fmu
from fmumbs.readers import read_model

# fmt: off
WORDS = [
    "", " ", "0", "-1", "1", "0.01", "abc", "nan", "inf", "-inf", "1e-300", "1e300", "1e999", "5e-324", "9" * 30,
    "9" * 5000, "[/b]", "[b]bold", "[red]", ":smile:", "\\[", "%s%n", "ä", "模型", "a" * 300, "no/such/folder",
    "/proc/version/a", "true", "None", "{}", "[1, 2", "{[]: 1}", "(" * 300, "'", "1+2j", "A.q", "=", ",", "20,20",
    "nan,nan", "1,2,3", "-",
]
NAMES = [
    "/absolute", "../up", "a/../../up", "a\\b", "C:x", "a" * 300, "modelDescription.xml", "binaries", "bin\x01", "ä",
    "a//b", ".", "modelDescription.xml/inside", "resources/", "[/b]", "binaries/linux64/other.so",
    "resources/model.fmb",
]
MODELS = [
    "", "build = 3", "def build(:", "\0", "\xff", "import sys\nsys.exit()", "def build():\n    raise SystemExit('no')",
    "raise BaseException", "raise KeyError('[/b]')", "import nothing_like_that", "def build(**k):\n    return k",
    "def build():\n    return build()", "async def build(): ...", "class build: ...", "def build(a, /): ...",
    "build = dict", "def build():\n    raise MemoryError", "def build():\n    raise OSError(28, 'No space')", "1 / 0",
    "def build():\n    raise BrokenPipeError", "import fmumbs as fm\ndef build():\n    return fm.Model('[/b]')",
    "import fmumbs as fm\ndef build():\n    return fm.Model('empty')",
    "import fmumbs as fm\ndef build():\n    return fm.Model('m', description='[/b] ' * 9)",
    "class E(Exception):\n    def __str__(self): raise self\nraise E",
]
OPTIONS = {
    "check": ["--set", "--set-of", "--tool", "--json", "--all"],
    "info": ["--set", "--json"],
    "export": ["-o", "--backend", "--scheme", "--step", "--tol", "--correction", "--closure", "--set", "--all"],
    "run": [
        "--stop", "--interval", "--scheme", "--step", "--tol", "--correction", "--closure", "--set", "--input", "--out",
        "--plot",
    ],
    "verify": ["--against", "--set"],
    "demo": ["--out"],
}
# fmt: on
FLAGS = {"--json", "--all"}
BRIEFLY = ["--stop", "0.03", "--interval", "0.01"]

Mutation = Callable[[random.Random, bytes], bytes]


# Archives ------------------------------------------------------------------------------------------------------


def flipped(draw: random.Random, data: bytes) -> bytes:
    """Some bytes changed, more often where the zip's directory lies."""
    damaged = bytearray(data)
    for _ in range(draw.choice((1, 3, 30))):
        first = draw.choice((0, max(0, len(data) - 3000)))
        damaged[draw.randrange(first, len(data))] = draw.randrange(256)
    return bytes(damaged)


def cut(draw: random.Random, data: bytes) -> bytes:
    a, b = sorted(draw.randrange(len(data)) for _ in range(2))
    return draw.choice((data[:a], data[b:], data[:a] + data[b:], data[:a] + bytes(100) + data[a:], data + data[a:b]))


def repacked(draw: random.Random, data: bytes) -> bytes:
    """The entries once more, with odd ones among them, in any compression."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as good, zipfile.ZipFile(out, "w") as bad:
        names = [name for name in good.namelist() if draw.random() > 0.1]
        for name in [*names, *draw.sample(NAMES, draw.randrange(3))]:
            info = zipfile.ZipInfo(name)
            info.compress_type = draw.choice((zipfile.ZIP_DEFLATED,) * 9 + (0, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA))
            info.external_attr = draw.choice((0o100644, 0o100644, 0o120777, 0o020666)) << 16 if name in NAMES else 0
            bad.writestr(info, good.read(name) if name in names else draw.choice((b"", b"/etc/passwd", bytes(1000))))
    return out.getvalue()


def claiming(draw: random.Random, data: bytes) -> bytes:
    """Fields of the central directory changed: flags, compression, sizes, name's length, attributes, offset."""
    damaged = bytearray(data)
    at = [k for k in range(len(data) - 46) if data[k : k + 4] == b"PK\x01\x02"]
    for k in draw.sample(at, min(len(at), draw.choice((1, 3)))):
        offset = draw.choice((8, 10, 16, 20, 24, 28, 38, 42))
        form = "<H" if offset in (8, 10, 28) else "<I"
        most = 256 ** struct.calcsize(form) - 1
        struct.pack_into(form, damaged, k + offset, draw.choice((0, 1, 99, most, most - 1, draw.randrange(most))))
    return bytes(damaged)


def with_description(change: Callable[[random.Random, bytes], bytes]) -> Mutation:
    def mutated(draw: random.Random, data: bytes) -> bytes:
        out = io.BytesIO()
        with zipfile.ZipFile(io.BytesIO(data)) as good, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as bad:
            for name in good.namelist():
                entry = good.read(name)
                bad.writestr(name, change(draw, entry) if name == "modelDescription.xml" else entry, compresslevel=1)
        return out.getvalue()

    return mutated


def edited(draw: random.Random, text: bytes) -> bytes:
    """Elements and attributes removed, doubled, renamed, or given other values."""
    root = etree.fromstring(text)
    for _ in range(draw.choice((1, 1, 2, 8))):
        elements = list(root.iter(etree.Element))
        rare = [element for element in elements if element.tag not in ("ScalarVariable", "Unknown", "Real")]
        one = draw.choice(draw.choice((elements, rare)))
        parent, name = one.getparent(), draw.choice([*one.attrib, "start"])
        match draw.randrange(7):
            case 0 if parent is not None:
                parent.remove(one)
            case 1 if parent is not None:
                parent.append(etree.fromstring(etree.tostring(one)))
            case 2:
                one.attrib.pop(name, None)
            case 3:
                one.insert(0, draw.choice((etree.Comment("first"), etree.PI("first"), etree.Element("Other"))))
            case 4:
                one.tag = draw.choice(("Other", "Real", "String", "fmiModelDescription"))
            case _:
                one.set(name, draw.choice(WORDS))
    return etree.tostring(root)


def foreign(draw: random.Random, text: bytes) -> bytes:
    """Another XML document."""
    laughs = "".join(f'<!ENTITY e{k} "{f"&e{k - 1};" * 10}">' for k in range(1, 10))
    return draw.choice(
        (
            b"", b"text", b"<a>", b"<a/>", b"\xff\xfe<\0a\0/\0>\0", text[: len(text) // 2],
            text.replace(b"UTF-8", b"UTF-77"), text.replace(b"CoSimulation", b"ModelExchange"),
            text.replace(b'"2.0"', b'"3.0"'), text.replace(b'"2.0"', b'"1.0"'),
            b"<fmiModelDescription fmiVersion='2.0'/>", b"<a>" * 1000 + b"</a>" * 1000, text.decode().encode("utf-16"),
            f'<!DOCTYPE a [<!ENTITY e0 "ha">{laughs}]><a>&e9;</a>'.encode(),
            b'<!DOCTYPE a [<!ENTITY e SYSTEM "file:///etc/passwd">]><a>&e;</a>', flipped(draw, text), cut(draw, text),
        )
    )  # fmt: skip


MUTATIONS: Sequence[Mutation] = (
    flipped, cut, repacked, claiming, with_description(edited), with_description(edited), with_description(foreign),
)  # fmt: skip


# Cases ---------------------------------------------------------------------------------------------------------


def fmu_case(draw: random.Random, good: bytes, folder: Path) -> list[str]:
    """A damaged FMU, and how a verb is called on it."""
    path = folder / draw.choice(("damaged.fmu", "[b]damaged[red].fmu"))
    path.write_bytes(draw.choice(MUTATIONS)(draw, good))
    verb = draw.choice(("info", "info", "run", "run", "verify"))
    match verb:
        case "info":
            return [verb, str(path), *draw.choice(([], ["--json"]))]
        case "run":
            setting = ["--set", f"{draw.choice(('A.q', 'solver.scheme', 'gravity[3]'))}={draw.choice(WORDS)}"]
            return [verb, str(path), *BRIEFLY, *draw.choice(([], [], setting))]
    return [verb, str(path)]


def model_case(draw: random.Random, folder: Path) -> list[str]:
    path = folder / "odd.py"
    path.write_bytes(draw.choice(MODELS).encode("latin-1", "replace"))
    verb = draw.choice(("check", "info", "export", "run"))
    return [verb, str(path), *(BRIEFLY if verb == "run" else [])]


def option_case(draw: random.Random, folder: Path) -> list[str]:
    """A verb with options of any value."""
    verb = draw.choice((*OPTIONS, "run", "run", "export"))
    target = draw.choice(("pendulum", "pendulum", "four_bar", "good.fmu", draw.choice(WORDS)))
    arguments = [] if verb == "demo" else [target]
    arguments += BRIEFLY if verb == "run" else []
    for option in draw.sample(OPTIONS[verb], min(len(OPTIONS[verb]), draw.choice((1, 1, 2)))):
        value = draw.choice(WORDS)
        if option == "--set":
            value = draw.choice((value, f"length={value}", f"{value}={value}", f"A.q={value}"))
        if option in ("--stop", "--interval") and value in ("1", "9" * 30, "1e300"):
            continue  # a long run is none of its faults
        arguments += [option] if option in FLAGS else [option, value]
    return [verb, *arguments]


def tried(arguments: list[str]) -> str:
    """Runs the command; returns what is wrong with its end, or ""."""
    result = CliRunner().invoke(main, arguments)
    what = f"fmumbs {' '.join(arguments)[:500]}\n{result.output[-2000:]}"
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        return what + "".join(traceback.format_exception(result.exception))
    if result.exit_code not in (0, 1, 2) or "Traceback" in result.output:
        return f"{what}exit status {result.exit_code}"
    if not result.output.strip():
        return f"{what}exit status {result.exit_code} without any output"
    return ""


def case(draw: random.Random, good: bytes, folder: Path) -> list[str]:
    match draw.randrange(3):
        case 0:
            return fmu_case(draw, good, folder)
        case 1:
            return model_case(draw, folder)
    return option_case(draw, folder)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name, contextlib.chdir(name):
        fmu = export_fmu(read_model("double_pendulum"), "good.fmu").read_bytes()
        seed = int(sys.argv[2]) if len(sys.argv) > 2 else 0
        faults = 0
        for number in range(int(sys.argv[1])):
            arguments = case(random.Random(f"{seed} {number}"), fmu, Path(name))
            if fault := tried(arguments):
                faults += 1
                print(f"--- {number}: {fault}", flush=True)
        print(f"{faults} faults")
