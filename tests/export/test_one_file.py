"""An FMU's C file: strict C99 without warnings, only FMI's functions visible, and the numbers of the binary."""

import os
import platform
import re
import subprocess
from pathlib import Path

import pytest
from fmpy import read_model_description

from fmumbs.export.one_file import core_files, core_source
from fmumbs.export.sources import image_source, source
from fmumbs.readers import read_model
from support.drawing.mechanism import Refused, draw
from support.fmi_functions import EXPORTED
from support.one_file import HEADERS, QUICK, compiled, program, unpacked
from support.sweeps import first

HERE = Path(__file__).parent
MODES = ["cs2", "cs3", "me2"]
slow = pytest.mark.slow
COMPILERS = [
    QUICK,
    *(pytest.param([name, f"-O{level}"], marks=slow) for name in ("gcc", "clang") for level in range(4)),
    pytest.param(["gcc", "-O2", "-march=native", "-std=gnu99"], marks=slow),  # contracts unless it is told not to
]
"""Those that there are: a test without its compiler is skipped."""


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two FMUs, unpacked: a tree and a loop."""
    return [unpacked(read_model(name), tmp_path_factory.mktemp(name)) for name in ("double_pendulum", "four_bar")]


def linked(command: list[str], folders: list[Path], target: Path) -> Path:
    """A program with the FMUs in it, each compiled from its one file."""
    files = [one for folder in folders for one in (folder / "sources").glob("*.c")]
    assert len(files) == len(folders)
    objects = [compiled(command, file, target.with_suffix(f".{i}.o")) for i, file in enumerate(files)]
    names = [f"-D{which}={file.stem}" for which, file in zip(("FIRST", "SECOND"), files, strict=True)]
    host = ["-std=c99", *names, "-I", str(HEADERS), str(HERE / "static_host.c"), *map(str, objects)]
    subprocess.run([program(command[0]), *host, "-o", str(target), "-lm"], check=True)
    return target


@pytest.fixture(scope="module")
def loader(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The host of binaries."""
    target = tmp_path_factory.mktemp("host") / "loader"
    host = ["-std=gnu99", "-I", str(HEADERS), str(HERE / "static_host.c")]
    subprocess.run([program("cc"), *host, "-o", str(target), "-ldl"], check=True)
    return target


def answer(
    host: Path, mode: str, folders: list[Path], step: float = 0.01, *, with_resources: bool
) -> tuple[int, str, str]:
    """Status, outputs and messages of the host."""
    arguments = [str(host), mode, "20", repr(step)]
    for folder in folders:
        description = read_model_description(str(folder), validate=False)
        outputs = [v.valueReference for v in description.modelVariables if v.causality == "output" and v.type == "Real"]
        arguments += [description.guid, str(folder) if with_resources else "-", ",".join(map(str, outputs))]
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout.replace("-nan", "nan"), done.stderr  # C leaves the sign of a NaN open


@pytest.mark.parametrize("command", COMPILERS, ids=" ".join)
def test_two_fmus_in_one_program_run_as_their_binaries_do(
    command: list[str], pair: list[Path], loader: Path, tmp_path: Path
) -> None:
    host = linked(command, pair, tmp_path / "host")
    for mode in MODES:
        expected = answer(loader, mode, pair, with_resources=True)
        assert expected[0] == 0 and len(expected[1].splitlines()) == 42
        assert answer(host, mode, pair, with_resources=False) == expected


@pytest.mark.parametrize("seed", first(4, [53, *range(53), *range(54, 60)]))  # 53 has subnormal numbers
def test_any_mechanism_runs_as_its_binary_does(seed: int, pair: list[Path], loader: Path, tmp_path: Path) -> None:
    try:
        drawn = draw(seed)
    except Refused:
        pytest.skip("no mechanism")
    (tmp_path / "drawn").mkdir()
    folders = [unpacked(drawn.model, tmp_path / "drawn"), pair[1]]
    host = linked(QUICK, folders, tmp_path / "host")
    for mode in MODES:
        step = drawn.stop / 20
        expected = answer(loader, mode, folders, step, with_resources=True)
        assert answer(host, mode, folders, step, with_resources=False) == expected


def test_nothing_but_functions_of_fmi_is_visible(pair: list[Path], tmp_path: Path) -> None:
    name = "double_pendulum"
    file = pair[0] / "sources" / f"{name}.c"
    for flags, prefix in (
        ((), f"{name}_"),
        (("-DFMI2_OVERRIDE_FUNCTION_PREFIX",), ""),
        (("-DFMI3_OVERRIDE_FUNCTION_PREFIX",), ""),
        ((f"-D{name}_EXPORTS",), ""),
    ):
        made = compiled(QUICK, file, tmp_path / "a.o", *flags)
        table = subprocess.run(["nm", "--extern-only", "--defined-only", str(made)], capture_output=True, text=True)
        assert {line.split()[-1] for line in table.stdout.splitlines()} == {f"{prefix}{one}" for one in EXPORTED}


@pytest.mark.skipif(platform.machine() != "x86_64", reason="flags of x86")
@pytest.mark.parametrize(
    ("flags", "words"),
    [
        ("-ffast-math", "-ffast-math"),
        ("-ffinite-math-only", "-ffast-math"),
        ("-fassociative-math -fno-signed-zeros -fno-trapping-math", "-ffast-math"),
        ("-freciprocal-math", "-ffast-math"),
        ("-mfpmath=387", "-msse2"),
    ],
    ids=["fast", "finite", "associative", "reciprocal", "x87"],
)
def test_flags_that_change_results_are_refused(flags: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "a.c").write_bytes(core_source())
    command = [program("gcc"), "-std=c99", *flags.split(), "-E", "-o", os.devnull, str(tmp_path / "a.c")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode != 0 and re.search(rf"#error .*{words}", done.stderr)


def test_it_says_what_the_files_of_the_core_say() -> None:
    """Other names for what two files declare change no text that users read."""
    texts = re.compile(r'/\*[\s\S]*?\*/|("(?:\\.|[^"\\\n])*")')
    files = [text for name, text in core_files().items() if name.endswith((".c", ".h")) and "_avx" not in name]
    expected = {found for text in files for found in texts.findall(re.sub(r"#[ \t]*include.*", "", text))}
    found = set(texts.findall(re.sub(r"#[ \t]*include.*", "", core_source().decode())))
    assert found >= expected
    assert not [one for one in found - expected if "_" in one]


def test_the_image_as_c_holds_every_byte() -> None:
    image = bytes(range(256)) * 3
    text = image_source(image).decode()
    rows = text[text.index("{") + 1 : text.rindex("}")]
    assert bytes(int(number) for number in rows.replace("\n", "").split(",") if number) == image
    assert f"fm_embedded_image_size = {len(image)}UL" in text
    assert source("a", image)[0].endswith(image_source(image))
