"""Other tools step an FMU with the Solver's own numbers: FMPy (Python) and libcosim (a C++ engine)."""

from pathlib import Path

import numpy as np
from fmpy import simulate_fmu

from fmumbs.compiler import ModelImage
from fmumbs.run import Solver

STEPS = 20
NANOSECONDS = 10_000_000  # of a communication step


def continuous(image: ModelImage) -> list[str]:
    return [v.name for v in image.variables if v.causality == "output" and v.type == "real"]


def pushes(image: ModelImage) -> dict[str, float]:
    """A constant value for each input."""
    inputs = [v.name for v in image.variables if v.causality == "input"]
    return {name: 0.05 * (k % 5 - 2) for k, name in enumerate(inputs)}


def solved(image: ModelImage, step: float) -> dict[str, float]:
    """Every real output after STEPS communication steps, as the Solver has it."""
    solver = Solver(image)
    for name, value in pushes(image).items():
        solver.set(name, value)
    solver.assemble()
    for k in range(STEPS):
        solver.step(k * step + step)
    return {name: solver.get(name) for name in continuous(image)}


def test_fmpy_simulates_every_mechanism_to_the_solvers_numbers(fmu: Path, image: ModelImage) -> None:
    step = NANOSECONDS / 1e9
    result = simulate_fmu(
        str(fmu), stop_time=STEPS * step, output_interval=step, start_values=pushes(image), output=continuous(image)
    )
    here = solved(image, step)
    for name in continuous(image):
        assert result[name][-1] == here[name], name


def test_libcosim_steps_every_mechanism_to_the_solvers_numbers(fmu: Path, image: ModelImage) -> None:
    from libcosimpy.CosimExecution import CosimExecution
    from libcosimpy.CosimObserver import CosimObserver
    from libcosimpy.CosimSlave import CosimLocalSlave

    execution = CosimExecution.from_step_size(step_size=NANOSECONDS)
    slave = execution.add_local_slave(CosimLocalSlave(fmu_path=str(fmu), instance_name=image.name))
    observer = CosimObserver.create_last_value()
    execution.add_observer(observer=observer)
    references = {v.name.decode(): v.reference for v in execution.slave_variables(slave_index=slave)}
    for name, value in pushes(image).items():
        execution.real_initial_value(slave, references[name], value)
    for _ in range(STEPS):
        assert execution.step()
    names = continuous(image)
    there = observer.last_real_values(slave_index=slave, variable_references=[references[n] for n in names])
    here = solved(image, NANOSECONDS / 1e9)
    np.testing.assert_array_equal(there, [here[name] for name in names])
