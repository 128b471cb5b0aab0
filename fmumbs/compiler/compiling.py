"""Model -> ModelImage."""

import re
from typing import Any

import numpy as np

from fmumbs import _checks
from fmumbs.compiler.image import ModelImage
from fmumbs.compiler.layout import SIZES, Arrays, pack, table
from fmumbs.compiler.links import Links, make_links, point_place
from fmumbs.compiler.loops import add_cuts
from fmumbs.compiler.topology import spanning_tree
from fmumbs.compiler.variables import Variables, all_variables, kinds
from fmumbs.errors import ModelError
from fmumbs.mechanism import GROUND, Model, Point
from fmumbs.mechanism.signals import DefaultExperiment

_OPTIONS = (0.0, 1e-3, 1e-6)  # scheme, step [s], tolerance
_EXPERIMENT = (10.0, 0.01, 1e-6)  # stop [s], interval [s], tolerance


class _Texts:
    """Strings one after another, each once."""

    def __init__(self) -> None:
        self._offsets: dict[str, int] = {}
        self._parts: list[bytes] = []
        self.size = 0

    def put(self, text: str) -> int:
        offset = self._offsets.get(text)
        if offset is None:
            data = text.encode() + b"\0"
            offset = self._offsets[text] = self.size
            self._parts.append(data)
            self.size += len(data)
        return offset

    def bytes(self) -> bytes:
        return b"".join(self._parts)


def compile(model: Model, *, everything: bool = False) -> ModelImage:
    """Compiles a mechanism.

    everything: all variables under their structured names, whatever signals the model declares.

    Raises ModelError where the elements make no mechanism that can run, naming the element and a mend.
    """
    if not isinstance(model, Model):
        raise ModelError(f"compile needs a Model, not a {type(model).__name__}. Give what build() returns.")
    model.check_ends()
    tree, cuts = spanning_tree(model)
    links = make_links(tree)
    add_cuts(links, cuts, len(tree))
    arrays: dict[str, Any] = dict(links.rows)
    texts = _Texts()
    arrays["model_name"] = [texts.put(model.name)]
    arrays["model_text"] = [texts.put(model.description)]
    arrays["joint_name"] = [texts.put(joint.name) for joint in (*tree, *cuts)]
    arrays["body_name"] = [texts.put(name) for name in arrays.get("body_name", [])]
    _add_points(model, links, arrays, texts)
    arrays["gravity"] = model.gravity
    experiment = model.default_experiment or DefaultExperiment()
    given = (experiment.stop, experiment.interval, experiment.tolerance)
    arrays["experiment"] = [default if v is None else v for v, default in zip(given, _EXPERIMENT, strict=True)]
    arrays["options"] = (*_OPTIONS[:2], arrays["experiment"][2])
    arrays["length"] = [_length(arrays)]
    return _finish(model, arrays, texts, everything)


def _add_points(model: Model, links: Links, arrays: dict[str, Any], texts: _Texts) -> None:
    """Named points, and those that springs and loads act on."""
    index: dict[tuple[str, str | None, Any], int] = {}

    def put(point: Point) -> int:
        key = (point.body.name, point.name, point.X_BP.offset)
        if key not in index:
            place = point_place(links, point)
            name = f"{point.body.name}.{point.name}" if point.name else ""
            links.add(point_link=place.link, point_r=place.r, point_name=texts.put(name))
            index[key] = len(index)
        return index[key]

    for point in model.named_points:
        if point.body is not GROUND:
            put(point)
    for spring in model.springs:
        links.add(spring_P=put(spring.P), spring_Q=put(spring.Q), spring_name=texts.put(spring.name))
        links.add(spring_stiffness=spring.stiffness, spring_damping=spring.damping)
        links.add(spring_free_length=spring.free_length)
    for load in model.loads:
        links.add(load_point=put(load.P), load_name=texts.put(load.name))
        links.add(load_force=load.force, load_torque=load.torque)
    arrays.update(links.rows, body_name=arrays["body_name"])


def _length(arrays: dict[str, Any]) -> float:
    """A length that is typical of the model [m]: the largest distance within a link."""
    far = [np.abs(np.asarray(arrays.get(name, []), float)).max(initial=0.0) for name in ("link_r", "body_r", "com")]
    return max(*far) or 1.0


def _finish(model: Model, rows: dict[str, Any], texts: _Texts, everything: bool) -> ModelImage:
    """Arrays, variables and sizes to bytes."""
    arrays: Arrays = {}
    for column in table():
        if column.section != "NAMES" or column.name.endswith("_name"):
            values = np.asarray(rows.get(column.name, []), dtype=column.dtype)
            arrays[column.name] = values.reshape(-1, column.columns) if column.columns > 1 else values.reshape(-1)
    arrays.update(all_variables(arrays))
    _drop_nameless_points(arrays, texts)
    if model.signals and not everything:
        full = ModelImage(_pack(arrays, texts))
        arrays.update(_declared(model, full.variables, arrays, texts))
    return ModelImage(_pack(arrays, texts))


def _pack(arrays: Arrays, texts: _Texts) -> bytes:
    arrays = arrays | {"text": np.frombuffer(texts.bytes(), np.uint8)}
    sizes = dict.fromkeys(SIZES, 0)
    for column in table():
        sizes[column.rows] = arrays[column.name].size // column.columns
    return pack(sizes, arrays)


def _drop_nameless_points(arrays: Arrays, texts: _Texts) -> None:
    """Points that only carry a spring or a load are no variables."""
    of_points = np.array([kind.owner == 3 for kind in kinds()])[arrays["variable_kind"]]
    nameless = arrays["point_name"] == texts.put("")
    keep = ~of_points
    keep[of_points] = ~nameless[arrays["variable_object"][of_points]]
    for name in ("variable_kind", "variable_object", "variable_component", "variable_name"):
        arrays[name] = arrays[name][keep]


def _declared(model: Model, full: Variables, arrays: Arrays, texts: _Texts) -> Arrays:
    """The declared signals under their names, and the solver's own variables."""
    chosen: list[tuple[int, int]] = []
    for signal in model.signals:
        references = full.references(signal.target)
        if not references:
            known = full.names()
            stems = known + sorted({re.sub(r"\[\d+\]$", "", name) for name in known})
            raise ModelError(
                f"Model '{model.name}': {signal.causality} '{signal.name}' names '{signal.target}', which does "
                f"not exist. {_checks.nearest(signal.target, stems)}"
            )
        causality = full[references[0]].causality
        if causality != signal.causality:
            article = "an" if causality[0] in "aeiou" else "a"
            raise ModelError(
                f"Model '{model.name}': '{signal.target}' is {article} {causality}, but '{signal.name}' declares "
                f"it as {signal.causality}. Use model.{causality}()."
            )
        for i, reference in enumerate(references):
            name = signal.name if len(references) == 1 else f"{signal.name}[{i + 1}]"
            chosen.append((reference, texts.put(name)))
    taken = {reference for reference, _ in chosen}
    of_solver = np.array([kind.suffix.startswith("solver.") for kind in kinds()])[arrays["variable_kind"]]
    solver = [i for i in np.flatnonzero(of_solver).tolist() if i not in taken]
    own = np.array([c[0] for c in chosen] + solver)
    names = np.array([c[1] for c in chosen] + [-1] * len(solver))
    order = np.argsort(own, kind="stable")
    table = {name: arrays[name][own[order]] for name in arrays if name.startswith("variable_")}
    table["variable_name"] = names[order].astype(np.int32)
    return table
