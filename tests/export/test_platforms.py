"""Binaries of several platforms in an FMU: which ones, where, their size; and what the build keeps."""

import re
import struct
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Sequence
from pathlib import Path

import fmpy
import pytest

import fmumbs as fm
from fmumbs.compiler import ModelImage, compile
from fmumbs.export import export_fmu, installed
from fmumbs.export.installed import PLATFORMS
from fmumbs.play.host import executed, host_library, other_binaries
from fmumbs.verify import not_executed, verify_fmu
from models.arm6 import build as arm
from support.commands import fmumbs

ROOT = Path(__file__).parents[2]
OWN = fmpy.platform
MOST = 4_600_000  # bytes of an FMU with all seven platforms, measured 4.46e6


@pytest.fixture
def every(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Path]:
    """An installation with all platforms, of which only the host's can be executed."""
    suffix = {"win": ".dll", "dar": ".dylib", "aarch64-win": ".dll"}
    ends = {name: next((end for first, end in suffix.items() if name.startswith(first)), ".so") for name in PLATFORMS}
    files = {name: tmp_path / "package" / name / f"fmumbs{end}" for name, end in ends.items()}
    for name, file in files.items():
        file.parent.mkdir(parents=True)
        file.write_bytes(name.encode() * 50)
    files[OWN] = installed.installed_binaries()[OWN]
    monkeypatch.setattr(installed, "installed_binaries", lambda: files)
    return files


def held(path: Path) -> dict[str, bytes]:
    """The binaries in an FMU by name without binaries/."""
    with zipfile.ZipFile(path) as archive:
        names = [name for name in archive.namelist() if name.startswith("binaries/")]
        return {name.removeprefix("binaries/"): archive.read(name) for name in names}


def test_an_fmu_carries_all_platforms_and_is_the_same_each_time(
    every: dict[str, Path], pendulum: ModelImage, tmp_path: Path
) -> None:
    first, again = (export_fmu(pendulum, tmp_path / f"{name}.fmu") for name in "ab")
    assert held(first) == {f"{name}/{pendulum.name}{file.suffix}": file.read_bytes() for name, file in every.items()}
    assert first.read_bytes() == again.read_bytes()


@pytest.mark.parametrize(
    ("platforms", "folders"),
    [
        (["win64"], {"win64": "win64"}),
        (["win64", "darwin64"], {"win64": "win64", "darwin64": "darwin64"}),
        (["linux64=aarch64-linux"], {"linux64": "aarch64-linux"}),
        (["linux64=aarch64-linux", "aarch64-linux"], {"linux64": "aarch64-linux", "aarch64-linux": "aarch64-linux"}),
        (["x86_64-windows=win64", "win32"], {"x86_64-windows": "win64", "win32": "win32"}),
        (["win64=aarch64-windows"], {"win64": "aarch64-windows"}),
    ],
)
def test_named_platforms_are_taken(
    platforms: Sequence[str], folders: dict[str, str], every: dict[str, Path], pendulum: ModelImage, tmp_path: Path
) -> None:
    found = held(export_fmu(pendulum, tmp_path / "a.fmu", platforms=platforms))
    assert {name.partition("/")[0]: data for name, data in found.items()} == {
        folder: every[name].read_bytes() for folder, name in folders.items()
    }
    backwards = held(export_fmu(pendulum, tmp_path / "b.fmu", platforms=platforms[::-1]))
    assert list(backwards) == list(found)


@pytest.mark.parametrize(
    ("platforms", "message"),
    [
        (["win65"], r"platform 'win65' is unknown\. The nearest name is 'win64'"),
        (["linux64=arm"], r"platform 'linux64=arm' is unknown"),
        (["win64", "win64"], r"folder 'win64' is taken"),
        (["linux64", "linux64=aarch64-linux"], r"folder 'linux64' is taken"),
        (["../win64=win64"], r"'\.\./win64' is not a folder"),
        (["a b=win64"], r"'a b' is not a folder"),
    ],
)
def test_wrong_platforms_are_refused(
    platforms: Sequence[str], message: str, every: dict[str, Path], pendulum: ModelImage, tmp_path: Path
) -> None:
    with pytest.raises(fm.ExportError, match=message):
        export_fmu(pendulum, tmp_path / "a.fmu", platforms=platforms)
    assert not (tmp_path / "a.fmu").exists()


def test_a_platform_that_pythonfmu_lacks_is_refused_if_it_is_named(every: dict[str, Path], tmp_path: Path) -> None:
    with pytest.raises(fm.ExportError, match=r"pythonfmu has no binary for 'darwin64'"):
        export_fmu(arm(joints=1), tmp_path / "a.fmu", backend="pythonfmu", platforms=["linux64", "darwin64"])


def test_what_is_missing_is_said_once_and_refused_by_name(
    every: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert fmumbs("export", "pendulum").stderr == ""
    del every["win32"], every["darwin64"]
    done = fmumbs("export", "pendulum", "double_pendulum", "-o", "made/")
    assert done.exit_code == 0
    assert done.stderr.splitlines() == ["without binaries for win32, darwin64, which this installation does not have"]
    assert fmumbs("export", "pendulum", "--platform", "linux64").stderr == ""
    refused = fmumbs("export", "pendulum", "--platform", "win32")
    assert refused.exit_code == 1
    assert "make platforms" in refused.output


def test_verify_and_info_tell_platforms(
    every: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert fmumbs("export", "pendulum").exit_code == 0
    others = sorted(set(PLATFORMS) - {OWN})
    assert not_executed(Path("pendulum.fmu")) == others
    assert verify_fmu(Path("pendulum.fmu")) == []
    told = fmumbs("verify", "pendulum.fmu").output
    assert f"not executed, as this host cannot: the binaries for {', '.join(others)}" in told
    assert ", ".join(sorted(PLATFORMS)) in re.sub(r"\s+", " ", fmumbs("info", "pendulum.fmu").output)


# The host's binary --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("host", "there", "own"),
    [
        (("aarch64-linux", "linux64"), ("linux64", "aarch64-linux"), "aarch64-linux"),
        (("aarch64-linux", "linux64"), ("linux64", "win64"), "linux64"),
        (("x86_64-linux", "linux64"), ("linux64", "aarch64-linux"), "linux64"),
        (("aarch64-darwin", "darwin64"), ("darwin64",), "darwin64"),
        (("x86_64-windows", "win64"), ("win32", "linux64"), None),
    ],
)
def test_the_hosts_binary_is_found(
    host: tuple[str, str], there: tuple[str, ...], own: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fmpy, "platform_tuple", host[0])
    monkeypatch.setattr(fmpy, "platform", host[1])
    assert executed(there) == own
    names = {f"binaries/{name}/m.so": name for name in there}
    assert other_binaries([*names, "sources/a.c", "binaries/", "binaries/linux64/note.txt"]) == {
        name: folder for name, folder in names.items() if folder != own
    }
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).touch()
    assert host_library(tmp_path, "m") == (str(tmp_path / "binaries" / own / "m.so") if own else None)
    assert host_library(tmp_path, "other") is None


# The build ----------------------------------------------------------------------------------------------------


def python(*arguments: str) -> str:
    """The output of a Python that finds the build's modules."""
    code = f"import sys; sys.path.insert(0, {str(ROOT / 'cmake')!r})\n{arguments[0]}"
    command = [sys.executable, "-c", code, *arguments[1:]]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_the_build_loads_neither_the_core_that_it_builds_nor_numpy(tmp_path: Path) -> None:
    """A wheel is built in a tree and an environment without them."""
    nothing = "".join(f"sys.modules[{name!r}] = None\n" for name in ("fmumbs._core", "numpy", "scipy", "lxml"))
    code = f"{nothing}import platforms, wheels\nfrom pathlib import Path\nplatforms.deflate(Path(sys.argv[1]))"
    python(code, str(tmp_path))
    assert (tmp_path / "deflated.zip").is_file()


def test_binaries_made_from_other_sources_are_removed(tmp_path: Path) -> None:
    digest = python("import deflate; print(deflate.digest())").strip()
    for name, stamp in (("linux64", None), ("win64", digest), ("win32", "0" * 64)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "fmumbs.so").write_bytes(name.encode())
        if stamp:
            (tmp_path / name / "sources.sha256").write_text(stamp)
    printed = python("import deflate; from pathlib import Path; deflate.deflate(Path(sys.argv[1]))", str(tmp_path))
    assert printed.splitlines() == ["win32: made from other sources, removed; `make platforms` builds it"]
    assert {path.name for path in tmp_path.iterdir()} == {"linux64", "win64", "deflated.zip"}
    with zipfile.ZipFile(tmp_path / "deflated.zip") as archive:
        assert archive.namelist() == ["linux64/fmumbs.so", "win64/fmumbs.so", "core.c"]


def test_what_is_made_is_not_built_again_and_the_hosts_own_stays(tmp_path: Path) -> None:
    code = """
import platforms
from pathlib import Path
folder = Path(sys.argv[1])
print(platforms.is_made(folder), platforms.is_made(folder, native=True))
(folder / "fmumbs.so").touch()
print(platforms.is_made(folder), platforms.is_made(folder, native=True))
(folder / "sources.sha256").write_text("other")
print(platforms.is_made(folder), platforms.is_made(folder, native=True))
(folder / "sources.sha256").write_text(platforms.digest())
print(platforms.is_made(folder), platforms.is_made(folder, native=True))
"""
    assert python(code, str(tmp_path)).split() == ["False", "False", "False", "True", "False", "False", "True", "True"]


def test_a_universal_file_holds_both_parts_on_pages(tmp_path: Path) -> None:
    parts = {"x86_64": b"\xcf\xfa\xed\xfe" + b"a" * 20000, "aarch64": b"\xcf\xfa\xed\xfe" + b"b" * 700}
    code = f"import platforms; open(sys.argv[1], 'wb').write(platforms.universal({parts!r}))"
    python(code, str(tmp_path / "file"))
    data = (tmp_path / "file").read_bytes()
    assert struct.unpack_from(">2I", data) == (0xCAFEBABE, 2)
    for i, (kind, part) in enumerate(zip((0x01000007, 0x0100000C), parts.values(), strict=True)):
        processor, _, at, size, power = struct.unpack_from(">5I", data, 8 + 20 * i)
        assert (processor, at % 2**power, power) == (kind, 0, 14)
        assert data[at : at + size] == part


def test_an_unknown_platform_is_refused_by_the_build() -> None:
    command = [sys.executable, str(ROOT / "cmake" / "platforms.py"), "package", "win65"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1
    assert "platform 'win65' is unknown. Choose from: win64" in done.stderr


def test_every_place_names_the_same_version_of_zig_and_the_same_platforms() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    version, targets = python("import platforms; print(platforms.ZIG, *platforms.TARGETS)").split(maxsplit=1)
    pin = f"ziglang=={version}"
    assert pin in project["project"]["optional-dependencies"]["zig"]
    assert pin in project["tool"]["scikit-build"]["overrides"][0]["build"]["requires"]
    assert pin in (ROOT / "requirements-dev.lock").read_text(encoding="utf-8").splitlines()
    assert set(targets.split()) == {*PLATFORMS, installed.WEBASSEMBLY}


def test_an_fmu_of_ten_bodies_with_all_platforms_is_small(tmp_path: Path) -> None:
    if missing := installed.missing_platforms():
        pytest.skip(f"no binaries for {', '.join(missing)}: make platforms")
    model = arm(joints=10)
    assert len(model.bodies) == 10
    path = export_fmu(compile(model), tmp_path / "a.fmu")
    assert len(held(path)) == len(PLATFORMS)
    assert path.stat().st_size <= MOST


def test_no_module_of_the_package_needs_a_module_that_windows_lacks() -> None:
    """fcntl is imported where its absence is handled."""
    lines = [
        f"{path.name}: {line.strip()}"
        for path in (ROOT / "fmumbs").rglob("*.py")
        if "_models" not in path.parts
        for line in path.read_text(encoding="utf-8").splitlines()
        if re.match(r"\s*(import|from) (fcntl|resource|pwd|grp|termios|tty|pty|curses|readline|posix)\b", line)
    ]
    assert lines == ["store.py: import fcntl"]
