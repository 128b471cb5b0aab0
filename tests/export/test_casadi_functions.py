"""C functions of a mechanism in CasADi: values of the Solver, derivatives, patterns, threads, and programs of C."""

import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray

import fmumbs as fm
from fmumbs.errors import ExportError
from fmumbs.readers import read_model
from support.commands import fmumbs
from support.one_file import QUICK, STRICT, program
from support.scripts import load

ca: Any = pytest.importorskip("casadi", reason="no casadi: pip install casadi")

Array = NDArray[np.float64]

SAME = 1e-8  # of 1 and the largest entry: a derivative by differences of eighth order
ALIKE = 1e-9  # of the largest: derivatives where the core takes differences itself, along other directions
ROUND_OFF = 1e-12  # of values that two ways of the same sums give
SECOND = 1e-6  # of the largest: second derivatives by differences of first ones
EXAMPLES = Path(__file__).parents[2] / "examples"
slow = pytest.mark.slow
MORE = ("double_pendulum", "engine", "heavy_top", "gantry")
MODELS = ["four_bar", "cardan_shaft", *(pytest.param(one, marks=slow) for one in MORE)]
HERE = Path(__file__).parent
WEIGHTS = (4 / 5, -1 / 5, 4 / 105, -1 / 280)  # of central differences


@pytest.fixture(autouse=True)
def quick_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", " ".join(QUICK))


class Made:
    """The functions of a model, and a point at which they are evaluated."""

    def __init__(self, model: fm.Model, folder: Path, **options: Any) -> None:
        self.files = made = fm.export_casadi(model, f"{folder}/", **options)
        self.names = ("x_dot", "x_next", *(("y",) if made.y else ()))
        self.f = {name: ca.external(f"{made.name}_{name}", str(made.library)) for name in self.names}
        rng = np.random.default_rng(1)
        x = made.x0 + 0.1 * rng.normal(size=len(made.x))
        self.timed = self.f["x_dot"].n_in() > 3
        self.point: list[Array] = [x, made.u0 + rng.normal(size=len(made.u)), made.p0]
        self.time = [np.array([0.37])] if self.timed else []

    def at(self, name: str) -> list[Array]:
        return [*self.point, *([np.array([1e-3])] if name == "x_next" else []), *self.time]

    def __call__(self, name: str, at: Sequence[Array]) -> Array:
        return np.array(self.f[name](*at)).ravel()

    def jacobian(self, name: str, at: Sequence[Array]) -> list[Array]:
        found = self.f[name].jacobian()(*at, 0)
        return [np.array(one) for one in found]


@pytest.fixture(scope="module", params=MODELS)
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Made:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CC", " ".join(QUICK))
        return Made(read_model(request.param), tmp_path_factory.mktemp(request.param))


def listed(found: Any) -> list[Array]:
    return [np.array(one).ravel() for one in (found if isinstance(found, tuple | list) else [found])]


def test_its_rates_and_outputs_are_those_of_the_solver(made: Made) -> None:
    """At the state that the Solver assembles at time 0: accelerations, and every output."""
    name = made.files.name
    solver = fm.Solver(read_model(name))
    for what, value in zip(made.files.u, made.point[1], strict=True):
        solver.set(what, value)
    solver.assemble()
    at = [made.files.x0, made.point[1], made.files.p0, *(np.zeros(1) for _ in made.time)]
    rates, outputs = made("x_dot", at), made("y", at)
    expected = np.array([float(solver.get(one)) for one in made.files.y])
    assert_allclose(outputs, expected, rtol=0, atol=ROUND_OFF * max(1.0, np.abs(expected).max()))
    pairs = {"q": "qd", "qd": "qdd", "w": "alpha"}
    for x, rate in zip(made.files.x, rates, strict=True):
        joint, _, kind = x.partition(".")
        suffix, _, component = kind.partition("[")
        if suffix in pairs and not (suffix == "q" and f"{joint}.w[1]" in made.files.x):
            other = f"{joint}.{pairs[suffix]}{f'[{component}' if component else ''}"
            assert rate == pytest.approx(float(solver.get(other)), rel=ROUND_OFF, abs=ROUND_OFF * np.abs(rates).max())


def test_a_step_is_that_of_rk4(made: Made) -> None:
    x, u, p = made.point
    h, t = 1e-3, 0.37

    def f(x: Array, t: float) -> Array:
        return made("x_dot", [x, u, p, *([np.array([t])] if made.timed else [])])

    k1 = f(x, t)
    k2 = f(x + h / 2 * k1, t + h / 2)
    k3 = f(x + h / 2 * k2, t + h / 2)
    k4 = f(x + h * k3, t + h)
    expected = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    assert_allclose(made("x_next", made.at("x_next")), expected, rtol=0, atol=ROUND_OFF * np.abs(expected).max())


def test_steps_of_a_tree_are_those_of_the_solver(tmp_path: Path) -> None:
    model = read_model("double_pendulum")
    made = Made(model, tmp_path)
    solver = fm.Solver(model, scheme="rk4", step=1e-2)
    solver.assemble()
    x = made.files.x0
    for n in range(20):
        x = made("x_next", [x, made.files.u0, made.files.p0, np.array([1e-2])])
        solver.step((n + 1) * 1e-2)
    expected = [float(solver.get(name)) for name in made.files.x]
    assert_allclose(x, expected, rtol=0, atol=1e2 * ROUND_OFF)


def test_jacobians_are_those_of_differences(made: Made) -> None:
    for name in made.names:
        at = made.at(name)
        found = made.jacobian(name, at)
        for k, values in enumerate(at):
            for j in range(0, len(values), 1 if k == 0 else 5):
                size = abs(values[j]) if k == 2 else 1.0
                if size == 0.0 or (k == 2 and made.timed and "inertia" in made.files.p[j]):  # at the bound of a rule
                    continue

                def moved(h: float, k: int = k, j: int = j, at: list[Array] = at) -> list[Array]:
                    new = [one.copy() for one in at]
                    new[k][j] += h
                    return new

                off = []
                for step in (3e-3, 1e-3, 3e-4, 1e-4):
                    h = step * size * (0.1 if k > 2 else 1.0)
                    terms = [made(name, moved((i + 1) * h)) - made(name, moved(-(i + 1) * h)) for i in range(4)]
                    expected = sum(w * term for w, term in zip(WEIGHTS, terms, strict=True)) / h
                    scale = max(1.0, np.abs(expected).max())
                    off.append(np.abs(found[k][:, j] - expected).max() / scale)
                assert min(off) < SAME, (name, k, j)


def test_forward_and_reverse_are_products_with_the_jacobian(made: Made) -> None:
    rng = np.random.default_rng(2)
    for name in made.names:
        at = made.at(name)
        blocks = made.jacobian(name, at)
        seeds = [rng.normal(size=len(one)) * (one if k == 2 else 1.0) for k, one in enumerate(at)]
        along = np.array(made.f[name].forward(1)(*at, 0, *seeds)).ravel()
        terms = [block @ seed for block, seed in zip(blocks, seeds, strict=True)]
        size = max(1.0, *(np.abs(block).max(initial=0.0) for block in blocks))
        assert_allclose(along, sum(terms), rtol=0, atol=10 * ALIKE * size)
        weight = rng.normal(size=len(along))
        for found, block in zip(listed(made.f[name].reverse(1)(*at, 0, weight)), blocks, strict=True):
            assert_allclose(found, block.T @ weight, rtol=0, atol=10 * ALIKE * size)


def test_its_patterns_hold_all_derivatives_and_not_all_entries(made: Made) -> None:
    """Whatever is outside is round-off, found without Jacobians; rates of scalar positions follow velocities alone."""
    for name in made.names:
        at = made.at(name)
        for k, values in enumerate(at):
            pattern = np.array(ca.DM(made.f[name].jac_sparsity(0, k), 1.0)) != 0.0
            for j in range(0, len(values), 3):
                seeds = [np.zeros(len(one)) for one in at]
                seeds[k][j] = 1.0
                column = np.array(made.f[name].forward(1)(*at, 0, *seeds)).ravel()
                size = max(1.0, np.abs(column).max())
                assert np.abs(column[~pattern[:, j]]).max(initial=0.0) < ROUND_OFF * size, (name, k, j)
    if made.files.name in ("double_pendulum", "four_bar", "engine"):
        assert made.f["x_dot"].jac_sparsity(0, 0).nnz() < len(made.files.x) ** 2


def test_values_depend_on_the_arguments_alone(made: Made) -> None:
    """In whatever order points far from one another come, outputs and Jacobians have the same bits."""
    at, rng = made.at("y"), np.random.default_rng(3)
    points = [[at[0] + rng.normal(size=len(at[0])), at[1], at[2], *(k * one for one in made.time)] for k in range(12)]
    first = [made("y", one) for one in points]
    slopes = made.jacobian("x_dot", points[0])
    for one, found in reversed([*zip(points, first, strict=True)]):
        assert_array_equal(made("y", one), found)
    for one, other in zip(made.jacobian("x_dot", points[0]), slopes, strict=True):
        assert_array_equal(one, other)


def test_threads_give_the_same_bits(made: Made) -> None:
    count = 16
    at = made.at("x_next")
    rng = np.random.default_rng(4)
    many = [np.tile(one[:, None], count) for one in at]
    many[0] = many[0] + 0.01 * rng.normal(size=many[0].shape)
    together = np.array(made.f["x_next"].map(count, "thread", 4)(*many))
    expected = np.array([made("x_next", [one[:, i] for one in many]) for i in range(count)]).T
    assert_array_equal(together, expected)
    gradient = made.f["x_next"].reverse(1)
    weights = np.ones((len(expected), count))
    zero = np.zeros(weights.shape)
    for one, other in zip(
        listed(gradient.map(count, "thread", 4)(*many, zero, weights)),
        listed(gradient.map(count)(*many, zero, weights)),
        strict=True,
    ):
        assert_array_equal(one, other)


@pytest.mark.parametrize("name", ["four_bar", pytest.param("double_pendulum", marks=slow)])
def test_second_derivatives_are_those_of_differences(name: str, tmp_path: Path) -> None:
    """CasADi's Hessian of a sum of rates."""
    made = Made(read_model(name), tmp_path)
    at = made.at("x_next")
    x = ca.MX.sym("x", len(at[0]))
    cost = ca.sumsqr(made.f["x_next"](x, *at[1:]))
    hessian, gradient = ca.hessian(cost, x)
    found = np.array(ca.Function("H", [x], [hessian])(at[0]))
    slope = ca.Function("g", [x], [gradient])
    h = 1e-3
    for j in range(len(at[0])):
        step = np.eye(len(at[0]))[j] * h
        terms = [np.array(slope(at[0] + (i + 1) * step) - slope(at[0] - (i + 1) * step)).ravel() for i in range(4)]
        expected = sum(w * term for w, term in zip(WEIGHTS, terms, strict=True)) / h
        assert_allclose(found[:, j], expected, rtol=0, atol=SECOND * np.abs(found).max())


def test_laws_and_paths_are_in_the_pieces_of_the_point(tmp_path: Path) -> None:
    """A stop pushes beyond its end alone, in whatever order the points come; a path has passed into its next piece."""
    model = fm.Model("gate")
    rod = fm.Body.rod("rod", length=1.0, mass=2.0)
    hinge = fm.Revolute("A", model.ground.at(), rod.base, axis="z")
    model.add(rod, hinge)
    model.add(fm.Stop("end", hinge, upper=0.5, stiffness=100.0))
    made = Made(model, tmp_path)
    _, u, p = made.point
    for q in (0.7, 0.1, 0.9, 0.49, 0.51):
        (_, rate) = made("x_dot", [np.array([q, 0.3]), 0 * u, p])
        assert rate == pytest.approx(-max(0.0, 100.0 * (q - 0.5)) / (2.0 / 3.0), rel=1e-9, abs=1e-12)


def test_a_program_in_c_calls_two_mechanisms_and_what_casadi_generated(tmp_path: Path) -> None:
    """As acados does: C files in one program, integers of 32 bits, no memory."""
    made = [Made(read_model(name), tmp_path) for name in ("four_bar", "double_pendulum")]
    expected = []
    x = ca.MX.sym("x", 2)
    f = made[0].f["x_dot"]
    u, p = (0.01 * np.arange(1, len(one) + 1) for one in made[0].point[1:])
    value = ca.gradient(ca.sumsqr(f(x, u, p)), x)
    function = ca.Function("generated", [x], [value])
    generator = ca.CodeGenerator("generated", {"casadi_int": "int"})
    generator.add(function)
    generator.generate(f"{tmp_path}/")

    def numbers(count: int) -> Array:
        return 0.01 * np.arange(1, count + 1)

    def total(values: Sequence[Array]) -> float:
        return sum(float(np.arange(1, one.size + 1) @ one.ravel()) for one in values)

    for of in (made[0].f["x_next"], made[1].f["x_next"], f.reverse(1)):
        expected.append(total(listed(of(*(numbers(of.nnz_in(i)) for i in range(of.n_in()))))))
    expected.append(total(listed(function(numbers(2)))))
    for command in (["tcc"], ["gcc", "-O0"], ["clang", "-O0"]):
        if shutil.which(command[0]) is None:
            continue
        flags = ["-std=c99", "-Dcasadi_int=int", "-DFIRST=four_bar", "-DSECOND=double_pendulum"]
        files = [*(str(one.files.source) for one in made), str(tmp_path / "generated.c"), str(HERE / "casadi_host.c")]
        subprocess.run([*command, *flags, *files, "-o", str(tmp_path / "host"), "-lm"], check=True)
        done = subprocess.run([str(tmp_path / "host")], capture_output=True, text=True, check=True)
        assert_allclose([float(line) for line in done.stdout.split()], expected, rtol=1e-9)


def test_the_file_is_strict_c_and_shows_nothing_else(tmp_path: Path) -> None:
    made = fm.export_casadi(read_model("four_bar"), tmp_path, library=False)
    assert made.library is None
    target = tmp_path / "a.o"
    subprocess.run([program(QUICK[0]), *QUICK[1:], *STRICT, "-c", str(made.source), "-o", str(target)], check=True)
    shown = subprocess.run(["nm", "-g", "--defined-only", str(target)], capture_output=True, text=True, check=True)
    names = {line.split()[-1] for line in shown.stdout.splitlines()}
    assert names and all(re.fullmatch(r"((fwd1_|adj1_|jac_)*)four_bar_(x_dot|y|x_next|start)(_\w+)?", n) for n in names)
    for compiler in ("gcc", "clang"):
        if shutil.which(compiler):
            subprocess.run([compiler, *STRICT, "-fsyntax-only", str(made.source)], check=True)


def test_the_same_model_gives_the_same_bytes_and_start_values(tmp_path: Path) -> None:
    model = read_model("four_bar")
    one, other = (fm.export_casadi(model, tmp_path / f"{i}.c", library=i == 0) for i in range(2))
    assert one.source.read_bytes() == other.source.read_bytes()
    start = ca.external("four_bar_start", str(one.library))()
    for name, values in zip("xup", (one.x0, one.u0, one.p0), strict=True):
        assert_array_equal(np.array(start[name]).ravel(), values)
    moved = fm.export_casadi(model, tmp_path / "m.c", library=False, starts={"A.tau": 0.5})
    assert moved.u0[moved.u.index("A.tau")] == 0.5


def test_declared_variables_are_the_arguments_and_states_may_be_those_of_the_tree(tmp_path: Path) -> None:
    model = read_model("four_bar")
    model.input("torque", to="A.tau")
    model.parameter("mass", of="crank.mass")
    model.output("angle", of="A.q")
    made = fm.export_casadi(model, tmp_path, library=False)
    assert (made.x, made.u, made.p, made.y) == (("angle", "A.qd"), ("torque",), ("mass",), ("angle",))
    tree = fm.export_casadi(model, tmp_path, library=False, states="tree")
    assert len(tree.x) == 6


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"states": "all"}, "Choose one of: tree, independent"),
        ({"path": "a.so"}, "ends with .c"),
        ({"path": "no/such.so"}, "ends with .c"),
    ],
)
def test_what_cannot_be_written_is_refused(options: dict[str, Any], words: str, tmp_path: Path) -> None:
    path = str(tmp_path / options.pop("path", "a.c"))
    with pytest.raises(ExportError, match=words):
        fm.export_casadi(read_model("pendulum"), path, **options)


def test_missing_compilers_and_models_without_states_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = read_model("pendulum")
    monkeypatch.setenv("CC", "no_such_compiler -O1")
    with pytest.raises(ExportError, match="no_such_compiler"):
        fm.export_casadi(model, tmp_path)
    monkeypatch.delenv("CC")
    monkeypatch.setattr("fmumbs.export.casadi.shutil.which", lambda name: None)
    monkeypatch.setattr("fmumbs.export.casadi.find_spec", lambda name: None)
    with pytest.raises(ExportError, match=r"no C compiler.*library=False"):
        fm.export_casadi(model, tmp_path)
    still = fm.Model("still")
    rod = fm.Body.rod("rod", length=1.0, mass=1.0)
    still.add(rod, fm.Weld("W", still.ground.at(), rod.base))
    with pytest.raises(ExportError, match="no states"):
        fm.export_casadi(still, tmp_path, library=False)
    assert not list(tmp_path.iterdir())


def test_a_compiler_that_fails_is_quoted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", f"{program('gcc')} -ffast-math -O0")
    with pytest.raises(ExportError, match="-ffast-math"):
        fm.export_casadi(read_model("pendulum"), tmp_path)
    assert not list(tmp_path.glob("*.so"))


@pytest.mark.parametrize("name", ["turn_of_four_bar", pytest.param("swing_of_arm", marks=slow)])
def test_an_optimal_motion_converges_with_casadis_own_hessian(name: str, tmp_path: Path) -> None:
    module = load(EXAMPLES / "optimal_motion.py")
    motion = getattr(module, name)
    _, _, torques, report = motion(load(EXAMPLES / "optimal_motion_in_c.py").rates_of)
    assert report["success"] and report["iter_count"] <= module.MOST
    by_fmu = motion()[2]
    assert_allclose(torques, by_fmu, rtol=0, atol=1e-5 * np.abs(by_fmu).max())


def test_the_command_line_writes_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = fmumbs("export", "four_bar", "pendulum", "--for", "casadi", "-o", "made")
    assert done.exit_code == 0 and "x(2), u(4), p(36)" in done.output
    assert {one.name for one in (tmp_path / "made").iterdir()} == {
        f"{name}{end}" for name in ("four_bar", "pendulum") for end in (".c", ".so")
    }
    done = fmumbs("export", "four_bar", "--for", "casadi", "--states", "tree", "--source-only")
    assert done.exit_code == 0 and "x(6)" in done.output
    assert not (tmp_path / "four_bar.so").exists()
    for arguments, words in (
        (("--for", "casadi", "--fmi", "3"), "--fmi is for an FMU"),
        (("--source-only",), "--source-only is for --for casadi"),
        (("--for", "casadi", "-o", "a.fmu"), "ends with .c"),
    ):
        done = fmumbs("export", "four_bar", *arguments)
        assert done.exit_code != 0 and words in f"{done.output}{done.exception}"
