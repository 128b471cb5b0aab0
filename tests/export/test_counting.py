"""The counting core takes the core's steps, bit for bit, and counts the operations of them."""

import ctypes
import fcntl
import subprocess
from pathlib import Path

import numpy as np
import pytest

import fmumbs as fm
from fmumbs.compiler.layout import lib
from fmumbs.export import counting, realtime
from fmumbs.readers import read_model
from support.drawing.mechanism import Refused, draw
from support.one_file import program
from support.sweeps import first, seeds

STEPS = 50
WORST = 1.2
"""Times the mean: the worst step without events."""


@pytest.fixture(scope="module", autouse=True)
def built() -> Path:
    """Built once for all processes."""
    program("g++")
    with open(counting.FOLDER / "counting.lock", "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        return counting.build()


def steps_of(image: fm.ModelImage, step: float, steps: int = STEPS) -> counting.Counted:
    size = sum(image.sizes[name] for name in ("positions", "speeds", "bristles"))
    found = counting.counted(image.bytes, step, steps, size)
    assert found is not None
    return found


def assert_same_bits(image: fm.ModelImage, step: float) -> None:
    found, solver = steps_of(image, step), fm.Solver(image)
    solver.assemble()
    for n in range(1, STEPS + 1):
        solver.step(n * step)
    np.testing.assert_array_equal(found.state, solver.filled(lib.fm_tree_state, np.zeros(len(found.state))))


@pytest.mark.parametrize("name", first(3, ["four_bar", "manipulator5", "skate", "crane", "rod_loop", "engine"]))
def test_it_takes_the_steps_of_the_core(name: str) -> None:
    assert_same_bits(fm.compile(read_model(name), scheme="rk4", step=1e-4), 1e-4)


@pytest.mark.parametrize("seed", seeds(3, 100))
def test_it_takes_the_steps_of_any_mechanism(seed: int) -> None:
    try:
        drawn = draw(seed)
        step = drawn.stop / 2000
        drawn.model.experiment(stop=STEPS * step, interval=step)
        image = fm.compile(drawn.model, scheme="rk4", step=step)
        realtime.counts_of(image)
    except Refused:
        pytest.skip("no mechanism")
    except fm.FmumbsError as error:
        pytest.skip(f"refused: {error}")
    assert_same_bits(image, step)


def test_a_skate_that_turns_has_no_long_steps() -> None:
    """Each quarter turn an element of its rates changes sign; the step looks whether that is at a pole."""
    image = fm.compile(read_model("skate"), scheme="rk4", step=1e-3)
    each = np.array(steps_of(image, 1e-3, 2200).operations)
    assert np.count_nonzero(each > 1.05 * each.mean()) == 2
    assert each.max() <= WORST * each.mean()


def test_operations_of_a_formula_are_counted(tmp_path: Path) -> None:
    before = counting._PARTS.read_text().split("/* the core */\n")[0]
    text = """
    static double taken(double a, const double *b, int n)
    {
        double sum = 0.0;
        for (int i = 0; i < n; i++) sum += a * b[i];          /* 2 n */
        sum -= 2 / sqrt(fabs(-a)) + (a < 1 ? n : fmax(a, 1.0)); /* 4: of the division, root, sum and difference */
        sum /= 3.0, sum *= a;                                  /* 2 */
        return sum;
    }
    extern "C" __attribute__((visibility("default"))) int run(int n, binary64 *value)
    {
        double b[10];
        for (int i = 0; i < 10; i++) b[i] = i;
        counted = 0;
        *value = (binary64)taken(4.0, b, n);
        return (int)counted;
    }
    """
    library = tmp_path / "formula.so"
    command = [program("g++"), *counting._FLAGS, "-x", "c++", "-", "-o", str(library)]
    subprocess.run(command, input=before + text, text=True, check=True)
    run, value = ctypes.CDLL(str(library)).run, ctypes.c_double()
    for n in (0, 1, 7):
        assert run(n, ctypes.byref(value)) == 2 * n + 6
        assert value.value == (4 * sum(range(n)) - 5) / 3 * 4


def chain(count: int) -> fm.Model:
    """Rods on hinges whose axes are askew, so that it is no plane mechanism."""
    model, at = fm.Model("chain"), None
    for i in range(count):
        rod = fm.Body.rod(f"rod{i}", length=0.5, mass=1.0)
        axis = (0.1, 1.0, 0.2 * (i % 2))
        model.add(rod, fm.Revolute(f"A{i}", at or model.ground.at(), rod.base, axis=axis, q0=0.1))
        at = rod.tip
    return model


def test_each_further_body_takes_as_many_operations() -> None:
    """Some terms are computed for four bodies at a time."""
    images = [fm.compile(chain(n), scheme="rk4", step=1e-3) for n in (8, 16, 24, 32)]
    each = np.array([steps_of(image, 1e-3).operations[1:] for image in images])
    assert np.all(each == each[:, :1])
    eight = np.diff(each[:, 0])
    assert np.all(eight == eight[0])
    assert 4 * 8 * 100 < eight[0] < 4 * 8 * 1000  # a body has some hundred operations, at each of four stages


def test_a_step_with_more_corrections_takes_more() -> None:
    image = fm.compile(read_model("four_bar"), scheme="rk4", step=1e-3)
    solver, each = fm.Solver(image), np.array(steps_of(image, 1e-3, 500).operations)
    solver.assemble()
    total = [0.0]
    for n in range(1, 501):
        solver.step(n * 1e-3)
        total.append(solver.get("solver.iterations"))
    corrections = np.diff(total)
    assert set(corrections[1:]) == {0.0, 1.0, 2.0}
    none, one, two = (each[1:][corrections[1:] == n].mean() for n in (0.0, 1.0, 2.0))
    assert 1.02 * none < one < two / 1.02 < 1.2 * none


def test_the_documentation_says_them(monkeypatch: pytest.MonkeyPatch) -> None:
    image = fm.compile(read_model("four_bar"), scheme="rk4", step=2e-3)
    each = steps_of(image, 2e-3, 2500).operations
    row = f"<td>floating-point operations</td><td>{np.mean(each):.0f}</td><td>{max(each)}</td>"
    text = realtime.section(image)[1]
    assert row in text and "Operations are additions" in text
    monkeypatch.setattr(counting, "library", lambda: Path("none.so"))
    text = realtime.section(image)[1]
    assert "floating-point operations" not in text and "has no counting core" in text


def test_without_a_compiler_it_is_refused_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(fm.ExportError, match=r"g\+\+ is not on the PATH. Install it"):
        counting.build(tmp_path)
    broken = tmp_path / "g++"
    broken.write_text("#!/bin/sh\necho 'no such flag' >&2\nexit 1\n")
    broken.chmod(0o755)
    with pytest.raises(fm.ExportError, match="does not compile the counting core: no such flag"):
        counting.build(tmp_path)
    assert not list(tmp_path.glob("*.so"))


def test_one_of_another_core_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old, compiler = tmp_path / "counting-0123.so", tmp_path / "g++"
    old.touch()
    compiler.write_text('#!/bin/sh\nfor last; do [ "$before" = -o ] && : > "$last"; before=$last; done\n')
    compiler.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    made = counting.build(tmp_path)
    assert made == counting.library(tmp_path) and [*tmp_path.glob("*.so")] == [made] == [counting.build(tmp_path)]
