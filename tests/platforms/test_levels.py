"""The kernels' levels in binaries of other platforms: each finds the processor's best, and all give the same bits.

levels.c is linked with what `make platforms` compiled and runs the images of the C tests: their start, and some steps
by an explicit scheme, by one of fixed steps and by the implicit one.
"""

import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from fmumbs.compiler.layout import lib
from support.emulated import PLATFORMS, Platform
from support.scripts import load

ROOT = Path(__file__).parents[2]
PROGRAM = Path(__file__).with_name("levels.c")
NATIVE = Platform("x86_64-linux-gnu.2.17")
HERE = {"linux64": NATIVE, **PLATFORMS}
SEVERAL = {"linux64": 2, "win64": 2}  # the best level that a platform is compiled for; else plain


@pytest.fixture(scope="module")
def images(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("images")
    load(ROOT / "tests" / "core" / "write_images.py").main(folder)
    return sorted(folder.glob("*.fmb"))


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the emulators run on Linux")
@pytest.mark.parametrize("name", HERE)
def test_all_levels_give_the_same_bits(name: str, images: list[Path], tmp_path: Path) -> None:
    program = linked(name, HERE[name], tmp_path)
    path = HERE[name].path
    jobs = tmp_path / "images.txt"
    jobs.write_text("".join(f"{path(image)}\n" for image in images))
    done = run([*HERE[name].runner, str(program), path(jobs)], tmp_path)
    best, *lines = (line.split() for line in done.splitlines())
    assert int(best[1]) == min(lib.fm_level_best(), SEVERAL.get(name, 0))
    found: dict[tuple[str, str], set[tuple[str, str]]] = {}
    for image, scheme, _, status, bits in lines:
        found.setdefault((image, scheme), set()).add((status, bits))
    assert len(found) == 3 * len(images)
    assert [key for key, answers in found.items() if len(answers) > 1] == []
    assert sum(answers.pop()[0] == "0" for answers in found.values()) > 0.9 * len(found)


def linked(name: str, platform: Platform, folder: Path) -> Path:
    """levels.c with the core for a platform; skips what is not there."""
    built = ROOT / "build" / "platforms" / platform.target
    if not (built / "build.ninja").exists():
        pytest.skip(f"no binary for {name} was compiled here: make platforms")
    if platform.runner and not shutil.which(platform.runner[0]):
        pytest.skip(f"no {platform.runner[0]}: tests/platforms/install.sh")
    if missing := [path for path in platform.needs if not path.exists()]:
        pytest.skip(f"no {missing[0]}: tests/platforms/install.sh")
    if find_spec("ziglang") is None:
        pytest.skip("no ziglang: make platforms")
    cmake = shutil.which("cmake", path=str(Path(sys.executable).parent)) or "cmake"
    run([cmake, "--build", str(built), "--target", "archive"], folder)
    program = folder / "levels.exe"
    zig = [sys.executable, "-m", "ziglang", "cc", "-target", platform.target, "-std=c99", "-O1", "-lm"]
    run([*zig, f"-I{ROOT / 'fmumbs' / 'core'}", str(PROGRAM), str(built / "libfmumbs.a"), "-o", str(program)], folder)
    return program


def run(command: list[str], folder: Path) -> str:
    environment = {**os.environ, "WINEDEBUG": "-all", "WINEPREFIX": str(folder / "wine")}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
