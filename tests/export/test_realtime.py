"""FMUs for real time: fixed steps, no allocation, little stack, and a worst step hardly longer than the mean."""

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from fmpy import read_model_description, simulate_fmu

import fmumbs as fm
from fmumbs.export import export_fmu, realtime
from fmumbs.export.one_file import core_source
from fmumbs.export.sources import image_source, source
from fmumbs.readers import model_names, read_model
from support.drawing.mechanism import Refused, draw
from support.one_file import HEADERS, compiled, program, unpacked
from support.sweeps import first, seeds

HOST = Path(__file__).parent / "realtime_host.c"
STACK = 16 * 1024
"""Bytes of stack, which small real-time targets give a task."""
WORST = 1.2
"""Times the mean: the worst step of rk4 without events."""
STEPS = 200
MODELS = ["four_bar", "arm6", "manipulator5", "braked_rotor", "cantilever", "crane", "governor", "heavy_top"]
FITTING = {"cantilever": 1e-4, "crane": 5e-4, "governor": 2e-4}
"""Steps [s] of rk4 for what moves too fast for a millisecond."""
QUICK = ["tcc"] if shutil.which("tcc") else ["cc", "-O1"]  # GCC's -O0 gives each inlined function a stack of its own
OWN = [f"-D{name}=host_{name}" for name in ("malloc", "calloc", "realloc", "free")]
COUNTING = ["gcc", "-O0", "-fsanitize-coverage=trace-pc"]


def measured(command: list[str], model: fm.Model, folder: Path, step: float = 1e-3) -> np.ndarray:
    """(STEPS + 2, 3) basic blocks, bytes of stack and allocations of opening, initialisation and each step."""
    unpacked(model, folder, realtime=True, step=step)
    (file,) = (folder / "sources").glob("*.c")
    made = compiled(command, file, folder / "fmu.o", *OWN)
    return run_host(command[0], file.stem, [made], read_model_description(str(folder), validate=False).guid, step)


def run_host(compiler: str, name: str, objects: list[Path], guid: str, step: float) -> np.ndarray:
    """What the host measures of the FMU of this name in the objects, linked by the compiler that made them."""
    target = objects[0].with_suffix("")
    host = ["-std=c99", f"-DNAME={name}", "-I", str(HEADERS), str(HOST), *map(str, objects), "-o", str(target)]
    subprocess.run([program(compiler), *host, "-lm"], check=True)
    done = subprocess.run([target, guid, str(STEPS), repr(step)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return np.array([line.split() for line in done.stdout.splitlines()], int)


@pytest.mark.parametrize("name", first(3, MODELS))
def test_a_call_needs_little_stack_and_a_step_no_memory(name: str, tmp_path: Path) -> None:
    found = measured(QUICK, read_model(name), tmp_path, FITTING.get(name, 1e-3))
    assert len(found) == STEPS + 2 and found[0, 2] > 0
    assert found[:, 1].min() > 100 and found[:, 1].max() < STACK
    assert not found[1:, 2].any()


@pytest.mark.slow
@pytest.mark.parametrize("command", [["tcc"], ["gcc", "-O2"], ["clang", "-O2"]], ids=" ".join)
def test_every_model_needs_little_stack_by_every_compiler(command: list[str], tmp_path: Path) -> None:
    """The core is compiled once; each model's image is linked to it."""
    pytest.importorskip("meshio")  # of solid_engine
    head = source("any", b"")[0].decode().partition("/* The model image")[0]
    core = tmp_path / "core.c"
    core.write_text(
        f"{head}extern const unsigned long fm_embedded_image_size;\n"
        f"extern const unsigned char fm_embedded_image[];\n{core_source().decode()}"
    )
    objects = [compiled(command, core, tmp_path / "core.o", *OWN)]
    most = {}
    for name in model_names():
        step = 1e-5 if name == "solid_engine" else FITTING.get(name, 1e-3)
        image = fm.compile(read_model(name), scheme="rk4", step=step)
        file = tmp_path / "image.c"
        file.write_text(image_source(image.bytes).decode().replace("static ", ""))
        embedded = compiled(command[:1], file, tmp_path / "image.o")
        found = run_host(command[0], "any", [*objects, embedded], image.guid, step)
        assert not found[1:, 2].any(), name
        most[name] = int(found[:, 1].max())
    assert len(most) > 30 and max(most.values()) < STACK, most


@pytest.mark.parametrize("seed", seeds(2, 60))
def test_any_mechanism_needs_little_stack_and_no_memory(seed: int, tmp_path: Path) -> None:
    try:
        drawn = draw(seed)
        drawn.model.experiment(stop=drawn.stop / 10, interval=drawn.stop / 100)
        found = measured(QUICK, drawn.model, tmp_path, drawn.stop / 10 / STEPS)
    except Refused:
        pytest.skip("no mechanism")
    except fm.FmumbsError as error:
        pytest.skip(f"refused: {error}")
    assert found[:, 1].max() < STACK and not found[1:, 2].any()


@pytest.mark.parametrize("name", first(1, [one for one in MODELS if one != "crane"]))
def test_the_worst_step_is_hardly_longer_than_the_mean(name: str, tmp_path: Path) -> None:
    """Counted in basic blocks that run."""
    program("gcc")
    blocks = measured(COUNTING, read_model(name), tmp_path, FITTING.get(name, 1e-3))[2:, 0]
    assert blocks.min() > 0
    assert blocks.max() <= WORST * blocks.mean()


def rows(page: str) -> dict[str, tuple[float, float, float]]:
    """Mean, worst and bound, by what is counted, in the documentation's table."""
    number = r"<td>([\d.e-]+)</td>"
    found = re.findall(rf"<tr><td>([^<]*)</td>{number}{number}{number}</tr>", page)
    return {what: (float(mean), float(worst), float(bound)) for what, mean, worst, bound in found}


@pytest.mark.parametrize("name", first(2, ["manipulator5", "braked_rotor", "four_bar", "bennett", "engine"]))
def test_the_documentation_has_the_counts_of_the_default_experiment(name: str, tmp_path: Path) -> None:
    folder = unpacked(read_model(name), tmp_path, realtime=True, step=2e-3)
    page = (folder / "documentation" / "index.html").read_text()
    description = read_model_description(str(folder))
    start = {v.name: v.start for v in description.modelVariables}
    assert (start["solver.scheme"], start["solver.step"]) == ("1", "0.002")
    assert description.modelExchange is None
    outputs = ["solver.steps", "solver.evaluations", "solver.iterations"]
    stop = float(description.defaultExperiment.stopTime)
    ran = simulate_fmu(str(folder / "a.fmu"), stop_time=stop, output_interval=2e-3, output=outputs)
    assert ran["solver.steps"][-1] == round(stop / 2e-3)
    for what, output in (("evaluations of the accelerations", outputs[1]), ("corrections of loops", outputs[2])):
        each = np.diff(ran[output])
        *counted, bound = rows(page)[what]
        assert counted == [pytest.approx(each.mean(), rel=1e-5), each.max()] and each.max() <= bound


def sticking(count: int) -> fm.Model:
    """A pendulum of `count` links with a brake at each hinge."""
    model = fm.Model("brakes", gravity=(0, 0, -9.81))
    at = model.ground.at()
    for i in range(count):
        body = fm.Body(f"b{i}", mass=1.0, inertia=(0.1, 0.1, 0.1))
        joint = fm.Revolute(f"A{i}", at, body.at(0, 0, 0.5), axis="y", q0=0.5)
        model.add(body, joint, fm.Law.brake(f"brake{i}", joint, 4.0))
        at = body.at(0, 0, -0.5)
    model.experiment(stop=2.0, interval=0.01)
    return model


def test_a_law_that_sticks_takes_a_bounded_number_of_evaluations(tmp_path: Path) -> None:
    image = fm.compile(sticking(1), scheme="rk4", step=1e-2)
    worst = realtime.counts_of(image).evaluations[1]
    evaluations, corrections = realtime.bounds_of(image)
    assert 4 < worst <= evaluations == 4 * 5 + 2 * 7 and corrections == 0
    export_fmu(sticking(1), tmp_path / "a.fmu", realtime=True)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"scheme": "auto"}, r"'auto' has no fixed steps.*choose one of: rk4"),
        ({"kind": "cs+me"}, r"the kind 'cs\+me' does not"),
        ({"kind": "me"}, r"the kind 'me' does not"),
        ({"backend": "pythonfmu"}, r"backend 'native'"),
        ({"inverse": True}, r"not integrated"),
    ],
    ids=["scheme", "both", "me", "pythonfmu", "inverse"],
)
def test_what_has_no_fixed_steps_is_refused(options: dict[str, object], words: str, tmp_path: Path) -> None:
    with pytest.raises(fm.ExportError, match=words):
        export_fmu(read_model("pendulum"), tmp_path / "a.fmu", realtime=True, **options)  # type: ignore[arg-type]
    assert not list(tmp_path.iterdir())


def test_iterations_without_a_useful_bound_are_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(fm.ExportError, match=r"'brake0' and 'brake1' of 'brakes' may stick at the same time.*smooth"):
        export_fmu(sticking(2), tmp_path / "a.fmu", realtime=True)
    with pytest.raises(fm.ExportError, match=r"'rolling_disk' has nonholonomic joints and loops"):
        export_fmu(read_model("rolling_disk"), tmp_path / "a.fmu", realtime=True)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", first(1, list(FITTING)))
def test_a_step_that_is_too_long_is_refused_with_one_that_fits(name: str, tmp_path: Path) -> None:
    fits = f"{FITTING[name]:g}"
    words = rf"0\.001 s are too long for '{name}': .*unstable\. Give step={fits} \(--step {fits}\)"
    with pytest.raises(fm.ExportError, match=words):
        export_fmu(read_model(name), tmp_path / "a.fmu", realtime=True, step=1e-3)
    assert not list(tmp_path.iterdir())


def test_what_fails_with_short_steps_too_is_refused_as_it_fails(tmp_path: Path) -> None:
    with pytest.raises(fm.SolverError, match="too long for this motion"):
        export_fmu(read_model("cantilever"), tmp_path / "a.fmu", realtime=True, step=0.2)
    assert not list(tmp_path.iterdir())


def with_own_friction() -> fm.Model:
    return read_model("manipulator5", {"friction": True})


def bouncing() -> fm.Model:
    """A body on a table with a restitution, in a loop: the impact and the stop that holds take what they can."""
    model = fm.Model("bouncing", gravity=(0, 0, -9.81))
    fall, cross = fm.Body("fall", mass=1.0, inertia=(1, 1, 1)), fm.Body("cross", mass=1.0, inertia=(1, 1, 1))
    z = fm.Prismatic("z", model.ground.at(), fall.at(), axis="z", q0=0.1)
    x = fm.Prismatic("x", model.ground.at(), cross.at(), axis="x", q0=0.5)
    model.add(fall, cross, z, x, fm.Distance("rod", fall.at(), cross.at(), length=float(np.hypot(0.1, 0.5))))
    model.add(fm.Stop("table", z, lower=0.0, restitution=0.6))
    model.experiment(stop=1.0, interval=0.01)
    return model


@pytest.mark.parametrize("name", ["pendulum", "arm6", "parallel_cranks", "brake", "own friction", "bouncing"])
def test_no_step_takes_more_than_its_bound(name: str) -> None:
    """Without loops and laws each step takes as many evaluations as it has stages.

    parallel_cranks passes a singular position, beside which evaluations are interpolated.
    """
    made = {"own friction": with_own_friction, "brake": lambda: sticking(1), "bouncing": bouncing}
    model = made[name]() if name in made else read_model(name)
    image = fm.compile(model, scheme="rk4", step=1e-3 if name != "own friction" else 1e-4)
    counts, (evaluations, corrections) = realtime.counts_of(image), realtime.bounds_of(image)
    if name == "parallel_cranks":
        most, corrected = realtime.singular_bounds_of(image)
        assert evaluations < counts.evaluations[1] <= most == realtime.SINGULAR * evaluations
        assert counts.corrections[1] <= corrected
        return
    assert counts.evaluations[1] <= evaluations and counts.corrections[1] <= corrections
    if name in ("pendulum", "arm6"):
        assert counts.evaluations == (evaluations, evaluations) == (4, 4) and corrections == 0


@pytest.mark.parametrize("seed", seeds(4, 100, 300))
def test_no_step_of_any_mechanism_takes_more_than_its_bound(seed: int) -> None:
    try:
        drawn = draw(seed)
        drawn.model.experiment(stop=drawn.stop / 10, interval=drawn.stop / 100)
        image = fm.compile(drawn.model, scheme="rk4", step=drawn.stop / 2000)
        realtime.check_bounded(image)
        counts = realtime.counts_of(image)
    except Refused:
        pytest.skip("no mechanism")
    except fm.FmumbsError as error:
        pytest.skip(f"refused: {error}")
    evaluations, corrections = realtime.bounds_of(image)
    if counts.evaluations[1] > evaluations and image.sizes["rows"]:  # beside a singular position
        evaluations, corrections = realtime.singular_bounds_of(image)
    assert counts.evaluations[1] <= evaluations and counts.corrections[1] <= corrections
