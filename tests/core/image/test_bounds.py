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
from fmumbs.readers import model_names, read_model
from support.every_kind import KINDS
from support.sweeps import first, seeds

LARGEST, LEAST, NOT_ZERO = 1e100, 1e-100, -np.inf
RULES: tuple[tuple[str, float, float], ...] = (
    (r"^teeth\.ratio|^follower\.scale", NOT_ZERO, LARGEST),
    (r"^(wire|teeth)\.stiffness|^wire\.(length|radius(\[\d\])?)", LEAST, LARGEST),
    (r"^drive\.(resistance|inductance|voltage_limit|current_limit)", LEAST, LARGEST),
    (r"^drive\.efficiency", LEAST, 1.0),
    (r"^ram\.(area_[AB]|stroke|dead_volume_[AB]|bulk_modulus|rated_flow|rated_drop)", LEAST, LARGEST),
    (r"^ram\.(closed_length|leakage)|^drive\.constant|^teeth\.backlash", 0.0, LARGEST),
    (r"^(touch|rub|tread)\.(stiffness|stribeck|tangential_(stiffness|damping)|creep)", LEAST, LARGEST),
    (r"^touch\.turning_(stiffness|damping)|^tread\.(slip_stiffness|relaxation)(\[\d\])?", LEAST, LARGEST),
    (r"^(touch|rub|tread)\.(mu|static|rolling_arm|drilling_arm)", 0.0, LARGEST),
    (r"^(touch|rub|tread)\.exponent", 1.0, 10.0),
    (r"\.restitution", 0.0, 1.0),
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
"""The first that fits; by the names of elements() too. NOT_ZERO: +-LEAST and +-LARGEST are the bounds."""
EDGES = sorted({edge for _, *bounds in RULES for edge in bounds if edge != NOT_ZERO} | {sys.float_info.min})
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
    return bool(LEAST <= abs(rounded) <= high if low == NOT_ZERO else low <= rounded <= high)


def names_beside(model: fm.Model) -> set[str]:
    """The entries beside the diagonals of joints' matrices."""
    found = set()
    for joint in model.joints:
        n, count = joint.velocities, len(joint.coupled)
        found |= {f"{joint.name}.{law}[{n + i + 1}]" for law in ("stiffness", "damping") for i in range(count)}
    return found


# Python -------------------------------------------------------------------------------------------------------


def refuses(make: Callable[[], object]) -> str:
    """In which words, "" for not at all."""
    try:
        make()
    except fm.ModelError as error:
        return str(error)
    return ""


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


def of_contact(contact: fm.Contact, what: str, part: int, value: float, tangential: bool) -> Callable[[], object]:
    if what in ("stiffness", "exponent", "damping") and not tangential:
        return lambda: replace(contact.normal, **{what: value})
    if isinstance(contact, fm.Tyre):
        present = getattr(contact, what)
        pair = (*present[:part], value, *present[part + 1 :]) if isinstance(present, tuple) else value
        return lambda: replace(contact, **{what: pair})
    other = {"static": {"mu": 0.0}, "mu": {"static": LARGEST}}.get(what, {})
    return lambda: replace(contact.friction, **other, **{what: value})


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
    if owner not in {one.name for one in model.elements}:
        return None  # a law that stands for a side of a rope, or for teeth
    element = model[owner]
    if isinstance(element, fm.Body):
        return of_body(element, what, part, value)
    if isinstance(element, JointBase):
        return of_joint(element, what, part, value)
    if what == "inductance" and value == 0.0:
        return None  # a motor without a current as a state, which has no such parameter
    if isinstance(element, fm.Rope) and what == "radius":
        return lambda: replace(element.pulleys[part], radius=value)
    if isinstance(element, fm.Contact):
        return of_contact(element, what.removeprefix("tangential_"), part, value, "tangential" in what)
    if isinstance(element, fm.Cylinder) and not hasattr(element, what):
        return lambda: replace(element.valve, **{what: value})  # type: ignore[type-var]
    return lambda: replace(element, **{what: value})  # type: ignore[type-var]


def elements() -> fm.Model:
    """The force elements, a cam and an impact, each with all parameters that it can have."""
    model = fm.Model("elements")
    ground, bodies = model.ground, [fm.Body(f"b{i}", mass=1.0, inertia=(1, 1, 1)) for i in range(5)]
    turns = [fm.Revolute(f"A{i}", ground.at(i), bodies[i].at(), axis="y") for i in range(3)]
    slides = [fm.Prismatic(f"P{i}", ground.at(3 + i), bodies[3 + i].at(), axis="z") for i in range(2)]
    valve = fm.Valve(rated_flow=1e-3, rated_drop=1e6, supply=1e7)
    model.add(*bodies, *turns, *slides)
    model.add(
        fm.Rope("wire", [ground.at(0, 0, 3), fm.Pulley(turns[0], 0.2), bodies[3].at()], stiffness=1e3, length=4.0),
        fm.Motor(
            "drive", turns[1], resistance=0.5, inductance=1e-3, constant=0.05, gear=3.0, rotor_inertia=1e-4,
            voltage_limit=24.0, current_limit=9.0, efficiency=0.9,
        ),
        fm.Gear("teeth", turns[0], turns[1], ratio=-2.0, backlash=0.01, stiffness=1e3, damping=1.0),
        fm.Cam("follower", turns[2], slides[1], [(0.0, 0.0), (1.0, 0.1), (2.0, 0.0)]),
        fm.Cylinder(
            "ram", ground.at(0, 1, 2), bodies[3].at(0.1), area_A=1e-3, area_B=1e-3, stroke=9.0, closed_length=0.5,
            dead_volume_A=1e-4, dead_volume_B=1e-4, valve=valve,
        ),
        fm.Stop("end", slides[0], lower=-1.0, restitution=0.5),
        fm.Contact(
            "touch", fm.Sphere(bodies[3].at(), 0.1), fm.Plane(ground.at(0, 0, -9)), fm.Press(1e5),
            fm.Coulomb(
                0.3, stiffness=1e5, rolling_arm=1e-3, drilling_arm=1e-3, turning_stiffness=1e2, turning_damping=1.0
            ),
        ),
        fm.Tyre(
            "tread", fm.Disc(bodies[4].at(rotation=fm.Rotation.about("x", 1.0)), 0.1), fm.Plane(ground.at(0, 0, -9)),
            fm.Press(1e5), mu=0.9, slip_stiffness=(8e4, 6e4), relaxation=(0.1, 0.2),
        ),
        fm.Contact(
            "rub", fm.Sphere(bodies[4].at(), 0.1), fm.Plane(ground.at(0, 0, -9)), fm.Press(1e5),
            fm.Coulomb(0.3, creep=1e-3),
        ),
    )  # fmt: skip
    return model


# The same by all -----------------------------------------------------------------------------------------------


def fmu_refuses(one: Instance, reference: int, value: float) -> bool:
    try:
        one.slave.setReal([reference], [value])
    except Exception:  # of FMPy, for fmi2Error
        return True
    return False


def solver_refuses(solver: fm.Solver, name: str, value: float) -> str:
    """In which words, "" for not at all."""
    try:
        solver.set(name, value)
    except fm.SolverError as error:
        message = str(error)
    else:
        return ""
    assert re.match(rf"{re.escape(name)} = \S+ is refused: it must (not )?be .*: (give|choose) ", message)
    return message


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
    refused_alike(*drawn(number), tmp_path / "a.fmu", fmi=2 + number % 2, most=60)


@pytest.mark.parametrize("fmi", [2, 3])
@pytest.mark.parametrize("name", first(1, ["", *model_names()]))
def test_every_parameter_of_every_model_is_refused_alike(name: str, fmi: int, tmp_path: Path) -> None:
    model = read_model(name) if name else elements()
    refused_alike(model, compile(model, everything=True), tmp_path / "a.fmu", fmi=fmi, most=400)


def refused_alike(model: fm.Model, image: ModelImage, path: Path, fmi: int, most: int) -> None:
    """Of at most so many variables, drawn at random, by Python, a Solver and an FMU in the same words."""
    beside, rng = names_beside(model), np.random.default_rng([most, 5])
    names = [name for name in settable(image) if not re.search(r"\.(eta|kappa)(\[\d\])?$", name)]
    if len(names) > most:
        names = rng.choice(np.array(names), most, replace=False).tolist()
    parameters = {v.name for v in image.variables if v.causality == "parameter"}
    fm.export_fmu(image, path, all_variables=True, fmi=fmi)
    with Fmu(path) as fmu, fmu.instance() as one:
        solver = fm.Solver(image)
        fresh, first = solver.state_save(), one.slave.serializeFMUState(one.slave.getFMUState())
        taken = []
        for name in names:
            for value in VALUES:
                if allowed(name, value, name in beside if name in parameters else None):
                    taken.append((name, value))
                    continue
                message = solver_refuses(solver, name, value)
                assert message and fmu_refuses(one, fmu.reference(name), value), (name, value)
                assert one.reason.rstrip(".") == message.rstrip("."), (name, value)
        assert solver.state_save() == fresh
        assert one.slave.serializeFMUState(one.slave.getFMUState()) == first
        for name, value in taken:
            assert not solver_refuses(solver, name, value), (name, value)
            assert not fmu_refuses(one, fmu.reference(name), value), (name, value)
        for name in parameters & set(names):
            for value in VALUES:
                make = python_of(model, image, name, value)
                if make is None:
                    continue
                message = refuses(make)
                assert bool(message) != allowed(name, value, name in beside), (name, value, message)


def test_every_kind_of_parameter_is_among_them() -> None:
    """So that a new kind is drawn as well."""
    seen: set[int] = set()
    for image in [compile(elements(), everything=True), *(drawn(number)[1] for number in range(2 * len(KINDS)))]:
        seen |= set(image.arrays["variable_kind"].ravel().tolist())
    kinds = [lib.fm_kind(i) for i in range(lib.fm_kind_count())]
    missing = [i for i, kind in enumerate(kinds) if kind.causality == lib.FM_PARAMETER and i not in seen]
    assert not [f"{ffi.string(kinds[i].owner_name)}.{ffi.string(kinds[i].suffix)}" for i in missing]


@pytest.mark.parametrize(("name", "count"), [("scheme", len(SCHEMES)), ("equilibrium", 3), ("correction", 3)])
def test_choices_are_whole_numbers(name: str, count: int, tmp_path: Path) -> None:
    image = compile(KINDS["plane"](0), everything=True)
    path = fm.export_fmu(image, tmp_path / "a.fmu")
    solver = fm.Solver(image)
    with Fmu(path) as fmu, fmu.instance() as one:
        for value in (-1, *range(count), count, 2**31 - 1):
            assert bool(solver_refuses(solver, f"solver.{name}", value)) != (0 <= value < count)
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
