"""Binaries of other platforms, executed: they answer as the one that this machine's compiler made for Linux on x86-64.

All models for 1 s, to the bit, and random ones; host.c says what else. zig's binary for Linux on x86-64 is one of the
others. Emulators are slow: all models, and the random ones, are left to `make test-all`.
"""

import struct
import subprocess
from functools import cache
from pathlib import Path

import pytest
from fmpy import read_model_description

import fmumbs as fm
from fmumbs.compiler import ModelImage, compile
from support.emulated import KEPT, MOST, NATIVE, PLATFORMS, answers, call, job, library, locked, need, unpacked, uri
from support.every_kind import every_kind
from support.scripts import load

FILES = {file.stem: file for file in sorted((Path(__file__).parents[2] / "models").glob("[!_]*.py"))}
FEW = (
    "braked_rotor",
    "flexible_four_bar",
    "pendulum",
    "rolling_disk",
    "rpsup",
)  # friction, bending, a loop, contact, a ball
OTHERS = [name for name in PLATFORMS if name != "linux64"]
RANDOM = 40  # models
MOST_STEPS = 700  # of a random one in 1 s


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Under a path with spaces and letters beyond ASCII."""
    return tmp_path_factory.mktemp("FMUs – Größe 機構")


@cache
def fmu(folder: Path, name: str) -> Path:
    return unpacked(load(FILES[name]).build(), folder / name)


@cache
def expected(folder: Path, names: tuple[str, ...]) -> list[list[str]]:
    """What this machine's own binary answers."""
    return run(NATIVE, folder, names)


def run(platform: str, folder: Path, names: tuple[str, ...], command: str = "run", *rest: str) -> list[list[str]]:
    jobs = [job(platform, library(platform, folder), fmu(folder, name)) for name in names]
    found = answers(platform, command, jobs, *rest)
    assert len(found) == len(names) or command != "run"
    return found


def agree(found: list[list[str]], expected: list[list[str]], names: tuple[str, ...]) -> None:
    """To the bit, messages too."""
    for name, there, here in zip(names, found, expected, strict=True):
        assert len(there) == len(here), name
        different = [n for n, (one, other) in enumerate(zip(there, here, strict=True)) if one != other]
        assert not different, (
            f"{name}: lines {different[:5]}: {there[different[0]][:200]!r} for {here[different[0]][:200]!r}"
        )


def test_the_host_itself_sees_every_model_restored_repeated_and_refused(folder: Path) -> None:
    names = tuple(FILES)
    for name, lines in zip(names, expected(folder, names), strict=True):
        words = [line for line in lines if line.split()[0] not in ("values", "slopes", "whole", "log")]
        failing = [word for word in words if word.endswith("failed")]
        words = [word for word in words if word not in failing]
        assert words == [*["refused"] * 3, "repeated", "restored", "refused", "refused", "reset"], name
        assert len(failing) <= 1, name


@pytest.mark.parametrize("name", OTHERS)
def test_a_few_models_answer_to_the_bit(name: str, folder: Path) -> None:
    need(name)
    agree(run(name, folder, FEW), expected(folder, FEW), FEW)


@pytest.mark.slow
@pytest.mark.parametrize("name", PLATFORMS)
def test_all_models_answer_to_the_bit(name: str, folder: Path) -> None:
    need(name)
    names = tuple(FILES)
    agree(run(name, folder, names), expected(folder, names), names)


@pytest.mark.slow
def test_the_solver_by_this_machines_compiler_has_the_bits_of_an_fmu_by_zig(folder: Path) -> None:
    need("linux64")
    names = tuple(FILES)
    for name, lines in zip(names, run("linux64", folder, names), strict=True):
        assert [line for line in lines if line.startswith("values")] == solved(fmu(folder, name), FILES[name]), name


def solved(fmu: Path, file: Path) -> list[str]:
    """What host.c prints of the outputs, by a Solver."""
    variables = [v for v in read_model_description(str(fmu), validate=False).modelVariables if v.type == "Real"]
    outputs = [v.name for v in variables if v.causality == "output"][:MOST]
    solver = fm.Solver(load(file).build())
    for i, name in enumerate([v.name for v in variables if v.causality == "input"][:MOST]):
        solver.set(name, 0.0078125 * (1 + i % 7))
    lines = []
    for i in range(11):
        solver.step((i - 1) * 0.1 + 0.1) if i else solver.assemble()
        bits = [f"{struct.unpack('<Q', struct.pack('<d', solver.get(name)))[0]:016x}" for name in outputs]
        lines.append(" ".join(["values", *bits]))
    return lines


@cache
def drawn(folder: Path, seed: int, count: int) -> dict[str, Path]:
    """FMUs of random models that this machine integrates over 1 s in few steps, by name."""
    found: dict[str, Path] = {}
    for name, image in every_kind(seed):
        if is_short(image):
            found[name] = unpacked(image, folder / name.replace(" ", "_"))
        if len(found) == count:
            break
    return found


def is_short(image: ModelImage) -> bool:
    solver = fm.Solver(image)
    try:
        solver.assemble()
        while solver.time < 1.0 and solver.get("solver.steps") < MOST_STEPS:
            solver.step(solver.time + 0.0625)
    except fm.FmumbsError:
        return False
    return solver.get("solver.steps") < MOST_STEPS


@cache
def expected_of_random(folder: Path, seed: int, count: int) -> list[list[str]]:
    jobs = [job(NATIVE, library(NATIVE, folder), one) for one in drawn(folder, seed, count).values()]
    return answers(NATIVE, "run", jobs)


@pytest.mark.slow
@pytest.mark.parametrize("name", PLATFORMS)
def test_random_models_answer_to_the_bit_by_every_scheme(name: str, folder: Path) -> None:
    need(name)
    models = drawn(folder, 0, RANDOM)
    jobs = [job(name, library(name, folder), one) for one in models.values()]
    agree(answers(name, "run", jobs), expected_of_random(folder, 0, RANDOM), tuple(models))


@pytest.mark.parametrize("name", [NATIVE, *OTHERS])
def test_answers_do_not_depend_on_the_floating_point_mode_of_the_host(name: str, folder: Path) -> None:
    """Rounding, precision of the x87, flushing, flags, traps; the host's mode stays, in its logger as well."""
    if name != NATIVE:
        need(name)
    names = ("braked_rotor", "four_bar") if name == NATIVE else ("four_bar",)
    found = run(name, folder, names, "modes")
    assert len(found) >= 7 * len(names)
    for n in range(0, len(found), len(names)):
        agree([[line for line in one if not line.startswith("mode ")] for one in found[n : n + len(names)]],
              expected(folder, names), names)  # fmt: skip


@pytest.mark.parametrize("name", [NATIVE, *OTHERS])
def test_messages_do_not_depend_on_the_locale_of_the_host(name: str, folder: Path) -> None:
    locale = "de_DE.UTF-8"
    if name != NATIVE:
        locale = need(name).locale
    make_locale()
    agree(run(name, folder, ("pendulum",), "run", locale), expected(folder, ("pendulum",)), ("pendulum",))


def make_locale() -> None:
    """A locale with a decimal comma, in a folder of the tests' own."""
    with locked():
        if not (KEPT / "locales" / "de_DE.UTF-8").exists():
            (KEPT / "locales").mkdir(exist_ok=True)
            subprocess.run(
                ["localedef", "-i", "de_DE", "-f", "UTF-8", KEPT / "locales" / "de_DE.UTF-8"], check=True, timeout=60
            )


@pytest.mark.parametrize("name", [NATIVE, *OTHERS])
def test_loading_and_unloading_many_times_leaves_nothing(name: str, folder: Path) -> None:
    """Three instances in turn, each with a state that is never freed; open files, bytes and the library itself."""
    if name != NATIVE:
        need(name)
    done = call(name, "again", [job(name, library(name, folder), fmu(folder, "pendulum"), steps=2)], "24")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "handles 0 bytes 0"


@pytest.mark.slow
def test_a_model_beyond_32_bits_gets_a_clear_error(folder: Path) -> None:
    """Squares of its number of coordinates have more bytes than 32 bits count; 64 bits can."""
    model = fm.Model("long")
    for i in range(7000):
        body = fm.Body.rod(f"b{i}", length=1.0, mass=1.0)
        model.add(body, fm.Prismatic(f"j{i}", model.ground.at(0, 0, 0), body.base, axis="x"))
    image = compile(model).with_options(dynamics="copcod")
    (folder / "long").mkdir()
    (folder / "long" / "model.fmb").write_bytes(image.bytes)
    for name in ("linux32", "win32"):
        path = need(name).path(library(name, folder))
        done = call(name, "run", [f"{path}\n{uri(folder / 'long', name)}\n{image.guid} 1 0.1 0 0 0 0 0\n"])
        assert done.returncode == 1
        assert "not enough memory" in done.stdout
