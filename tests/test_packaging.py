"""What a user receives: the wheel's content, and a binary that any Linux host from 2014 on can load."""

import ast
import base64
import csv
import hashlib
import importlib.util
import os
import platform
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import fmumbs
from fmumbs.export.installed import PLATFORMS, missing_platforms
from fmumbs.export.one_file import core_source
from support.fmi_functions import EXPORTED
from support.least_versions import BOUND, requirements

ROOT = Path(__file__).parents[1]
CORE = ROOT / "fmumbs" / "core"
BINARY = Path(fmumbs.__file__).parent / "_fmu" / "linux64" / "fmumbs.so"

linux_binary = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads an ELF file")


def readelf(*options: str) -> str:
    """The output of binutils' readelf, which comes with the compiler, for the FMU's binary."""
    command = ["readelf", "--wide", *options, str(BINARY)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def shipped() -> list[str]:
    """The names in sources.txt."""
    lines = (CORE / "sources.txt").read_text(encoding="utf-8").splitlines()
    return [line.strip() for line in lines if line.strip() and not line.startswith("#")]


def test_the_list_of_shipped_files_is_complete() -> None:
    files = (path for path in CORE.rglob("*") if path.suffix in {".c", ".h", ".inc"})
    there = {path.relative_to(CORE).as_posix() for path in files}
    assert set(shipped()) == there
    assert len(shipped()) == len(there), "a file is listed twice"


@linux_binary
def test_the_binary_exports_the_functions_of_the_standard_and_nothing_else() -> None:
    symbols = re.findall(r"(?:GLOBAL|WEAK|UNIQUE)\s+DEFAULT\s+(\w+)\s+([^\s@]+)", readelf("--dyn-syms"))
    assert {name for section, name in symbols if section != "UND"} == EXPORTED


@linux_binary
def test_the_binary_needs_only_libc_and_libm() -> None:
    assert set(re.findall(r"\(NEEDED\).*\[(.+)\]", readelf("--dynamic"))) <= {"libc.so.6", "libm.so.6"}


@linux_binary
def test_the_binary_loads_on_a_host_with_glibc_2_17() -> None:
    versions = re.findall(r"Name: GLIBC_(\d+)\.(\d+)", readelf("--version-info"))
    assert max((int(major), int(minor)) for major, minor in versions) <= (2, 17)


@linux_binary
def test_the_binary_binds_its_own_functions_internally() -> None:
    assert "SYMBOLIC" in readelf("--dynamic")


@linux_binary
def test_the_core_has_no_global_variables() -> None:
    """Many instances share a library: nothing in it is writable but a few words of the start-up code."""
    sections = re.findall(r"\s\.(data|bss)\s+\w+\s+\w+\s+\w+\s+(\w+)", readelf("--sections"))
    assert sum(int(size, 16) for _, size in sections) <= 64


# Versions --------------------------------------------------------------------------------------------------


def numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version))


def locked() -> dict[str, str]:
    """Versions in requirements-dev.lock by names as registries compare them."""
    lines = (ROOT / "requirements-dev.lock").read_text(encoding="utf-8").splitlines()
    pairs = (line.split("==") for line in lines if not line.startswith("#"))
    return {re.sub(r"[-_.]+", "-", name).lower(): version for name, version in pairs}


def test_every_dependency_names_its_least_version_for_make_minimum_to_install() -> None:
    assert all(BOUND.fullmatch(requirement) for requirement in requirements("plot", "test"))


def test_the_lock_file_holds_every_dependency_in_a_version_that_is_allowed() -> None:
    versions = locked()
    for requirement in requirements("plot", "test", "bench"):
        name, _, least = requirement.partition(">=")
        assert numbers(versions[re.sub(r"[-_.]+", "-", name).lower()]) >= numbers(least), requirement


def test_every_import_of_the_package_is_a_declared_dependency() -> None:
    """Imports of other packages, wherever they stand; some are extras, lxml and scipy come late."""
    files = [path for path in (ROOT / "fmumbs").rglob("*.py") if "_models" not in path.parts]
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in files]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    imported = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    imported |= {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom) and not node.level}
    others = {name.partition(".")[0] for name in imported} - set(sys.stdlib_module_names) - {"fmumbs"}
    others = {{"PIL": "pillow", "skfem": "scikit-fem"}.get(name, name) for name in others}
    others -= {"typing_extensions"}  # the type checker's, which alone reads what stands under TYPE_CHECKING
    extras = ("plot", "mesh", "mjcf", "xacro", "sweep", "cosim", "control", "results", "fem")
    named = {requirement.partition(">=")[0] for requirement in requirements(*extras)}
    assert others <= named
    # the extension module's; which trimesh reads COLLADA by; whose files the other back end packs; for users' meshes
    assert named - others == {"cffi", "pycollada", "pythonfmu", "meshio"}


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel as `pip install fmumbs` would get it, built from this tree; with all platforms if they are here.

    For this platform alone it is compiled without optimization, which takes most of the time and changes no bit.
    """
    folder = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    options = ["--no-deps", "--no-build-isolation", "-C", f"build-dir={folder / 'build'}", "-w", str(folder)]
    only = "1" if missing_platforms() else ""
    options += ["-C", "cmake.define.FMUMBS_OPTIMIZATION=-O0"] if only else []
    subprocess.run([*pip, "wheel", *options, str(ROOT)], check=True, env=os.environ | {"FMUMBS_HOST_ONLY": only})
    (path,) = folder.glob("*.whl")
    return path


def test_one_wheel_supports_every_python_from_3_11_on(wheel: Path) -> None:
    assert re.fullmatch(r"fmumbs-[\d.]+-cp311-abi3-\w+\.whl", wheel.name)


def for_an_index(wheel: Path, folder: Path, processor: str) -> subprocess.CompletedProcess[str]:
    """What cmake/wheels.py makes of a wheel."""
    command = [sys.executable, str(ROOT / "cmake" / "wheels.py"), str(wheel), str(folder), processor]
    return subprocess.run(command, capture_output=True, text=True)


def content(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@linux_binary
def test_an_index_accepts_a_wheel_for_the_c_library_of_2012(wheel: Path, tmp_path: Path) -> None:
    """Its name, its tags and its record agree, and pip takes it; the rest is that of the wheel that was built."""
    here = platform.machine()
    done = for_an_index(wheel, tmp_path, here)
    assert (done.returncode, done.stderr) == (0, "")
    (made,) = tmp_path.glob("*.whl")
    assert made.name.endswith(f"-cp311-abi3-manylinux_2_17_{here}.manylinux2014_{here}.whl")
    files, before = content(made), content(wheel)
    assert list(files)[-1].endswith("/RECORD")  # as PEP 427 recommends
    changed = {name for name in files if files[name] != before[name]}
    assert {name.rpartition("/")[2] for name in changed} == {"WHEEL", "RECORD"}
    (tags,) = (text for name, text in files.items() if name.endswith("/WHEEL"))
    assert re.findall(r"Tag: (.*)", tags.decode()) == [
        f"cp311-abi3-manylinux_2_17_{here}", f"cp311-abi3-manylinux2014_{here}",
    ]  # fmt: skip
    rows = list(csv.reader(files[list(files)[-1]].decode().splitlines()))
    assert [row[0] for row in rows] == list(files)
    for name, digest, size in rows[:-1]:
        found = base64.urlsafe_b64encode(hashlib.sha256(files[name]).digest()).decode().rstrip("=")
        assert (digest, size) == (f"sha256={found}", str(len(files[name]))), name
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "install", "--no-deps", "--no-index"]
    subprocess.run([*pip, "--target", str(tmp_path / "site"), str(made)], check=True, capture_output=True)
    assert for_an_index(wheel, tmp_path / "again", here).returncode == 0
    assert next((tmp_path / "again").glob("*.whl")).read_bytes() == made.read_bytes()


@linux_binary
@pytest.mark.parametrize("name", ["macos", "win_amd64", "win_arm64"])
def test_wheels_for_windows_and_macos_are_linked_here(wheel: Path, tmp_path: Path, name: str) -> None:
    """Their modules need the stable interface of Python and the system; the rest is that of the wheel built before."""
    lief = pytest.importorskip("lief", reason="no lief: pip install lief")
    done = for_an_index(wheel, tmp_path, name)
    if "no objects for" in done.stderr:
        pytest.skip(f"{done.stderr.strip()}: make platforms")
    assert (done.returncode, done.stderr) == (0, "")
    (made,) = tmp_path.glob("*.whl")
    files, before = content(made), content(wheel)
    (module,) = (one for one in files if one.startswith("fmumbs/_core."))
    assert {one.rpartition("/")[2] for one in files if files[one] != before.get(one)} == {
        "WHEEL", "RECORD", module.rpartition("/")[2],
    }  # fmt: skip
    if name == "macos":
        assert made.name.endswith("-cp311-abi3-macosx_11_0_universal2.whl") and module.endswith(".abi3.so")
        both = lief.MachO.parse(list(files[module]))  # kept, as its parts do not keep it
        for part in both:
            assert {one.name for one in part.libraries} == {"@rpath/_core.abi3.so", "/usr/lib/libSystem.B.dylib"}
            assert part.has_code_signature or "X86" in str(part.header.cpu_type)
            assert any(one.name == "_PyInit__core" for one in part.exported_symbols)
    else:
        assert made.name.endswith(f"-cp311-abi3-{name}.whl") and module.endswith("_core.pyd")
        found = lief.PE.parse(list(files[module]))
        system = {one.name for one in found.imports} - {"python3.dll", "KERNEL32.dll"}
        assert all(one.startswith("api-ms-win-crt-") for one in system)
        (python,) = (one for one in found.imports if one.name == "python3.dll")
        assert {"PyImport_ImportModule", "_Py_NoneStruct"} <= {one.name for one in python.entries}
        assert [one.name for one in found.get_export().entries] == ["PyInit__core"]
    for_an_index(wheel, tmp_path / "again", name)
    assert next((tmp_path / "again").glob("*.whl")).read_bytes() == made.read_bytes()


@linux_binary
@pytest.mark.parametrize(
    ("added", "message"),
    [(b"\0GLIBC_2.34\0", "needs GLIBC_2.34"), (b"\0libstdc++.so.6\0", "needs libstdc++.so.6")],
    ids=("newer", "other"),
)
def test_a_wheel_that_needs_more_is_refused(wheel: Path, tmp_path: Path, added: bytes, message: str) -> None:
    files = content(wheel)
    (module,) = (name for name in files if name.startswith("fmumbs/_core."))
    worse = tmp_path / wheel.name
    with zipfile.ZipFile(worse, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data + added if name == module else data)
    done = for_an_index(worse, tmp_path / "out", platform.machine())
    assert done.returncode == 1 and message in done.stderr
    assert not (tmp_path / "out").exists()


@linux_binary
def test_the_wheel_for_another_processor_has_its_extension_module(wheel: Path, tmp_path: Path) -> None:
    """Linked from the objects of that FMU's binary: all of the core, and what this machine's module asks of Python."""
    done = for_an_index(wheel, tmp_path, "aarch64")
    if "no objects for" in done.stderr:
        pytest.skip("no binary for aarch64-linux was compiled here: make platforms")
    assert (done.returncode, done.stderr) == (0, "")
    texts = []
    for path in (wheel, next(tmp_path.glob("*_aarch64.whl"))):
        (tmp_path / "module.so").write_bytes(content(path)["fmumbs/_core.abi3.so"])
        read = ["readelf", "--wide", "--file-header", "--dyn-syms", "--dynamic", str(tmp_path / "module.so")]
        texts.append(subprocess.run(read, capture_output=True, text=True, check=True).stdout)
    here, there = texts
    assert re.search(r"Machine: +AArch64", there)
    assert re.search(r"GLOBAL +DEFAULT +\d+ +PyInit__core\b", there)
    assert set(re.findall(r"Shared library: \[(.*?)\]", there)) <= {"libc.so.6", "libm.so.6"}
    assert not re.findall(r"UND (fm_\w+)", there)
    asked = (set(re.findall(r"UND (_?Py\w+)", text)) for text in (here, there))
    assert next(asked) == next(asked)


def test_the_wheel_holds_the_binaries_the_sources_and_the_models(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    models = {f"fmumbs/_models/{path.name}" for path in (ROOT / "models").iterdir() if path.suffix in (".py", ".msh")}
    core = {f"fmumbs/core/{name}" for name in [*shipped(), "sources.txt"]}
    python = {str(p.relative_to(ROOT)) for p in (ROOT / "fmumbs").rglob("*.py") if "_models" not in p.parts}
    assert models
    assert models | core | python <= names
    assert any(re.fullmatch(r"fmumbs/_core[\w.]*\.(so|pyd)", name) for name in names)
    assert "fmumbs/_fmu/deflated.zip" in names
    assert not [name for name in names if "__pycache__" in name or name.startswith("tests/")]


def test_the_wheel_holds_the_deflated_binary_and_sources_of_fmus(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        binaries = [name for name in archive.namelist() if re.fullmatch(r"fmumbs/_fmu/[\w-]+/fmumbs\.\w+", name)]
        if not missing_platforms():
            assert {name.split("/")[2] for name in binaries} >= set(PLATFORMS)
        with archive.open("fmumbs/_fmu/deflated.zip") as file, zipfile.ZipFile(file) as deflated:
            assert deflated.read("core.c") == core_source()
            assert binaries
            for name in binaries:
                assert deflated.read(name.removeprefix("fmumbs/_fmu/")) == archive.read(name)


@pytest.mark.skipif(importlib.util.find_spec("ziglang") is None, reason="no ziglang: make .venv/.zig")
def test_the_wheel_holds_the_core_for_browsers(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        assert archive.read("fmumbs/_fmu/wasm32-wasi/fmumbs.wasm").startswith(b"\0asm")


def test_an_installed_wheel_exports_and_runs_a_model(wheel: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    libraries = [path for path in sys.path if path.endswith("site-packages")]
    code = f"""
import sys
sys.path[:0] = [{str(site)!r}]
sys.path += {libraries!r}
import fmumbs
assert fmumbs.__file__.startswith({str(site)!r}), fmumbs.__file__
from fmumbs.cli import main
main(["export", "pendulum", "-o", "pendulum.fmu"], standalone_mode=False)
main(["run", "pendulum.fmu", "--stop", "0.1", "--out", "pendulum.csv"], standalone_mode=False)
"""
    # -I and -S keep this tree out: no working directory, no PYTHONPATH, no .pth file of an editable install
    subprocess.run([sys.executable, "-I", "-S", "-c", code], cwd=tmp_path, check=True)
    assert (tmp_path / "pendulum.csv").read_text().count("\n") > 1


def test_git_ignores_what_the_examples_write() -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("not a checkout of git")
    written = set()
    for path in (ROOT / "examples").glob("*.py"):
        text = path.read_text(encoding="utf-8")
        written |= {f"{folder}/" for folder in re.findall(r'else Path\("(\w+)"\)', text)}
        written |= set(re.findall(r'"(\w+\.(?:png|html|gif|parquet))"', text))
    assert len(written) > 15
    for folder in ("", "examples/"):
        names = sorted(folder + name for name in written)
        command = ["git", "-C", str(ROOT), "check-ignore", "--no-index", *names]
        assert subprocess.run(command, capture_output=True, text=True).stdout.splitlines() == names


def test_the_licence_of_the_headers_is_theirs() -> None:
    """Word for word that in fmi2TypesPlatform.h; the headers and the licence are of the same owners."""
    headers, words = CORE / "fmi" / "fmi2TypesPlatform.h", re.compile(r"[\w'\"]+")
    theirs = words.findall(headers.read_text(encoding="utf-8"))
    theirs = theirs[theirs.index("Redistribution") : theirs.index("DAMAGE") + 1]
    ours = words.findall((CORE / "fmi" / "fmi.LICENSE.txt").read_text(encoding="utf-8"))
    assert ours[ours.index("Redistribution") :] == theirs
