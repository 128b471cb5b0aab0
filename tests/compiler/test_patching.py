"""Images that take only their numbers from a model: the same as by compile(), but for what compile() finds out."""

import inspect

import numpy as np
import pytest

import fmumbs as fm
from fmumbs.compiler import ModelImage, Structure
from fmumbs.compiler.layout import table
from fmumbs.readers import model_names, read_model
from fmumbs.readers.python_file import _build_function, _importable
from fmumbs.readers.reading import find_model

FOUND = ("joint_unique", "given_p", "given_u")  # what compile() finds out about the start
SCENE = "model_scene"


def numbers(name: str) -> dict[str, float]:
    """The parameters of a model that are floating-point numbers and not zero, with their defaults."""
    path = find_model(name)
    with _importable(path.parent):
        parameters = inspect.signature(_build_function(path)).parameters.values()
    return {one.name: one.default for one in parameters if isinstance(one.default, float) and one.default}


def varied(name: str, parameter: str, value: float) -> fm.Model:
    """The model with a value near this one."""
    try:
        return read_model(name, {parameter: 1.001 * value})
    except fm.ModelError:  # an inertia that no solid has
        return read_model(name, {parameter: 0.999 * value})


def assert_same(patched: ModelImage, compiled: ModelImage, which: str) -> None:
    """Every number to the last bit, every index and name; the scene of the page alone is that of the first image."""
    moved = len(patched.scene_text.encode()) - len(compiled.scene_text.encode())
    for column in table():
        one, other = patched.arrays[column.name], compiled.arrays[column.name]
        if column.name in FOUND:
            assert ((one != 0) == (other != 0)).all() or column.name == "joint_unique", column.name
        elif column.name == "text":
            assert patched.variables.names() == compiled.variables.names()
        elif column.name.endswith("_name") or column.name == "shape_kind":
            behind = other > int(compiled.arrays[SCENE][0])
            assert (one == other + moved * behind).all(), column.name
        else:
            assert one.tobytes() == other.tobytes(), f"{which}: {column.name}"


@pytest.mark.parametrize("name", [name for name in model_names() if numbers(name)])
def test_a_patched_image_is_that_of_compile(name: str) -> None:
    first = read_model(name)
    structure, patches = Structure(first, fm.compile(first)), 0
    for parameter, value in numbers(name).items():
        model = varied(name, parameter, value)
        compiled, patched = fm.compile(model), structure.patched(model, (), {})
        if patched is None:  # a zero is elsewhere
            continue
        patches += 1
        assert_same(patched, compiled, parameter)
    assert patches


def motion(image: ModelImage) -> bytes:
    """The outputs at the start and a millisecond later, but for what compile() finds out; or why there is none."""
    shown = image.variables.outputs()
    shown = shown[["unique" not in name for name in image.variables.names(shown)]]
    solver = fm.Solver(image)
    try:
        solver.assemble()
        start = solver.read(shown)
        solver.step(1e-3)
    except fm.FmumbsError as error:
        return str(error).encode()
    return start.tobytes() + solver.read(shown).tobytes()


def refuses(structure: Structure, model: fm.Model) -> bool:
    try:
        return structure.patched(model, (), {}) is None
    except fm.ModelError:
        return True


@pytest.mark.parametrize("name", [name for name in model_names() if numbers(name)])
def test_parameters_drawn_together_give_the_image_and_the_motion_of_compile(name: str) -> None:
    """By a factor of up to ten, some with the other sign; what compile() refuses is refused or left to it."""
    rng = np.random.default_rng(list(name.encode()))
    first, patches = read_model(name), 0
    structure = Structure(first, fm.compile(first))
    for width in 10.0 ** np.linspace(-3.0, 0.0, 6):
        drawn = {
            parameter: value * float(10.0 ** rng.uniform(-width, width) * (-1.0 if rng.random() < 0.05 else 1.0))
            for parameter, value in numbers(name).items()
            if rng.random() < 0.6
        }
        try:
            model = read_model(name, drawn)
        except fm.FmumbsError:
            continue
        try:
            compiled = fm.compile(model)
        except fm.FmumbsError:
            assert refuses(structure, model), drawn
            continue
        patched = structure.patched(model, (), {})
        if patched is None:
            continue
        patches += 1
        assert_same(patched, compiled, str(drawn))
        assert motion(patched) == motion(compiled), drawn
    assert patches


def test_names_of_the_first_image_are_shared_and_its_values_are_not() -> None:
    first, second = read_model("four_bar"), read_model("four_bar", {"crank": 0.09})
    image = fm.compile(first, scheme="rk4")
    assert image.variables.references("crank.mass")
    patched = Structure(first, image).patched(second, (), {"scheme": "rk4"})
    compiled = fm.compile(second, scheme="rk4")
    assert patched is not None and patched.variables.structured is image.variables.structured
    assert list(patched.variables) == list(compiled.variables) != list(image.variables)
    assert patched.arrays["options"].tolist() == compiled.arrays["options"].tolist()


def rod(q0: float = 0.3, *, name: str = "R", stiffness: float = 1.0, text: str = "") -> fm.Model:
    model = fm.Model("rod", description=text)
    body = fm.Body.rod(name, length=1.0, mass=1.0)
    model.add(body, fm.Revolute("A", model.ground.at(), body.base, axis="y", q0=q0, stiffness=stiffness))
    return model


def declaring(name: str) -> fm.Model:
    model = rod()
    model.output(name, of="A.q")
    return model


@pytest.mark.parametrize(
    "other",
    [rod(stiffness=0.0), rod(name="S"), rod(text="another"), declaring("angle")],
    ids=["no spring", "name", "description", "declared"],
)
def test_another_structure_is_not_patched(other: fm.Model) -> None:
    first = rod()
    structure = Structure(first, fm.compile(first))
    assert structure.patched(rod(q0=0.4), (), {}) is not None
    assert structure.patched(other, (), {}) is None


def drawn_tree(choices: np.random.Generator) -> fm.Model:
    """Three bodies of fixed numbers, on axes and bodies of their own choice, a brake and a spring on any of them."""
    model = fm.Model("tree")
    bodies = [fm.Body(name, mass=1.5, com=(0.1, 0.2, 0.3), inertia=(1.0, 1.1, 1.2)) for name in "abc"]
    model.add(*bodies)
    joints = []
    for i, body in enumerate(bodies):
        below = model.ground if i == 0 else bodies[choices.integers(i)]
        axis = str(choices.choice(["x", "y", "z"]))
        joints.append(fm.Revolute(f"J{i}", below.at(0.4, 0.5, 0.6), body.at(0.7, 0.8, 0.9), axis=axis, q0=0.2, u0=0.3))
    model.add(*joints, fm.Law.brake("brake", joints[choices.integers(3)], 1.0))
    ends = model.ground.at(2.0, 3.0, 4.0), bodies[choices.integers(3)].at(0.3, 0.2, 0.1)
    model.add(fm.Spring("spring", *ends, stiffness=8.0, damping=0.2, free_length=1.0))
    return model


def test_what_differs_in_an_index_or_a_kind_is_another_structure() -> None:
    """Axes, parents, and what laws and springs act on are integers of the image; its numbers may all be the same."""
    rng = np.random.default_rng(8)
    first = drawn_tree(rng)
    image = fm.compile(first)
    structure, others = Structure(first, image), 0
    assert structure.patched(first, (), {}) is not None
    integers = [one.name for one in table() if one.dtype == np.int32 and one.name != "text"]
    numbers = [one.name for one in table() if one.dtype == np.float64]
    for _ in range(100):
        model = drawn_tree(rng)
        compiled = fm.compile(model)
        if compiled.sizes != image.sizes or not all(equal(compiled, image, name) for name in numbers):
            continue
        alike = all(equal(compiled, image, name) for name in integers)
        assert (structure.patched(model, (), {}) is not None) == alike
        others += not alike
    assert others >= 10


def equal(one: ModelImage, other: ModelImage, name: str) -> bool:
    return bool((one.arrays[name] == other.arrays[name]).all())


def far(reach: float) -> fm.Model:
    """Two bodies, the second hinged at twice this reach from the first one's hinge."""
    model = fm.Model("far")
    first, second = (fm.Body(name, mass=1.0, inertia=(1.0, 1.0, 1.0)) for name in ("first", "second"))
    model.add(first, second, fm.Revolute("A", model.ground.at(), first.at(-reach, 0, 0), axis="y"))
    model.add(fm.Revolute("B", first.at(reach, 0, 0), second.at(), axis="y"))
    return model


def test_numbers_that_are_too_large_are_left_to_compile() -> None:
    first = far(1.0)
    structure = Structure(first, fm.compile(first))
    assert structure.patched(far(1e90), (), {}) is not None and structure.patched(far(1e100), (), {}) is None
    with pytest.raises(fm.ModelError, match="has a number above"):
        fm.compile(far(1e100))


def test_declared_variables_are_compared() -> None:
    first = declaring("angle")
    structure = Structure(first, fm.compile(first))
    assert structure.patched(declaring("angle"), (), {}) is not None
    assert structure.patched(declaring("other"), (), {}) is None


def test_start_values_that_are_given_are_compared() -> None:
    """A joint without q0 takes another start than one with it."""
    first, free = fm.Model("rod"), fm.Model("rod")
    for model, start in ((first, {"q0": 0.0}), (free, {})):
        body = fm.Body.rod("R", length=1.0, mass=1.0)
        model.add(body, fm.Revolute("A", model.ground.at(), body.base, axis="y", **start))
    assert Structure(first, fm.compile(first)).patched(free, (), {}) is None


def test_what_compile_finds_out_is_not_patched() -> None:
    first = read_model("four_bar")
    structure = Structure(first, fm.compile(first))
    assert structure.patched(read_model("four_bar", {"crank": 0.09}), ["A.q", "A.reaction.f"], {}) is not None
    assert structure.patched(read_model("four_bar", {"crank": 0.09}), ["A.reaction_unique.f"], {}) is None


def test_friction_that_may_be_refused_is_compiled() -> None:
    """Its reaction must be unique, which compile() finds out; with insist=True or a preload it need not be."""
    for options, patches in (({"own": True}, False), ({"own": False}, True)):
        first = read_model("rpsup", {"friction": True, **options})
        structure = Structure(first, fm.compile(first))
        assert (structure.patched(first, (), {}) is not None) == patches
