"""Imports go one way, the C core stands alone, and an optional library is imported in one place.

cli -> study -> system, verify -> play, export -> view -> run -> readers, compiler -> analysis, scene -> mechanism ->
finite_elements -> spatial -> errors
fmi -> api -> statics -> outputs -> adjoint -> time -> assembly -> motion -> kernels -> loops -> forces -> tree ->
instance -> image -> maths
"""

import ast
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import fmumbs

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "fmumbs"
CORE = PACKAGE / "core"

LAYERS = [
    {"errors"},
    {"_limits", "_signals"},
    {"_checks", "_files", "_folders", "_late", "_naming", "_parquet", "_progress", "_tables"},
    {"spatial"},
    {"finite_elements"},
    {"mechanism"},
    {"analysis", "scene"},
    {"readers", "compiler"},
    {"run"},
    {"view"},
    {"play", "export"},
    {"system", "verify"},
    {"study"},
    {"cli"},
]
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}

CORE_ROOMS = (
    "maths", "image", "instance", "tree", "forces", "loops", "kernels", "motion", "assembly", "time", "adjoint",
    "outputs", "statics", "api", "fmi",
)  # fmt: skip

# The compiler reads the core's tables, the solver steps it, and the limits of an image bound elements.
MAY_IMPORT_CORE = {"_limits", "compiler", "run"}

OPTIONAL = {
    "matplotlib", "dask", "distributed", "pyarrow", "h5py", "pandas", "xarray", "libcosimpy", "mujoco", "ziglang",
    "control", "skfem",
}  # fmt: skip

# fmt: off
C99_HEADERS = {
    "assert.h", "complex.h", "ctype.h", "errno.h", "fenv.h", "float.h", "inttypes.h", "iso646.h", "limits.h",
    "locale.h", "math.h", "setjmp.h", "signal.h", "stdarg.h", "stdbool.h", "stddef.h", "stdint.h", "stdio.h",
    "stdlib.h", "string.h", "tgmath.h", "time.h", "wchar.h", "wctype.h",
}
# fmt: on
INTRINSICS = {"cpuid.h", "immintrin.h", "intrin.h", "xmmintrin.h"}  # behind #if, where a compiler has them

C_FILES = sorted(p for p in CORE.rglob("*") if p.suffix in {".c", ".h", ".inc"})
STANDARD = {p for p in C_FILES if re.fullmatch(r"fmi[23]\w*(Functions?|Types)\w*\.h", p.name)}  # as published
SOURCES = sorted(p for p in PACKAGE.rglob("*.py") if "_models" not in p.parts)


def parts(path: Path) -> tuple[str, ...]:
    """The module's dotted name as a tuple: fmumbs/run/solver.py -> ('fmumbs', 'run', 'solver')."""
    names = path.relative_to(ROOT).with_suffix("").parts
    return names[:-1] if names[-1] == "__init__" else names


def imports(path: Path, types: bool = False) -> Iterator[tuple[str, ...]]:
    """Every module that the file imports when it runs, absolute; `if TYPE_CHECKING:` does not run.

    types: those that it imports for the type checker alone, too.
    """
    package = parts(path) if path.name == "__init__.py" else parts(path)[:-1]
    pending: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"))]
    while pending:
        node = pending.pop()
        if not types and isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            pending.extend(node.orelse)
            continue
        pending.extend(ast.iter_child_nodes(node))
        if isinstance(node, ast.Import):
            yield from (tuple(alias.name.split(".")) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            up = package[: len(package) - node.level + 1] if node.level else ()
            base = (*up, *(node.module.split(".") if node.module else ()))
            yield from ((*base, alias.name) for alias in node.names)


def layer(module: tuple[str, ...]) -> str | None:
    """The part of the package that a module belongs to; None outside it and for the package itself."""
    return module[1] if module[0] == "fmumbs" and len(module) > 1 else None


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_a_module_imports_only_lower_layers_and_its_own(path: Path) -> None:
    here = layer(parts(path))
    if here is None or here.startswith("__"):
        return  # the public names, and `python -m fmumbs`
    assert here in RANK, f"{path.name} belongs to no layer: name its layer in LAYERS"
    for module in imports(path):
        there = layer(module)
        if there == "_core":
            assert here in MAY_IMPORT_CORE, f"{'.'.join(parts(path))} imports the C library"
        elif module[0] == "fmumbs" and there not in RANK:
            assert here == "cli", f"{'.'.join(parts(path))} imports from the package's front"
        elif module[0] == "fmumbs" and there != here:
            assert RANK[there] < RANK[here], f"{'.'.join(parts(path))} imports {'.'.join(module)}"


def test_no_cycle_of_imports() -> None:
    """Not even for the type checker. `from package import name` is an import of the module that the name is, if any."""
    modules = {parts(path): path for path in SOURCES}
    graph = {
        module: {there if there in modules else there[:-1] for there in imports(path, types=True)} & set(modules)
        for module, path in modules.items()
    }
    graph.pop(("fmumbs",))  # the public names: the front reads its version there
    TopologicalSorter(graph).prepare()


def drawn(first: str) -> list[set[str]]:
    """The parts of a paragraph `first` → ... of the architecture."""
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    (line,) = re.findall(rf"^`{first}` → .*?(?=\n\n)", text, re.M | re.S)
    return [{name.strip(" `\n") for name in part.split(",")} for part in line.split("→")]


def test_every_layer_is_a_part_of_the_package_and_in_the_architecture_page() -> None:
    there = {path.stem for path in PACKAGE.iterdir() if path.suffix == ".py" or (path / "__init__.py").is_file()}
    assert set(RANK) == there - {"__init__", "_models"}
    parts_drawn = drawn("cli")
    assert parts_drawn == [part for names in reversed(LAYERS) if (part := {n for n in names if not n.startswith("_")})]


ROOMS_OF_FMUS = [p for room in ("export", "play", "verify", "system") for p in sorted((PACKAGE / room).glob("*.py"))]


@pytest.mark.parametrize("path", ROOMS_OF_FMUS, ids=lambda p: f"{p.parent.name}/{p.name}")
def test_making_playing_and_verifying_an_fmu_never_read_the_model(path: Path) -> None:
    assert not [module for module in imports(path) if layer(module) == "mechanism"]


@pytest.mark.parametrize("name", ["printing", "terminal"])
def test_printing_computes_nothing(name: str) -> None:
    used = {module[1:3] for module in imports(PACKAGE / "cli" / f"{name}.py") if module[0] == "fmumbs"}
    warned = {("errors", f"{what}Warning") for what in ("Start", "Input", "Deformation", "Cavitation", "Contact")}
    assert used <= {*warned, ("cli", "terminal")}


def test_a_model_is_compiled_run_and_exported_without_libraries_that_it_does_not_need(tmp_path: Path) -> None:
    code = (
        "import sys, fmumbs as fm; from fmumbs.readers import read_model; model = read_model('four_bar'); "
        "fm.simulate(model, stop=0.1); fm.uniqueness(model); fm.export_fmu(model, 'a.fmu'); print(*sys.modules)"
    )
    command = [sys.executable, "-W", "ignore", "-c", code]
    loaded = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout.split()
    assert "numpy" in loaded
    assert not {"click", "fmpy", "matplotlib", "pythonfmu", "rich", "scipy"} & set(loaded)


def test_an_optional_library_is_imported_in_one_file_only() -> None:
    users: dict[str, set[Path]] = {}
    for path in SOURCES:
        for module in imports(path):
            if module[0] in OPTIONAL:
                users.setdefault(module[0], set()).add(path)
    assert {name: paths for name, paths in users.items() if len(paths) > 1} == {}


def test_importing_the_package_imports_no_optional_library() -> None:
    code = "import sys, fmumbs; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert OPTIONAL & set(loaded.split()) == set()


def includes(path: Path) -> Iterator[tuple[str, str]]:
    """Every #include as (bracket or quote, name)."""
    code = re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    yield from re.findall(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', code, re.MULTILINE)


@pytest.mark.parametrize("path", C_FILES, ids=lambda p: p.name)
def test_the_core_includes_only_itself_and_the_c_library(path: Path) -> None:
    for mark, name in includes(path):
        if mark == '"':
            assert (path.parent / name).is_file() or (CORE / name).is_file(), f"{path.name} includes {name}"
        else:
            assert name in C99_HEADERS | INTRINSICS, f"{path.name} includes <{name}>"


def core_rank(name: str) -> int:
    """The rank of a file's folder in the core; fmumbs.h, which every file may include, has the lowest."""
    return CORE_ROOMS.index(name.partition("/")[0]) if "/" in name else -1


def core_includes() -> dict[str, set[str]]:
    """For each file of the core those that it includes, by their names in the core's folder."""
    found = {}
    for path in C_FILES:
        inside = (os.path.normpath(path.parent / name) for mark, name in includes(path) if mark == '"')
        found[path.relative_to(CORE).as_posix()] = {Path(name).relative_to(CORE).as_posix() for name in inside}
    return found


def core_calls() -> dict[str, set[str]]:
    """For each file of the core that is no header those that define a function which it names."""
    texts = {path.relative_to(CORE).as_posix(): c_code(path) for path in C_FILES}
    function = re.compile(
        r"^(?!static\b(?! inline)|typedef|extern|#)\w[\w \t*]*?\b(fm\w+)\([^;{}]*\)\s*\{", re.MULTILINE
    )
    where = {name: file for file, text in texts.items() for name in function.findall(text)}
    files = {file: text for file, text in texts.items() if not file.endswith(".h")}
    return {
        file: {where[name] for name in set(re.findall(r"\bfm\w+", text)) & where.keys()} - {file}
        for file, text in files.items()
    } | {file: set() for file in texts.keys() - files.keys()}


def c_code(path: Path) -> str:
    """A file without its comments and texts."""
    code = re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    return re.sub(r'"(?:\\.|[^"\\\n])*"', '""', code)


def upwards(arrows: dict[str, set[str]]) -> list[str]:
    """The arrows from a lower room of the core to a higher one."""
    return [
        f"{one} -> {other}" for one, others in arrows.items() for other in others if core_rank(other) > core_rank(one)
    ]


def circle(arrows: dict[str, set[str]]) -> list[str]:
    """Files on circles of arrows, or that lead into one: what is left once all files without an arrow are removed."""
    left = {name: set(others) for name, others in arrows.items()}
    while done := {name for name, others in left.items() if not others}:
        left = {name: others - done for name, others in left.items() if name not in done}
    return [f"{name} -> {', '.join(sorted(others))}" for name, others in left.items()]


def test_every_file_of_the_core_is_in_a_known_folder() -> None:
    rooms = {path.relative_to(CORE).parts[0] for path in C_FILES} - {"fmumbs.h"}
    assert rooms == set(CORE_ROOMS)
    assert drawn("fmi") == [{room} for room in reversed(CORE_ROOMS)]


@pytest.mark.parametrize("room", CORE_ROOMS)
def test_every_room_of_the_core_has_tests_of_its_own(room: str) -> None:
    folder = ROOT / "tests" / "core" / room
    assert [path for path in folder.glob("test_*") if path.suffix in {".py", ".c"}], f"no tests in {folder}"


def test_no_test_of_the_core_is_outside_of_its_rooms() -> None:
    folder = ROOT / "tests" / "core"
    assert list(folder.glob("test_*")) == []
    rooms = {path.parent.name for path in folder.glob("*/test_*")}
    assert rooms == set(CORE_ROOMS)


@pytest.mark.parametrize("arrows", [core_includes, core_calls])
def test_the_core_includes_and_calls_one_way(arrows: Callable[[], dict[str, set[str]]]) -> None:
    found = arrows()
    assert sum(len(others) for others in found.values()) > len(C_FILES)
    assert upwards(found) == []
    assert circle(found) == []


def test_lines_of_the_core_have_at_most_120_letters() -> None:
    """Comments in tables too, which clang-format leaves as they are."""
    lines = [(path, line) for path in C_FILES for line in path.read_text(encoding="utf-8").splitlines()]
    assert [line for path, line in lines if len(line) > 120 and path not in STANDARD] == []


def test_a_header_of_functions_declares_those_of_its_file_alone() -> None:
    """Beside NAME.c there is NAME.h with the functions that other files may call: all that are not static."""
    public = set(re.findall(r"\b(fm_\w+)\(", c_code(CORE / "fmumbs.h")))
    for path in C_FILES:
        room = path.relative_to(CORE).parts[0]
        if path.suffix != ".c" or room in {"kernels", "fmi"}:
            continue
        own = (
            set(re.findall(r"^(?!static|typedef)\w[\w \t*]*?\b(fm_\w+)\([^;{}]*\)\s*\{", c_code(path), re.MULTILINE))
            - public
        )
        head = path.with_suffix(".h")
        code = c_code(head) if head.is_file() else ""
        assert own == set(re.findall(r"^(?!static)\w[\w \t*]*?\b(fm_\w+)\([^;{}]*\);", code, re.MULTILINE)), path.name


def test_a_constant_of_the_core_has_one_meaning() -> None:
    """One value wherever it is defined, and it is no word of an enum nor a kind of variables."""
    values: dict[str, set[str]] = {}
    words = {f"FM_{kind}" for kind in re.findall(r"\b[KG]\((\w+),", c_code(CORE / "image" / "variables.h"))}
    assert "FM_CORRECTIONS" in words
    for path in C_FILES:
        code = c_code(path)
        for body in re.findall(r"\benum\b[^;{}]*\{([^}]*)\}", code):
            words |= set(re.findall(r"\bFM_\w+", body))
        if path.name == "float_mode.h":  # one value for each processor
            continue
        for name, value in re.findall(r"^#define (FM_\w+)[ \t]+(\(?-?[\d.]\S*)", code, re.MULTILINE):
            values.setdefault(name, set()).add(value)
    assert {name: found for name, found in values.items() if len(found) > 1} == {}
    assert words & values.keys() == set()


OF_FMI = [p for p in C_FILES if p.parent.name == "fmi" and p not in STANDARD]


@pytest.mark.parametrize("path", OF_FMI, ids=lambda p: p.name)
def test_the_fmi_functions_include_only_the_public_header_and_what_makes_hosts_alike(path: Path) -> None:
    inside = {Path(name).name for mark, name in includes(path) if mark == '"'}
    own = {name for name in inside if name.startswith(("fmi2", "fmi3", "fmu"))}
    assert inside - own <= {"fmumbs.h", "float_mode.h", "hidden.h", "text.h"}


@pytest.mark.parametrize("path", [p for p in C_FILES if p.name != "text.c"], ids=lambda p: p.name)
def test_no_function_is_used_whose_results_differ_between_platforms(path: Path) -> None:
    """maths/ has its own: trigonometry.c, decay.c, text.c. Those that C defines to the bit may be used."""
    differ = r"a?(?:sin|cos|tan)h?|atan2|exp2?|expm1|log(?:2|10|1p)?|pow|cbrt|hypot|fma|v?s?n?printf|strto\w+|ato\w+"
    assert re.findall(rf"(?<![\w.>])(?:{differ})\((?!\))", c_code(path)) == []


@pytest.mark.parametrize("path", [p for p in C_FILES if p not in STANDARD], ids=lambda p: p.name)
def test_only_one_file_of_the_core_knows_a_version_of_fmi(path: Path) -> None:
    own = re.match(r"fmi[0-9]", path.name)
    others = re.compile(rf"\b(?!{own[0]})fmi[0-9]" if own else r"\bfmi[0-9]")
    assert not [name for _, name in includes(path) if others.match(Path(name).name)]
    assert not others.search(c_code(path))


def test_type_checkers_see_each_late_name_where_it_is_imported_from() -> None:
    """They read imports and __all__, a run the table: one fact, which neither can take from the other."""
    source = (PACKAGE / "__init__.py").read_text()
    (seen,) = [node for node in ast.parse(source).body if isinstance(node, ast.If)]
    imports = [node for node in seen.body if isinstance(node, ast.ImportFrom)]
    parts = {str(node.module).removeprefix("fmumbs."): tuple(one.name for one in node.names) for node in imports}
    assert parts == fmumbs._LATE_PARTS and set(sum(parts.values(), ())) <= set(fmumbs.__all__)


def test_what_not_every_script_needs_is_imported_at_first_use() -> None:
    code = """
import sys
import fmumbs
late = {"fmumbs.compiler", "fmumbs.export", "fmumbs.play", "fmumbs.run", "fmumbs.study", "fmumbs.system", "fmumbs.view"}
analyses = ("campbell", "equilibrium", "inverse", "linearize", "load_path", "regressor", "steady")
late |= {f"fmumbs.run.{name}" for name in analyses}
late |= {"fmumbs.analysis.uniqueness", "fmumbs.readers", "hashlib", "numpy.random", "pathlib", "tempfile"}
assert not late & set(sys.modules), late & set(sys.modules)
assert set(fmumbs.__all__) | {"study", "view"} <= set(dir(fmumbs))
assert fmumbs.system.System is fmumbs.System
names = {}
exec("from fmumbs import *", names)
assert set(fmumbs.__all__) <= set(names) and names["sweep"] is fmumbs.study.sweep
assert callable(fmumbs.uniqueness) and fmumbs.steady.__module__ == "fmumbs.run.steady"
try:
    fmumbs.sweeps
except AttributeError as error:
    assert str(error) == "module 'fmumbs' has no attribute 'sweeps'" and error.name == "sweeps"
else:
    raise AssertionError
"""
    subprocess.run([sys.executable, "-c", code], check=True)
