"""Model -> ModelImage."""

import gc
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial, wraps
from itertools import chain
from typing import Any, ParamSpec, TypeVar, Unpack

import numpy as np
from numpy.typing import NDArray

from fmumbs import _checks
from fmumbs._checks import Vec3
from fmumbs._limits import LARGEST
from fmumbs.compiler.contacts import add_contacts
from fmumbs.compiler.couplings import add_couplings
from fmumbs.compiler.cylinders import add_valves, cylinder_fields
from fmumbs.compiler.declared import declared_variables
from fmumbs.compiler.friction import add_frictions, check_reactions
from fmumbs.compiler.gears import add_teeth, gear_fields
from fmumbs.compiler.image import ModelImage
from fmumbs.compiler.kinds import all_variables
from fmumbs.compiler.laws import add_laws
from fmumbs.compiler.layout import Arrays, Column, counted, lib, pack, table, text_at
from fmumbs.compiler.links import Links, make_links, point_place
from fmumbs.compiler.loops import add_cuts
from fmumbs.compiler.motors import add_motor_laws, geared_by_motors, motor_fields
from fmumbs.compiler.names import Names
from fmumbs.compiler.options import RunOptions, given, takes_options, with_settings
from fmumbs.compiler.programs import add_programs, without_inner
from fmumbs.compiler.ropes import add_ropes, reeve
from fmumbs.compiler.schemes import SCHEMES
from fmumbs.compiler.starts import ask_if_degrees, set_starts
from fmumbs.compiler.topology import spanning_tree
from fmumbs.errors import ModelError
from fmumbs.mechanism import GROUND, Body, JointBase, Model, Point
from fmumbs.mechanism.declared import DefaultExperiment
from fmumbs.mechanism.forces import FORCES, Contact, Cylinder, Force, Gear, Motor, Rope
from fmumbs.mechanism.lock import with_locks
from fmumbs.spatial import Transform

_Arguments = ParamSpec("_Arguments")
_Returned = TypeVar("_Returned")

_OPTIONS = {
    lib.FM_OPTION_SCHEME: float(SCHEMES["auto"].number), lib.FM_OPTION_STEP: 1e-3,
    lib.FM_OPTION_EQUILIBRIUM: 0.0, lib.FM_OPTION_DYNAMICS: float(lib.FM_RICCATI),
    lib.FM_OPTION_DEFORMATION: 0.3,
}  # step [s], deformation [rad] or strain; fmt: skip
_CLOSURE = {
    lib.FM_CLOSURE_CORRECTION: float(lib.FM_CORRECT_DIRECTLY), lib.FM_CLOSURE_TOLERANCE: 1e-12,
    lib.FM_CLOSURE_ALPHA: 20.0, lib.FM_CLOSURE_BETA: 20.0,
}  # alpha, beta [1/s]; fmt: skip
WITHOUT_BOUND = (
    "law_range", "experiment", "options",
    "start_tau", "load_force", "load_torque", "control_start",  # inputs, which an FMU takes as well
)  # fmt: skip
_NONE = np.zeros(0)
_KEPT_IMAGES, _KEPT_BYTES = 4, 2**22  # of one Model
_EXPERIMENT = (10.0, 0.01, 1e-6)  # stop [s], interval [s], tolerance


class Texts:
    """Strings, each stored once."""

    def __init__(self) -> None:
        self._offsets: dict[str, int] = {}
        self._data = bytearray()

    def put(self, text: str) -> int:
        """The offset of a string; adds it if it is new."""
        offset = self._offsets.setdefault(text, len(self._data))
        if offset == len(self._data):
            self._data += text.encode() + b"\0"
        return offset

    def array(self) -> NDArray[np.uint8]:
        """(characters,) all strings, each terminated by a zero."""
        return np.frombuffer(bytes(self._data), np.uint8)


def without_collection(function: Callable[_Arguments, _Returned]) -> Callable[_Arguments, _Returned]:
    """The function with Python's cyclic garbage collector off: a compilation makes millions of objects and no cycles,
    and the collector would walk over all of them again and again.
    """

    @wraps(function)
    def paused(*arguments: _Arguments.args, **options: _Arguments.kwargs) -> _Returned:
        was_on = gc.isenabled()
        gc.disable()
        try:
            return function(*arguments, **options)
        finally:
            if was_on:
                gc.enable()

    return paused


@takes_options
@without_collection
def compile(
    model: Model,
    *,
    everything: bool = False,
    starts: "Mapping[str, float | Sequence[float]] | None" = None,
    **options: Unpack[RunOptions],
) -> ModelImage:
    """Compiles a mechanism.

    everything: all variables under their structured names, even if the model declares variables.
    starts: start values that replace the model's, by names of inputs, states and parameters.
    {options}

    Raises ModelError if the model is invalid; the message names the element and a fix.
    """
    if not isinstance(model, Model):
        raise ModelError(f"compile needs a Model, not a {type(model).__name__}. Give the Model that build() returns.")
    everything = _checks.flag(everything, "everything")
    image = ModelImage(_data(model, everything, {} if starts is None else starts, given(options)))
    image.check()
    ask_if_degrees(model.name, image.variables, starts or {})
    return image


@dataclass(frozen=True)
class Parts:
    """What becomes an image: the model with its locks, its tree, cut joints and those of the tree whose M is nearer to
    the ground; and the arrays but for the table of variables, joint_unique, and what holds of given_p and given_u.
    """

    model: Model
    tree: list[JointBase]
    cuts: list[JointBase]
    backwards: set[str]
    texts: Texts
    arrays: Arrays


def parts_of(
    model: Model, chosen: RunOptions, starts: "Mapping[str, float | Sequence[float]]", scene: str | None = None
) -> Parts:
    """The parts of an image. chosen: options that are given; scene: its text, None to make it. Raises as compile()."""
    locked = chosen.get("locked") or ()
    if locked and not chosen.get("equilibrium"):
        raise ModelError(f"Model '{model.name}': locked is given without equilibrium=True. Give that as well.")
    model.check_ends()
    model = with_locks(model, locked)
    tree, cuts, backwards = spanning_tree(model)
    texts = Texts()
    joints = [*tree, *cuts]
    with np.errstate(all="ignore"):  # overflow is refused later
        links = make_links(tree, backwards, model.points_beside(tree), geared_by_motors(model))
        add_cuts(links, cuts, len(tree))
        add_couplings(links, model)
        add_programs(links, model)
        add_laws(links, model, texts.put)
        add_teeth(links, model, texts.put)
        add_valves(links, model, texts.put)
        add_motor_laws(links, model, texts.put)
        add_frictions(links, joints, texts.put)
        rows = _rows(model, joints, links, texts, scene)
        del links
        arrays = _arrays(rows)
    arrays["text"] = texts.array()
    set_starts(model, Names(arrays), arrays, starts)
    arrays = with_settings(model.name, arrays, chosen)
    reeve(model, arrays)
    return Parts(model, tree, cuts, backwards, texts, arrays)


def image_of(
    model: Model | ModelImage,
    *,
    everything: bool = False,
    starts: "Mapping[str, float | Sequence[float]] | None" = None,
    **options: Unpack[RunOptions],
) -> ModelImage:
    """The image of a Model, or one that is given, with these options of compile(). Raises ModelError as compile().

    Those of a Model that were made last are kept with it, unless they are large, until anything in it changes.
    """
    if isinstance(model, ModelImage):
        return model.with_options(**options)
    make = partial(compile, model, everything=everything, starts=starts, **options)
    if not isinstance(model, Model) or starts:
        return make()
    about = model.name, model.gravity, model.description, model.default_experiment, model.declared
    try:
        hash(key := (everything, *about, *sorted(options.items())))
    except TypeError:  # a list among the options
        return make()
    kept: dict[Any, ModelImage] = model.found("images", dict)
    image = kept.get(key) or make()
    if key not in kept and len(image.bytes) <= _KEPT_BYTES:
        kept[key] = image
        if len(kept) > _KEPT_IMAGES:
            del kept[next(iter(kept))]
    return image


def _rows(model: Model, joints: list[JointBase], links: Links, texts: Texts, scene: str | None) -> dict[str, Any]:
    """Rows of the image's arrays by name; names are offsets of their texts. scene: its text, None to make it."""
    order = {joint.name: place for place, joint in enumerate(model.joints)}
    length = _length(model)
    if scene is None:
        from fmumbs.scene import scene_of  # late: an import of fmumbs draws nothing

        scene = scene_of(model, length, links.rows.get("body_name", ())).to_json()
    named = {
        "model_name": [texts.put(model.name)],
        "model_text": [texts.put(model.description)],
        "model_scene": [texts.put(scene)],
        "joint_name": [texts.put(joint.name) for joint in joints],
        "joint_unique": np.full((len(joints), 6), lib.FM_UNIQUE),
        "joint_order": [order[joint.name] for joint in joints],
        "coupling_name": [texts.put(coupling.name) for coupling in (*model.couplings, *model.locks)],
        "body_name": [texts.put(name) for name in links.rows.get("body_name", [])],
        "shape_kind": [texts.put(kind) for kind in links.rows.get("shape_kind", [])],
        "gauge_name": [texts.put(name) for name in links.rows.get("gauge_name", [])],
    }
    _add_points(model, length, links, texts)
    experiment = model.default_experiment or DefaultExperiment()
    given = (experiment.stop, experiment.interval, experiment.tolerance)
    chosen = [default if value is None else value for value, default in zip(given, _EXPERIMENT, strict=True)]
    return {
        **links.rows,
        **named,
        "gravity": model.gravity,
        "experiment": chosen,
        "options": _columns(_OPTIONS | {lib.FM_OPTION_TOLERANCE: chosen[lib.FM_EXPERIMENT_TOLERANCE]}),
        "closure": _columns(_CLOSURE),
        "length": [length],
    }


def _columns(values: dict[int, float]) -> list[float]:
    """Values in the order of their columns."""
    return [values[column] for column in range(len(values))]


def _add_points(model: Model, length: float, links: Links, texts: Texts) -> None:
    """Adds named points and force elements, and the points where these act. length: of the model [m]."""
    index: dict[tuple[str, str | None, Transform, Vec3], int] = {}

    def put(point: Point, offset: Vec3 = (0.0, 0.0, 0.0)) -> int:
        key = (point.body.name, point.name, point.X_BP, offset)
        if key not in index:
            place = point_place(links, point)
            r = place.r + place.R @ np.array(offset) if any(offset) else place.r
            name = f"{point.body.name}.{point.name}" if point.name and not any(offset) else ""
            index[key] = len(links.rows.get("point_link", ()))
            links.add(point_link=place.link, point_r=r, point_R=place.R.ravel(), point_name=texts.put(name))
        return index[key]

    for point in model.named_points:
        if point.body is not GROUND:
            put(point)
    for kind in FORCES:
        one = kind.__name__.lower()
        for force in model.forces_of(kind):
            if isinstance(force, Rope | Contact):
                continue
            given = _as_in_image(force, links)
            rows = {f"{one}_{name}": put(v) if isinstance(v, Point) else v for name, v in given.items()}
            for name in force.inputs:
                links.add(control_start=rows[f"{one}_{name}"])
                rows[f"{one}_{name}"] = len(links.rows["control_start"]) - 1
            links.add(**rows, **{f"{one}_name": texts.put(force.name)})
    add_ropes(links, model, put, texts.put)
    add_contacts(links, model, length, put, texts.put)  # their laws come last


def _as_in_image(force: Force, links: Links) -> dict[str, Any]:
    """The fields of a force element as the image has them, points apart."""
    if isinstance(force, Motor):
        return motor_fields(force, links)
    if isinstance(force, Cylinder):
        return cylinder_fields(force, links)
    return gear_fields(force, links) if isinstance(force, Gear) else force.fields


def _length(model: Model) -> float:
    """A characteristic length of the model [m]: twice the largest distance of a joint or frame from its body's centre
    of mass, or if all are zero the largest radius of gyration. It does not depend on the choice or order of cut joints.
    """
    ends = (end for joint in model.joints for end in joint.ends)
    ends_and_coms = ((*end.X_BP.offset, *end.body.com) for end in ends if isinstance(end.body, Body))
    points, coms = np.array([*chain.from_iterable(ends_and_coms)], float).reshape(-1, 2, 3).swapaxes(0, 1)
    of_bodies = np.array([*chain.from_iterable(body.com for body in model.bodies)], float).reshape(-1, 3)
    arms = np.concatenate([of_bodies, points - coms])
    if longest := 2 * float(np.sqrt((arms**2).sum(axis=1)).max(initial=0.0)):
        return longest
    gyration = [np.sqrt(np.max(body.inertia) / body.mass) for body in model.bodies if body.mass > 0]
    return 2 * float(max(gyration, default=0.0)) or 1.0


def _arrays(rows: dict[str, Any]) -> Arrays:
    """The image's arrays except text and variables; with several columns (rows, columns), else (rows,).

    Takes the rows away as it goes, which are most of the memory.
    """
    columns, arrays = _made_of_rows(), _without_rows().copy()
    while rows:
        name, given = rows.popitem()
        if len(given) and (column := columns.get(name)) is not None:
            arrays[name] = column.shaped(np.asarray(given, column.dtype))
    return arrays


@cache
def _made_of_rows() -> dict[str, Column]:
    """The arrays that rows become, by name."""
    return {column.name: column for column in table() if column.rows not in ("variables", "characters")}


@cache
def _without_rows() -> Arrays:
    return {name: column.empty for name, column in _made_of_rows().items()}


@cache
def _bounded() -> tuple[Column, ...]:
    """The arrays whose numbers have a bound: those of elements first, which cause the model's."""
    found = [column for column in table() if column.dtype == np.float64 and column.name not in WITHOUT_BOUND]
    return tuple(sorted(found, key=lambda column: column.rows == "one"))


def _check_numbers(model: Model, arrays: Arrays) -> None:
    """Raises ModelError for a number so large that its square might overflow, naming the element it belongs to."""
    given = [(column, values) for column in _bounded() if (values := arrays.get(column.name, _NONE)).size]
    sizes = np.concatenate([values.reshape(-1) for _, values in given])
    if (np.abs(sizes, out=sizes) <= LARGEST).all():
        return
    for column, values in given:
        if (small := np.abs(values) <= LARGEST).all():
            continue
        text = arrays["text"].tobytes()
        large = np.flatnonzero(~small.reshape(-1, column.columns).all(axis=1))
        row, owner = int(large[0]), column.rows.removesuffix("s")
        if owner == "link":
            row, owner = int(arrays["link_joint"][row]), "joint"
        owner = {"bodie": "body"}.get(owner, owner)
        name = text_at(text, int(arrays[f"{owner}_name"][row])) if f"{owner}_name" in arrays else ""
        raise ModelError(
            f"Model '{model.name}': {f'{owner} ' + repr(name) if name else 'an element'} has a number above "
            f"{LARGEST:g}, given or computed. Give smaller numbers, in SI units."
        )


def _data(
    model: Model, everything: bool, starts: "Mapping[str, float | Sequence[float]]", chosen: RunOptions
) -> bytes:
    """The image's bytes. What they are made of, which is as large, is gone when the core copies them."""
    parts = parts_of(model, chosen, starts)
    model, arrays = parts.model, parts.arrays
    _check_numbers(model, arrays)
    if parts.cuts or model.couplings:
        from fmumbs.compiler.placing import unique_at_start  # late: trees do not need it

        backwards, joints = parts.backwards, [*parts.tree, *parts.cuts]
        bodies = [(joint.F if joint.name in backwards else joint.M).body.name for joint in parts.tree]
        arrays["joint_unique"] = unique_at_start(bodies, joints, model.couplings, arrays)
        check_reactions(joints, arrays["joint_unique"])
    if model.declared and not everything:
        arrays |= declared_variables(model, Names(arrays), parts.texts.put)
        arrays["text"] = parts.texts.array()
    else:
        shown = all_variables(arrays)
        arrays |= shown if everything else without_inner(model, arrays, shown)
    return pack(counted(arrays), arrays)
