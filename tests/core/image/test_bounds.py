"""What parameters may be: Python's elements, the Solver and the FMU accept and refuse the same values.

The bounds are written down here once more, by the names of variables.
"""

import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fmumbs as fm
from fmumbs.compiler import ModelImage, compile
from fmumbs.compiler.layout import ffi, lib, pack
from fmumbs.compiler.schemes import SCHEMES
from fmumbs.mechanism import JointBase
from fmumbs.play.fmu import Fmu, Instance
from support.every_kind import KINDS
from support.sweeps import seeds

LARGEST, LEAST = 1e100, 1e-100
RULES: tuple[tuple[str, float, float], ...] = (
    (r"\.mass|\.inertia\[[123]\]|\.rotor_inertia(\[\d\])?|\.free_length", 0.0, LARGEST),
    (r"\.friction(\[\d\])?\.(static|kinetic|stribeck|stiffness)", LEAST, LARGEST),
    (r"\.friction(\[\d\])?\.(damping|viscous|preload|scale)", 0.0, LARGEST),
    (r"\.damping(\[\d+\])?|\.scale", 0.0, LARGEST),
    (r"\.breakaway", 1.0, LARGEST),
    (r"solver\.(step|deformation)", LEAST, LARGEST),
    (r"solver\.tolerance", 1e-14, 0.1),
    (r"solver\.closure", 1e-16, 0.01),
    (r"solver\.baumgarte\[\d\]", 0.0, 1e9),
    (r".*", -LARGEST, LARGEST),  # products of inertia, stiffnesses, rest positions, gravity
)
EDGES = sorted({edge for _, *bounds in RULES for edge in bounds} | {sys.float_info.min})
SPECIAL = [np.nan, np.inf, -np.inf, 1e308, -1e308, -1.0, -0.0, 0.5, 5e-324, -5e-324]
AROUND = [v for edge in EDGES for v in (np.nextafter(edge, -np.inf), edge, np.nextafter(edge, np.inf))]
VALUES = [float(v) for v in (*SPECIAL, *AROUND)]


def bounds(name: str) -> tuple[float, float]:
    """Of a variable that is no entry beside the diagonal of a damping matrix."""
    return next((low, high) for pattern, low, high in RULES if re.search(rf"(?:{pattern})$", name))


def allowed(name: str, value: float, beside: bool | None = False) -> bool:
    """beside: it is an entry beside the diagonal of a matrix; None for inputs and states, which are any finite numbers.
    What is subnormal is zero in the core.
    """
    if beside is None:
        return bool(np.isfinite(value))
    low, high = (-LARGEST, LARGEST) if beside else bounds(name)
    rounded = 0.0 if abs(value) < sys.float_info.min else value
    return bool(low <= rounded <= high)


def names_beside(model: fm.Model) -> set[str]:
    """The entries beside the diagonals of joints' matrices."""
    found = set()
    for joint in model.joints:
        n, count = joint.velocities, len(joint.coupled)
        found |= {f"{joint.name}.{law}[{n + i + 1}]" for law in ("stiffness", "damping") for i in range(count)}
    return found


# Python -------------------------------------------------------------------------------------------------------


def refuses(make: Callable[[], object]) -> bool:
    try:
        make()
    except fm.ModelError:
        return True
    return False


def of_body(body: fm.Body, what: str, part: int, value: float) -> Callable[[], object]:
    if what == "mass":
        return lambda: fm.Body(body.name, mass=value)
    if part < 3:
        return lambda: fm.Body(body.name, mass=1.0, inertia=(value,) * 3)
    moments = [LARGEST] * 3 + [0.0] * 3
    moments[part] = value
    return lambda: fm.Body(body.name, mass=1.0, inertia=moments, measured=True)


def of_joint(joint: Any, law: str, part: int, value: float) -> Callable[[], object] | None:
    if joint.coupled:
        return None  # a matrix: its rule is on several values
    present = getattr(joint, law)
    if isinstance(present, tuple):
        value = (*present[:part], value, *present[part + 1 :])  # type: ignore[assignment]
    return lambda: replace(joint, **{law: value})


def of_friction(joint: Any, law: str, value: float) -> Callable[[], object]:
    other = {"static": {"kinetic": LEAST}, "kinetic": {"static": LARGEST}}.get(law, {})
    return lambda: replace(joint.friction, **other, **{law: value})


def of_solver(image: ModelImage, what: str, value: float) -> Callable[[], object]:
    if what == "baumgarte":
        return lambda: image.with_options(correction=(value, 1.0))
    return lambda: image.with_options(**{what: value})  # type: ignore[arg-type]


def python_of(model: fm.Model, image: ModelImage, name: str, value: float) -> Callable[[], object] | None:
    """What makes the element of a parameter with this value, None where no element has it alone."""
    owner, _, rest = name.rpartition(".")
    what, part = rest.partition("[")[0], int(re.findall(r"\[(\d+)\]$", name)[0]) - 1 if name.endswith("]") else 0
    if owner == "solver":
        return of_solver(image, what, value)
    if what == "gravity":
        return lambda: fm.Model("m", gravity=np.insert(np.zeros(2), part, value))
    joint, _, of = owner.partition(".")
    if of.startswith("friction"):
        return of_friction(model[joint], what, value)
    element = model[owner]
    if isinstance(element, fm.Body):
        return of_body(element, what, part, value)
    if isinstance(element, JointBase):
        return of_joint(element, what, part, value)
    return lambda: replace(element, **{what: value})  # type: ignore[type-var]


# The same by all -----------------------------------------------------------------------------------------------


def fmu_refuses(one: Instance, reference: int, value: float) -> bool:
    try:
        one.slave.setReal([reference], [value])
    except Exception:  # of FMPy, for fmi2Error
        return True
    return False


def solver_refuses(solver: fm.Solver, name: str, value: float) -> bool:
    try:
        solver.set(name, value)
    except fm.SolverError as error:
        said = str(error)
    else:
        return False
    assert re.match(rf"{re.escape(name)} = \S+ is refused: it must be .*: (give|choose) ", said)
    return True


def settable(image: ModelImage) -> Iterator[str]:
    for v in image.variables:
        if v.type == "real" and v.start is not None and v.causality != "local":
            yield v.name


def drawn(number: int) -> tuple[fm.Model, ModelImage]:
    """A model of one of the kinds; of those with friction some do not compile, and the next one does."""
    for attempt in range(20):
        try:
            model = KINDS[list(KINDS)[number % len(KINDS)]](number + 1000 * len(KINDS) * attempt)
            return model, compile(model, everything=True)
        except fm.ModelError:
            continue
    raise AssertionError(number)


@pytest.mark.parametrize("number", seeds(len(KINDS), 10 * len(KINDS)))
def test_python_solver_and_fmu_refuse_the_same_values(number: int, tmp_path: Path) -> None:
    """Around every bound; nothing changes in an instance that has refused."""
    model, image = drawn(number)
    beside, rng = names_beside(model), np.random.default_rng([number, 5])
    names = [name for name in settable(image) if not re.search(r"\.(eta|kappa)(\[\d\])?$", name)]
    if len(names) > 60:
        names = rng.choice(np.array(names), 60, replace=False).tolist()
    parameters = {v.name for v in image.variables if v.causality == "parameter"}
    path = fm.export_fmu(image, tmp_path / "a.fmu", all_variables=True)
    with Fmu(path) as fmu, fmu.instance() as one:
        solver = fm.Solver(image)
        fresh, first = solver.state_save(), one.slave.serializeFMUState(one.slave.getFMUState())
        taken = []
        for name in names:
            for value in VALUES:
                if allowed(name, value, name in beside if name in parameters else None):
                    taken.append((name, value))
                    continue
                assert solver_refuses(solver, name, value), (name, value)
                assert fmu_refuses(one, fmu.reference(name), value), (name, value)
        assert solver.state_save() == fresh
        assert one.slave.serializeFMUState(one.slave.getFMUState()) == first
        for name, value in taken:
            assert not solver_refuses(solver, name, value), (name, value)
            assert not fmu_refuses(one, fmu.reference(name), value), (name, value)
        for name in parameters & set(names):
            for value in VALUES:
                make = python_of(model, image, name, value)
                assert make is None or refuses(make) != allowed(name, value, name in beside), (name, value)


def test_every_kind_of_parameter_is_among_them() -> None:
    """So that a new kind is drawn as well."""
    seen = set()
    for number in range(2 * len(KINDS)):
        image = drawn(number)[1]
        seen |= {re.sub(r".*\.(?!\w*$)|\[\d+\]", "", v.name) for v in image.variables if v.causality == "parameter"}
    rules = {"mass", "inertia", "stiffness", "damping", "rest", "rotor_inertia", "free_length", "scale", "breakaway"}
    rules |= {"static", "kinetic", "stribeck", "viscous", "preload", "gravity", "step", "tolerance", "closure"}
    rules |= {"deformation"}
    assert {name.rpartition(".")[2] for name in seen} == rules | {"baumgarte", "scheme", "equilibrium", "correction"}


@pytest.mark.parametrize(("name", "count"), [("scheme", len(SCHEMES)), ("equilibrium", 3), ("correction", 3)])
def test_choices_are_whole_numbers(name: str, count: int, tmp_path: Path) -> None:
    image = compile(KINDS["plane"](0), everything=True)
    path = fm.export_fmu(image, tmp_path / "a.fmu")
    solver = fm.Solver(image)
    with Fmu(path) as fmu, fmu.instance() as one:
        for value in (-1, *range(count), count, 2**31 - 1):
            assert solver_refuses(solver, f"solver.{name}", value) != (0 <= value < count)
            try:
                one.slave.setInteger([fmu.reference(f"solver.{name}")], [value])
                taken = True
            except Exception:  # of FMPy
                taken = False
            assert taken == (0 <= value < count)
    for value in (0.5, np.nan, -1e-3, count - 1 + 1e-9):
        assert solver_refuses(solver, f"solver.{name}", value)


# Images and states that something else has written ------------------------------------------------------------


@pytest.mark.parametrize(
    ("column", "value"),
    [("mass", -1.0), ("damping", -1.0), ("spring_damping", -2.0), ("spring_free_length", -1e-3),
     ("friction_static", 0.0), ("law_breakaway", 0.99), ("gravity", 1e101), ("stiffness", -1e101),
     ("options", 7.0), ("rotor_inertia", -1e-9)],
)  # fmt: skip
def test_an_image_out_of_bounds_is_refused(column: str, value: float) -> None:
    numbers = {"friction_static": 9, "law_breakaway": 11, "spring_damping": 10, "spring_free_length": 10}
    image = drawn(numbers.get(column, 0))[1]
    values = image.arrays[column].copy()
    assert values.size
    values.reshape(-1)[-1 if column != "options" else 0] = value
    with pytest.raises(fm.ModelError, match="a parameter is out of its bounds"):
        ModelImage(pack(image.sizes, image.arrays | {column: values}))


def test_a_state_out_of_bounds_takes_no_step() -> None:
    """With a checksum that fits: damping 0.123456789 becomes negative."""
    model, body = fm.Model("m"), fm.Body("b", mass=1.0, inertia=(1, 1, 1))
    model.add(body, fm.Revolute("A", model.ground.at(), body.at(), damping=0.123456789))
    solver = fm.Solver(model)
    solver.assemble()
    state = bytearray(solver.state_save())
    numbers = np.frombuffer(state, float, offset=64)
    assert (numbers == 0.123456789).sum() == 1
    numbers[numbers == 0.123456789] *= -1.0
    state[24:32] = np.uint64(lib.fm_checksum(ffi.from_buffer(state[64:]), len(state) - 64)).tobytes()
    solver.state_load(bytes(state))
    before = solver.state_save()
    with pytest.raises(fm.SolverError, match=r"state is refused: damping has the value -0\.123456789, and it must be"):
        solver.step(0.1)
    assert solver.state_save() == before
    solver.set("A.damping", 0.2)
    solver.step(0.1)
