"""Who carries the forces of a motion: actuators that a caller names, and those that could be named in a loop."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fmumbs.compiler import ModelImage
from fmumbs.compiler.inverse import actuators, inverse_image
from fmumbs.compiler.kinds import kind_columns, kinds
from fmumbs.compiler.layout import lib
from fmumbs.errors import AssemblyError, ModelError, SolverError
from fmumbs.run.coordinates import Array, pointer, required
from fmumbs.run.hosted import Hosted
from fmumbs.run.solver import Solver

INDEPENDENT = 1e-9
"""Singular values of rows of J with length one, and of actuators along motions, that count."""


def actuate(solver: Solver, actuated: Sequence[str], positions: Array, speeds: Array, accelerations: Array) -> Array:
    """(n, actuated) forces of the actuators that make (n, ...) motions, beside the values that they have.

    Raises ModelError where a motion does not fit the loops, or the actuators do not determine it.
    """
    image = inverse_image(solver.image, actuated)
    inverse = Solver(image)
    _copy(solver, inverse)
    present = np.array([one for name in actuated for one in actuators(solver.image, name)], np.uint32)
    asked = [one for name in actuated for one in image.variables.references(name)]
    forces = _forces(image)
    found = np.zeros((len(positions), len(forces)))
    if not found.size and not speeds.size:
        return found  # nothing moves
    motion = [pointer(np.ascontiguousarray(one)) for one in (positions, speeds, accelerations)]
    try:
        if image.sizes["rows"] and len(positions):
            references = image.variables.positions(), image.variables.speeds(), image.variables.accelerations()
            for reference, values in zip(references, (positions, speeds, accelerations), strict=True):
                inverse.write(reference, values[0])
            inverse.assemble(solver.time)
        inverse.call(lib.fm_actuated_forces, len(positions), *motion, pointer(found))
    except (AssemblyError, SolverError) as error:
        raise ModelError(f"Model '{image.name}', {error}") from None
    place = {reference: column for column, reference in enumerate(forces)}
    return found[:, [place[one] for one in asked]] - solver.read(present)


def _forces(image: ModelImage) -> list[int]:
    """Value references of the forces that such an image asks for, as the core orders them."""
    columns, kind = kind_columns(), image.arrays["variable_kind"]
    return list(np.flatnonzero(columns.of_inverse[kind] & columns.output[kind]))


def _copy(solver: Solver, inverse: Solver) -> None:
    """Gives a Solver of inverse dynamics the parameters and inputs of another of the same mechanism."""
    columns = kind_columns()
    tunable = np.array([kind.tunable for kind in kinds()])
    place = {row: k for k, row in enumerate(_rows(solver.image))}
    rows = _rows(inverse.image)
    kind = inverse.image.arrays["variable_kind"]
    wanted = np.flatnonzero((tunable | columns.input)[kind] & ~columns.of_inverse[kind])
    shared = [one for one in wanted.tolist() if rows[one] in place]
    values = solver.read(np.array([place[rows[one]] for one in shared], np.uint32))
    inverse.write(np.array(shared, np.uint32), values)


def _rows(image: ModelImage) -> list[tuple[int, int, int]]:
    """Kind, element and component of each variable."""
    return list(zip(*(image.arrays[f"variable_{n}"].tolist() for n in ("kind", "object", "component")), strict=True))


def choices(solver: Solver) -> str:
    """Which inputs may carry the forces of a motion in the loops of a mechanism: the end of a message."""
    hosted = Hosted(solver, assemble=True)
    image, n = solver.image, solver.image.sizes["speeds"]
    length = float(image.arrays["length"].reshape(-1)[0])
    scale = np.where(image.arrays["mode_linear"][:n] == 1, length, 1.0)
    N = _allowed(hosted.solver, scale)
    known = [k.index for k in kinds() if k.place == lib.FM_AT_TAU and k.suffix in ("tau", "f")]
    names = image.variables.names(np.flatnonzero(np.isin(image.arrays["variable_kind"], known)))
    B = _columns(hosted.solver, [one for name in names for one in actuators(image, name)]) * scale[:, None]
    size = np.linalg.norm(B, axis=0)
    acts = np.linalg.norm(N.T @ B, axis=0) > INDEPENDENT * np.where(size > 0.0, size, 1.0)
    able = [name for name, one in zip(names, acts, strict=True) if one]
    return (
        f"{N.shape[1]} degrees of freedom: as many inputs carry the force of a motion. Name {N.shape[1]} inputs as "
        f"actuated=[...], among them {', '.join(able) or 'loads'}."
    )


def _allowed(solver: Solver, scale: Array) -> Array:
    """(speeds, freedoms) an orthonormal basis of the motions that loops allow while drives stand."""
    driven = np.asarray(solver.image.arrays["excitation_u"], int)
    rows = np.vstack([solver.jacobian[solver.active_rows] * scale, np.eye(len(scale))[driven]])
    lengths = np.linalg.norm(rows, axis=1)
    rows = rows[lengths > 0.0] / lengths[lengths > 0.0, None]
    _, s, vt = np.linalg.svd(rows)
    return np.asarray(vt[int((s > INDEPENDENT).sum()) :].T)


def _columns(solver: Solver, references: Sequence[int]) -> Array:
    """(speeds, references) generalised forces of unit inputs, at rest, where inputs enter linearly."""
    positions, none = solver.positions[None], np.zeros((1, solver.image.sizes["speeds"]))
    at = np.asarray(references, np.uint32)
    kept = solver.read(at)

    def force() -> Array:
        return np.asarray(required(solver, True, positions, none, none)[0])

    base = force()
    amount = max(1.0, float(np.abs(base).max(initial=0.0)))
    B = np.zeros((len(base), len(at)))
    for k in range(len(at)):
        solver.write(at[k : k + 1], kept[k : k + 1] + amount)
        B[:, k] = (base - force()) / amount
        solver.write(at[k : k + 1], kept[k : k + 1])
    B[np.abs(B) < 1e-14 * np.abs(B).max(initial=0.0)] = 0.0
    return B
