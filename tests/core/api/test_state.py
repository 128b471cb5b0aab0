"""A run continues from a saved state bit for bit, also in another process; so do a reset and every instruction set."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fmumbs as fm
from fmumbs.compiler import compile
from fmumbs.compiler.layout import lib
from fmumbs.readers import read_model
from fmumbs.run import Solver
from support.strategies import Case, trees

MODELS = ("pendulum", "double_pendulum", "heavy_top", "arm6", "branch_pendulum")
MODELS += ("four_bar", "slider_crank", "engine", "ladder")  # with loops
SCHEMES = ("dopri5", "rk4", "radau", "dop853")
STEP = 0.013  # [s] between the integrator's own steps, and never on one


def image_of(name: str, scheme: str = "dopri5") -> fm.ModelImage:
    return compile(read_model(name), everything=True).with_options(scheme=scheme, step=0.004)


def bits(solver: Solver) -> bytes:
    """Of everything that can be read, and of all that a state holds."""
    every = np.arange(len(solver.image.variables), dtype=np.uint32)
    return solver.read(every).tobytes() + solver.state_save()


def inputs_of(image: fm.ModelImage) -> np.ndarray:
    return np.array([v.index for v in image.variables if v.causality == "input"], dtype=np.uint32)


def drive(solver: Solver, steps: int, seed: int = 0) -> None:
    """Inputs that now change and now stay, so that the integrator now falls back and now runs ahead."""
    rng, inputs, t = np.random.default_rng(seed), inputs_of(solver.image), solver.time
    for i in range(1, steps + 1):
        if i % 3 == 0 and len(inputs):
            solver.write(inputs, rng.normal(size=len(inputs)))
        solver.step(t + i * STEP)


def started(image: fm.ModelImage) -> Solver:
    solver = Solver(image)
    solver.assemble()
    return solver


# States ------------------------------------------------------------------------------------------------------


def test_outputs_that_were_read_are_computed_again_after_a_state_is_loaded() -> None:
    solver = started(image_of("four_bar"))
    ahead(solver)
    kept, expected = solver.state_save(), bits(solver)
    drive(solver, 3)
    assert bits(solver) != expected
    solver.state_load(kept)
    assert bits(solver) == expected


VALUES, CHECKSUM = 64, 24
"""Where the values of a saved state begin, and the checksum over them."""


@pytest.mark.parametrize("time", [np.nan, np.inf, 1e9])
def test_a_state_with_impossible_times_is_refused(time: float) -> None:
    """Its first value is the present time, here not finite or later than where the integrator stands."""
    solver = started(image_of("double_pendulum"))
    ahead(solver)
    state = bytearray(solver.state_save())
    assert lib.fm_checksum(bytes(state[VALUES:]), len(state) - VALUES) == int.from_bytes(
        state[CHECKSUM : CHECKSUM + 8], sys.byteorder
    )
    assert np.frombuffer(state[VALUES : VALUES + 8])[0] == solver.time
    state[VALUES : VALUES + 8] = np.float64(time).tobytes()
    checksum = lib.fm_checksum(bytes(state[VALUES:]), len(state) - VALUES)
    state[CHECKSUM : CHECKSUM + 8] = checksum.to_bytes(8, sys.byteorder)
    before = bits(solver)
    with pytest.raises(fm.SolverError, match="its times are inconsistent"):
        solver.state_load(state)
    assert bits(solver) == before


@pytest.mark.parametrize("law", ["stiffness", "damping", "rest", "rotor_inertia"])
def test_a_joints_parameters_are_the_models_before_and_after_a_reset(law: str) -> None:
    model = fm.Model("swing")
    bob = fm.Body("bob", mass=1.0, com=(0, 0, -0.5), inertia=(0.1, 0.1, 0.1))
    model.add(bob, fm.Revolute("A", model.ground.at(), bob.at(), axis="y", **{"stiffness": 0.7, law: 0.3}))
    solver = started(compile(model, everything=True))
    assert solver.get(f"A.{law}") == 0.3
    solver.set(f"A.{law}", 0.9)
    solver.reset()
    assert solver.get(f"A.{law}") == 0.3


@pytest.mark.parametrize("name", MODELS)
def test_a_reset_restores_every_parameter(name: str) -> None:
    solver, new = (Solver(image_of(name)) for _ in range(2))
    parameters = [v for v in solver.image.variables if v.variability == "tunable"]
    references = np.array([v.index for v in parameters], dtype=np.uint32)
    given = solver.read(references)
    assert given.tolist() == [v.start for v in parameters]
    positive = np.abs(given) * 1.25 + 0.5 * (given == 0.0)
    solver.write(references, np.where(given < 0.0, given * 0.75, positive))
    assert (solver.read(references) != given).all()
    solver.reset()
    assert bits(solver) == bits(new)


def ahead(solver: Solver) -> None:
    """Between two of the integrator's steps."""
    drive(solver, 5)


def just_changed(solver: Solver) -> None:
    """After a new input and a new parameter, before the step that meets them."""
    drive(solver, 4)
    inputs = inputs_of(solver.image)
    solver.write(inputs, np.full(len(inputs), 0.3))
    solver.set("gravity", (0.1, -1.0, -2.0))


def with_input_derivatives(solver: Solver) -> None:
    """Of all orders, for a step that has not come yet."""
    drive(solver, 4)
    for reference in inputs_of(solver.image):
        for order in (1, 2, 3):
            solver.set_input_derivatives(solver.image.variables.name(int(reference)), order, 0.5)


MOMENTS = [ahead, just_changed, with_input_derivatives]


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("name", MODELS)
def test_saved_state_continues_bit_for_bit(name: str, scheme: str, moment: Callable[[Solver], None]) -> None:
    """In the instance that saved it, however far that has gone since, and in a new one."""
    solver, other = started(image_of(name, scheme)), Solver(image_of(name, scheme))
    moment(solver)
    state, then = solver.state_save(), bits(solver)
    drive(solver, 7, seed=1)
    after = bits(solver)
    for one in (solver, other):
        drive_somewhere_else(one)
        one.state_load(state)
        assert bits(one) == then
        drive(one, 7, seed=1)
        assert bits(one) == after


def drive_somewhere_else(solver: Solver) -> None:
    solver.reset()
    solver.set("solver.tolerance", 1e-3)
    solver.assemble(3.0)
    drive(solver, 2, seed=9)


@settings(max_examples=25)
@given(trees())
def test_saved_state_of_random_trees(case: Case) -> None:
    image = compile(case.model)
    solver, other = started(image), Solver(image)
    for name, value in case.inputs.items():
        solver.set(name, value)
    drive(solver, 3)
    other.state_load(solver.state_save())
    for one in (solver, other):
        drive(one, 3, seed=2)
    assert bits(solver) == bits(other)


def test_state_saved_before_the_start_is_one_before_the_start() -> None:
    solver = Solver(image_of("double_pendulum"))
    solver.set("A.q", 0.5)
    other = Solver(solver.image)
    other.state_load(solver.state_save())
    with pytest.raises(fm.SolverError, match="not assembled"):
        other.step(0.1)
    other.assemble()
    assert other.get("A.q") == 0.5


ELSEWHERE = """
import sys
from pathlib import Path
import numpy as np
from fmumbs import ModelImage, Solver
folder = Path(sys.argv[1])
solver = Solver(ModelImage.load(folder / "image.fmb"))
solver.state_load((folder / "state").read_bytes())
t = solver.time
for i in range(1, 8):
    solver.step(t + i * float(sys.argv[2]))
every = np.arange(len(solver.image.variables), dtype=np.uint32)
(folder / "after").write_bytes(solver.read(every).tobytes() + solver.state_save())
"""


@pytest.mark.parametrize("name", ["arm6", "heavy_top"])
def test_saved_state_continues_in_another_process(name: str, tmp_path: Path) -> None:
    solver = started(image_of(name))
    with_input_derivatives(solver)
    (tmp_path / "state").write_bytes(solver.state_save())
    solver.image.save(tmp_path / "image.fmb")
    subprocess.run([sys.executable, "-c", ELSEWHERE, str(tmp_path), repr(STEP)], check=True, timeout=60)
    t = solver.time
    for i in range(1, 8):
        solver.step(t + i * STEP)
    assert (tmp_path / "after").read_bytes() == bits(solver)


def flipped(state: bytes, byte: int) -> bytes:
    return state[:byte] + bytes([state[byte] ^ 1]) + state[byte + 1 :]


def damaged_states(state: bytes) -> Iterator[tuple[str, bytes]]:
    yield from (("bytes", state[:cut]) for cut in (0, 1, 63, 64, len(state) - 1))
    yield "bytes", state + b"\0"
    yield "not a saved state", flipped(state, 0)
    yield "version", flipped(state, 8)
    yield from (("checksum", flipped(state, byte)) for byte in (24, 64, len(state) // 2, len(state) - 1))


def test_damaged_states_are_refused_and_nothing_changes() -> None:
    solver = started(image_of("double_pendulum"))
    drive(solver, 5)
    before = bits(solver)
    for why, state in damaged_states(solver.state_save()):
        with pytest.raises(fm.SolverError, match=why):
            solver.state_load(state)
        assert bits(solver) == before


def test_states_of_other_mechanisms_are_refused() -> None:
    """Also of one that differs in a single number, and of one with other variables."""
    model = read_model("double_pendulum")
    solver = started(compile(model))
    state = solver.state_save()
    few = read_model("double_pendulum")
    few.output("angle", of="A.q")
    others = [compile(few), compile(read_model("double_pendulum", {"mass": 1.5})), compile(read_model("heavy_top"))]
    for image in others:
        with pytest.raises(fm.SolverError, match="belongs to another model"):
            Solver(image).state_load(state)
    Solver(compile(model)).state_load(state)


# Starts ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["four_bar", "parallelogram_pendulum", "engine", "bennett", "heavy_top"])
def test_a_start_depends_on_what_was_set_and_not_on_earlier_starts(name: str) -> None:
    """Guesses at once or with starts between them; then a mass, which weighs how loops close."""
    image, rng = image_of(name), np.random.default_rng(5)
    places, speeds = image.variables.positions(), image.variables.speeds()
    guesses = Solver(image).read(places) + rng.uniform(-0.03, 0.03, len(places))
    mass = next(v.name for v in image.variables if v.name.endswith(".mass"))
    once, often, elsewhere = Solver(image), Solver(image), Solver(image)
    for solver, between in ((once, lambda: None), (often, often.assemble)):
        between()
        solver.write(places[1:], guesses[1:] + 0.01)
        between()
        solver.write(places, guesses)
        solver.write(speeds, np.full(len(speeds), 0.05))
        between()
        solver.set(mass, 3.0)
    elsewhere.state_load(often.state_save())
    for solver in (once, often, elsewhere):
        solver.assemble()
    assert bits(once) == bits(often) == bits(elsewhere)


def test_an_assembly_during_a_motion_starts_from_the_present_state() -> None:
    solver = started(image_of("four_bar"))
    solver.step(0.3)
    names = ("A.q", "B.q", "D.q", "A.qd")
    there = [solver.get(name) for name in names]
    solver.assemble(solver.time)
    assert [solver.get(name) for name in names] == pytest.approx(there, abs=1e-12)


# Reset -------------------------------------------------------------------------------------------------------


def tuned(solver: Solver) -> None:
    rng = np.random.default_rng(4)
    for variable in solver.image.variables:
        if variable.causality == "parameter" and variable.variability == "tunable":
            product = variable.kind == "inertia" and variable.component > 2
            more = 0.01 if product else 1.0 if variable.kind == "inertia" else rng.uniform(0.1, 1.0)  # those of a solid
            solver.set(variable.name, abs(solver.get(variable.name)) + more)
    drive(solver, 3)


def failed(solver: Solver) -> None:
    inputs = inputs_of(solver.image)
    solver.write(inputs, np.full(len(inputs), 1e308))
    with pytest.raises(fm.SolverError):
        solver.step(solver.time + 1.0)


@pytest.mark.parametrize("before", [*MOMENTS, tuned, failed])
@pytest.mark.parametrize("name", MODELS)
def test_reset_restores_the_initial_state_bit_for_bit(name: str, before: Callable[[Solver], None]) -> None:
    image = image_of(name)
    solver, new = started(image), Solver(image)
    before(solver)
    solver.reset()
    assert bits(solver) == bits(new)
    for one in (solver, new):
        one.assemble()
        drive(one, 5)
    assert bits(solver) == bits(new)


# Instruction sets ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def levels() -> list[int]:
    """The levels that this machine has; 0 is plain."""
    solver, found = Solver(compile(read_model("pendulum"))), []
    for level in range(8):
        try:
            solver.use_level(level)
        except fm.SolverError:
            break
        found.append(level)
    return found


def at_level(image: fm.ModelImage, level: int, steps: int, inputs: dict[str, Any] | None = None) -> bytes:
    solver = Solver(image)
    solver.use_level(level)
    solver.assemble()
    for name, value in (inputs or {}).items():
        solver.set(name, value)
    start = bits(solver)
    drive(solver, steps)
    return start + bits(solver)


def test_this_machine_has_more_than_one_level(levels: list[int]) -> None:
    if levels == [0]:
        pytest.skip("this machine knows plain instructions alone")
    assert levels in ([0, 1], [0, 1, 2])


@settings(max_examples=40)
@given(case=trees(max_bodies=12), scheme=st.sampled_from(SCHEMES))
def test_every_level_gives_the_same_bits_on_random_trees(levels: list[int], case: Case, scheme: str) -> None:
    image = compile(case.model).with_options(scheme=scheme, step=0.004)
    plain = at_level(image, 0, 4, case.inputs)
    assert all(at_level(image, level, 4, case.inputs) == plain for level in levels)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("name", MODELS)
def test_every_level_gives_the_same_bits_over_long_runs(levels: list[int], name: str, scheme: str) -> None:
    """Over 4 s: where a motion is chaotic, one bit would have become visible."""
    plain = at_level(image_of(name, scheme), 0, 300)
    assert all(at_level(image_of(name, scheme), level, 300) == plain for level in levels)


def test_every_level_gives_the_same_bits_in_the_large_branch(levels: list[int]) -> None:
    """More links than any vector register or block has lanes."""
    image = compile(read_model("branch_chain", {"bodies": 101}))
    plain = at_level(image, 0, 20)
    assert all(at_level(image, level, 20) == plain for level in levels)


@pytest.mark.parametrize("level", [-1, 3, 100])
def test_unknown_levels_are_refused(level: int) -> None:
    solver = started(image_of("pendulum"))
    with pytest.raises(fm.SolverError, match="level"):
        solver.use_level(level)
    solver.step(0.1)
