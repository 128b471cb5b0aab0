"""Solver: an instance of the core, with access by name."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fmumbs import _checks
from fmumbs.compiler import ModelImage, image_of
from fmumbs.compiler.constraint_rows import GIVEN
from fmumbs.compiler.declared import declared_references
from fmumbs.compiler.layout import ffi, lib
from fmumbs.compiler.options import RunOptions, describes_options, shows_options
from fmumbs.errors import AssemblyError, FmumbsError, SolverError
from fmumbs.mechanism import Model
from fmumbs.run.interrupt import make_interruptible, raise_kept
from fmumbs.run.start import StartChange, start_changes

if TYPE_CHECKING:
    from typing_extensions import Buffer

Array = NDArray[np.float64]
References = NDArray[np.uint32]


_METHODS = ("newton", "descent", "shortened newton", "none")  # that find an equilibrium


@describes_options
class Solver:
    """Simulates a mechanism step by step, with the same bits as its FMU.

    model: a Model, with all variables accessible, declared variables also under their own names; or a ModelImage, with
    the variables in its table. derivatives: whether directional_derivative() is exact, and adjoint() available, where
    the model is covered; it takes more memory.
    {options}

    Values are numbers, or arrays for vectors such as "A.reaction.f"; for units and axes see
    ModelImage.variables.

    Raises SolverError for an unknown name, a refused value, and a step that fails; AssemblyError if assembly fails.

    Threads may share a Solver: its calls run one after the other. Steps release the global interpreter lock, so several
    Solvers can run in parallel. Ctrl-C ends a step; the Solver is then at `time` and can continue.
    """

    @shows_options
    def __init__(self, model: Model | ModelImage, *, derivatives: bool = False, **options: Unpack[RunOptions]) -> None:
        self.image = image_of(model, everything=True, **options)
        self._instance = self.image.take_instance(_checks.flag(derivatives, "Solver: derivatives"))
        self._declared = {} if isinstance(model, ModelImage) else declared_references(model, self.image.variables)
        self._known: dict[str, tuple[References, bool]] = {}
        self.rows = 0  # that the last run() completed
        self._lock = threading.RLock()
        self._busy = False
        make_interruptible(self._instance)

    def __reduce__(self) -> Any:
        raise SolverError(
            "a Solver cannot be copied or pickled. Copy solver.image and solver.state_save() instead, then "
            "make Solver(image) and call its state_load()."
        )

    # Running ----------------------------------------------------------------------------------------------

    def assemble(self, t: float = 0.0) -> None:
        """Closes the loops at time t [s], near the start values; with equilibrium goes on to the static equilibrium
        near them, at rest. Raises AssemblyError if that fails.

        `start_changes` lists the given values that changed.
        """
        self._call(_assemble, t, error=AssemblyError)

    def step(self, t_end: float) -> None:
        """Integrates to t_end [s]. After a SolverError or Ctrl-C the state is that at `time`."""
        try:
            self._call(lib.fm_step, t_end)
        except SolverError as error:
            error.time = self.time
            raise

    def run(self, times: Array, references: References, values: Array, positions: Array | None = None) -> None:
        """Integrates to each of (n,) times [s] and fills the rows of (n, references) values and (n, positions), in one
        call of the core, with the same bits as by step(), read() and `positions`. `rows` then counts those complete.

        values: an array of np.empty((n, columns)), or a part or the transpose of one. positions: one of
        np.empty((n, columns)). After a SolverError or Ctrl-C the state is that at `time`.
        Raises SolverError also for arrays that the core cannot fill.
        """
        asked, ends = np.ascontiguousarray(references, np.uint32), np.ascontiguousarray(times, np.float64)
        _check_rows(values, len(ends), len(asked), "variables", in_steps=True)
        if positions is not None:
            _check_rows(positions, len(ends), self.image.sizes["positions"], "positions")
        done, step = ffi.new("size_t *"), ffi.new("size_t[2]", [stride // values.itemsize for stride in values.strides])
        into = ffi.cast("double *", values.__array_interface__["data"][0])
        try:
            self._call(
                lib.fm_run, _pointer("double", ends), len(ends), _pointer("uint32_t", asked), len(asked),
                into, step, ffi.NULL if positions is None else _pointer("double", positions), done,
            )  # fmt: skip
        except SolverError as error:
            error.time = self.time
            raise
        finally:
            self.rows = int(done[0])

    def reset(self) -> None:
        """Resets to the state of a new Solver, bit for bit."""
        self._call(lib.fm_reset)

    @property
    def time(self) -> float:
        """The present time [s]."""
        return float(self._ask(lib.fm_time))

    def evaluate(self, times: int = 1) -> None:
        """Evaluates the accelerations `times` times at the present state, for benchmarking."""
        self._call(lib.fm_evaluate, times)

    @property
    def mobility(self) -> int:
        """Degrees of freedom of the assembled mechanism, not counting excited modes."""
        return int(self._ask(lib.fm_mobility))

    @property
    def start_changes(self) -> tuple[StartChange, ...]:
        """The given start values that assemble() changed: values that were set, then values of the model.

        In loops and couplings as many values are kept as the mobility allows: first those that were set to other values
        than the model's, then those of the model, each in the model's order of joints.
        """
        return start_changes(self._ask)

    @property
    def redundant_rows(self) -> int:
        """Number of constraint rows of cut joints that depend on the others."""
        loops = int(np.count_nonzero(self.image.arrays["row_kind"] != GIVEN))
        return loops - int(np.count_nonzero(self.active_rows))

    @property
    def active_rows(self) -> NDArray[np.bool_]:
        """(rows,) which constraint rows of cut joints were independent in assemble()."""
        rows = np.zeros(self.image.sizes["rows"], np.int32)
        self._ask(lib.fm_active, _pointer("int32_t", rows), len(rows))
        active: NDArray[np.bool_] = rows != 0
        return active

    @property
    def jacobian(self) -> Array:
        """(rows, speeds) constraint Jacobian of the cut joints: the rates of the rows are J times the velocities.

        Rows [m] or [1] in the order of `active_rows`; velocities as in set_state(). Rows that are used in assemble()
        only are zero.
        """
        return self.filled(lib.fm_jacobian, np.zeros((self.image.sizes["rows"], self.image.sizes["speeds"])))

    @property
    def positions(self) -> Array:
        """(positions,) of the spanning tree at the present time, in the order of set_state().

        Also of an image that shows declared variables only.
        """
        return self.filled(lib.fm_positions, np.zeros(self.image.sizes["positions"]))

    # Values -------------------------------------------------------------------------------------------------

    def get(self, name: str) -> Any:
        """The value of the variable `name`, or (n,) components of a vector."""
        references, scalar = self._references(name)
        values = self.read(references)
        return float(values[0]) if scalar else values

    def set(self, name: str, value: ArrayLike) -> None:
        """Sets an input, a parameter, or before assemble() a start value.

        name: of the variable; value: a number, or (n,) components of a vector.
        """
        self._write(*self._given(name, value))

    def set_all(self, values: Mapping[str, ArrayLike]) -> None:
        """Sets all of these as set() does, or none if one is refused. values: by name."""
        if values:
            references, given = zip(*(self._given(name, value) for name, value in values.items()), strict=True)
            self._write(np.concatenate(references), np.concatenate(given))

    def _given(self, name: str, value: ArrayLike) -> tuple[References, Array]:
        """Value references of a name, and the number for each of them."""
        references, _ = self._references(name)
        values = _numbers(value, f"'{name}'")
        if values.shape != references.shape:
            raise SolverError(f"'{name}' takes {len(references)} numbers, not {_size(values)}. Give {len(references)}.")
        return references, values

    def references(self, name: str) -> References:
        """(n,) value references for read() and write(). name: of a variable, or of a vector."""
        return self._references(name)[0]

    def read(self, references: References) -> Array:
        """(n,) values by value reference; references: (n,) from ModelImage.variables."""
        count, asked = _references_for_core(references)
        values = np.empty(count)
        self._call(lib.fm_get, asked, count, _pointer("double", values))
        return values

    def write(self, references: References, values: Array) -> None:
        """Sets (n,) values by value reference; references: (n,) from ModelImage.variables."""
        count, _ = _references_for_core(references)
        given = _numbers(values, "the values")
        if given.shape != (count,):
            raise SolverError(f"{count} variables take as many numbers, not {_size(given)}. Give one for each.")
        self._write(references, given)

    def _write(self, references: References, values: Array) -> None:
        """write() of as many values as references."""
        count, asked = _references_for_core(references)
        self._call(lib.fm_set, asked, count, _pointer("double", values))

    def set_state(self, positions: ArrayLike, speeds: ArrayLike) -> None:
        """Sets positions and velocities of all joints in the image's order, then assembles at the present time.

        positions: for each joint q, a quaternion w x y z, or x y z w x y z, then eta of its excited modes. speeds: for
        each joint qd, u, w, or v and w, then kappa. Values of modes that follow a path are ignored. The q and qd of a
        flexible body come after those of the joint that carries it.
        """
        variables = self.image.variables
        places = self._whole("positions", positions, variables.positions())
        rates = self._whole("speeds", speeds, variables.speeds())
        with self._lock:
            self.write(*places)
            self.write(*rates)
            self.assemble(self.time)

    def _whole(self, what: str, given: ArrayLike, references: References) -> tuple[References, Array]:
        """References and values of all positions or speeds, except those that follow a path."""
        values, size = _numbers(given, what).reshape(-1), self.image.sizes[what]
        if len(references) != size:
            raise SolverError(
                f"'{self.image.name}' does not show the {what} of all joints: its model declares variables. "
                "Take compile(model, everything=True)."
            )
        if len(values) != size:
            raise SolverError(f"the joints have {size} {what}, not {len(values)}. Give them for every joint.")
        if self.image.sizes["paths"] == 0:
            return references, values
        settable = self.image.variables.states(references)
        return references[settable], values[settable]

    @property
    def instance(self) -> Any:
        """The core's handle, for use within this package."""
        return self._instance

    @property
    def joint_names(self) -> list[str]:
        """The joints in the image's order: depth first from the ground, then those that close loops."""
        return self.image.variables.joint_names

    # Derivatives --------------------------------------------------------------------------------------------

    def set_input_derivatives(self, name: str, order: int, value: ArrayLike) -> None:
        """Sets the derivative of the input `name`, of order 1 to 3, at the start of the next step, for that step only.

        value: one number for each component of a vector, or one for all.
        """
        references, _ = self._references(name)
        values = _numbers(value, f"the derivative of '{name}'")
        if values.shape not in (references.shape, (1,)):
            raise SolverError(f"'{name}' takes {len(references)} numbers, not {_size(values)}. Give {len(references)}.")
        orders = np.full(len(references), order, np.int32)
        self.write_input_derivatives(references, orders, np.full(len(references), values))

    def write_input_derivatives(self, references: References, orders: NDArray[np.int32], values: Array) -> None:
        """Sets (n,) derivatives of inputs, as set_input_derivatives() does.

        references: (n,) value references. orders: (n,) 1 to 3. values: (n,) in the inputs' units over s^order.
        """
        count, asked = _references_for_core(references)
        each, given = np.ascontiguousarray(orders, np.int32), _numbers(values, "the derivatives")
        if given.shape != (count,) or each.shape != (count,):
            raise SolverError(f"{count} inputs take as many orders and derivatives. Give one of each.")
        self._call(lib.fm_set_input_derivatives, asked, count, _pointer("int32_t", each), _pointer("double", given))

    def output_derivative(self, name: str) -> Any:
        """The time derivative of the output `name`, (n,) of a vector."""
        references, scalar = self._references(name)
        count, asked = _references_for_core(references)
        orders, values = _pointer("int32_t", np.ones(count, np.int32)), np.empty(count)
        self._call(lib.fm_get_output_derivatives, asked, count, orders, _pointer("double", values))
        return float(values[0]) if scalar else values

    def directional_derivative(self, unknowns: Sequence[str], knowns: Sequence[str], seed: ArrayLike) -> Array:
        """(unknowns,) derivatives of outputs at the present time along a direction in the space of the knowns.

        unknowns: names of outputs; knowns: of inputs, states and tunable parameters; the name of a vector means all its
        components. seed: (knowns,) the direction. Force laws keep their modes. By inputs the derivatives are those of
        the linear response, by all else extrapolated differences; all are exact in a Solver with `derivatives` of a
        model that adjoint() covers.
        """
        (rows, z), (columns, v) = self._all_references(unknowns), self._all_references(knowns)
        return self._derive(lib.fm_directional_derivative, (z, rows, v, columns), seed, (columns, "knowns"), rows)

    def adjoint(self, unknowns: Sequence[str], knowns: Sequence[str], seed: ArrayLike) -> Array:
        """(knowns,) derivatives of the sum of seed times unknowns by all knowns, at the present time.

        The transpose of directional_derivative(): its cost does not grow with the number of knowns. unknowns: names of
        outputs and rates; knowns: of inputs, states and tunable parameters. seed: (unknowns,) the weights.

        Raises SolverError unless the Solver was made with `derivatives`, and where there is no adjoint, of the model or
        of a variable, with the reason.
        """
        (rows, z), (columns, v) = self._all_references(unknowns), self._all_references(knowns)
        return self._derive(lib.fm_adjoint_derivative, (z, rows, v, columns), seed, (rows, "unknowns"), columns)

    def _all_references(self, names: Sequence[str]) -> tuple[int, Any]:
        return _references_for_core([i for name in names for i in self._references(name)[0]])

    def _derive(self, function: Any, of: Any, seed: ArrayLike, takes: tuple[int, str], count: int) -> Array:
        given = _numbers(seed, "the seed")
        if given.shape != (takes[0],):
            raise SolverError(f"the seed has {_size(given)} numbers for {takes[0]} {takes[1]}. Give one for each.")
        result = np.empty(count)
        self._call(function, *of, _pointer("double", given), _pointer("double", result))
        return result

    # Statics ------------------------------------------------------------------------------------------------------

    def tangent(self, direction: ArrayLike, step: float = 1e-6) -> Array:
        """(speeds,) M^-1 K direction at rest, K the tangent stiffness; of velocities as in set_state().

        direction: (speeds,) velocities that the loops allow. Excited modes stand, friction drops out of laws. step: of
        the central differences [rad], or over the model's length.
        """
        return self._along(lib.fm_tangent, direction, step)

    def flexibility(self, direction: ArrayLike) -> Array:
        """(speeds,) K^-1 M direction: the inverse of tangent(), at a cost linear in the number of bodies."""
        return self._along(lib.fm_flexibility, direction)

    def _along(self, function: Any, direction: ArrayLike, *arguments: float) -> Array:
        given, size = _numbers(direction, "the direction"), self.image.sizes["speeds"]
        if given.shape != (size,):
            raise SolverError(f"the direction has {_size(given)} numbers for {size} velocities. Give one for each.")
        found = np.empty(size)
        self._call(function, *arguments, _pointer("double", given), _pointer("double", found))
        return found

    @property
    def equilibrium_found(self) -> tuple[str, int]:
        """How the last assemble() in equilibrium found it, and in how many evaluations of the accelerations.

        "newton", "descent" or "shortened newton"; "none" where it failed.
        """
        evaluations = ffi.new("double *")
        method = self._ask(lib.fm_equilibrium_found, evaluations)
        return _METHODS[method], int(evaluations[0])

    @property
    def departure(self) -> tuple[float, str]:
        """Of the equilibrium of the last assemble(): (0, "") if it is stable, else the growth rate [1/s] of a motion
        that departs from it, and the coordinate that moves most in it, "" for a vibration. (nan, "") where that was not
        found out, as where forces without a potential act on more than 40 velocity variables.
        """
        name = ffi.new("char[]", 200)
        rate = float(self._ask(lib.fm_departure, name, len(name)))
        return rate, ffi.string(name).decode()

    @property
    def deformation(self) -> str:
        """A sentence on the first deformation since assemble() that left the linear range: a rotation [rad] or strain
        above `solver.deformation`. "" if none did.
        """
        return self._sentence(lib.fm_deformation)

    @property
    def cavitation(self) -> str:
        """A sentence on the first chamber of a cylinder whose oil cavitated since assemble(). "" if none did."""
        return self._sentence(lib.fm_cavitation)

    @property
    def missed_contact(self) -> str:
        """A sentence on the first contact since assemble() that a fixed step passed over. "" if none did."""
        return self._sentence(lib.fm_missed_contact)

    @property
    def locks(self) -> dict[str, float]:
        """Of the equilibrium of the last assemble(): the generalised force [N.m] or [N] that keeps each locked
        coordinate at its start value, by name.
        """
        name, found = ffi.new("char[]", 200), {}
        for i in range(self._ask(lib.fm_lock_count)):
            force = float(self._ask(lib.fm_lock, i, name, len(name)))
            found[ffi.string(name).decode()] = force
        return found

    # State ----------------------------------------------------------------------------------------------------

    def state_save(self) -> bytes:
        """The complete state as bytes, which can be loaded in this or another process."""
        buffer = ffi.new("char[]", self._ask(lib.fm_state_size))
        self._call(lib.fm_state_save, buffer, len(buffer))
        return bytes(ffi.buffer(buffer))

    def state_load(self, state: Buffer) -> None:
        """Restores a saved state, bit for bit. Raises SolverError for a damaged state or one of another model.

        state: the bytes that state_save() returned, in any buffer.
        """
        try:
            data = memoryview(state).tobytes()
        except TypeError:
            raise SolverError(f"a {type(state).__name__} is not a state. Give the bytes of state_save().") from None
        self._call(lib.fm_state_load, ffi.from_buffer(data), len(data))

    def use_level(self, level: int) -> None:
        """Selects the kernels' instruction set; level: 0 plain, 1 AVX2, 2 AVX-512. The results have the same bits."""
        self._call(lib.fm_level_use, level)

    def use_planar(self, on: bool) -> int:
        """Switches the kernels for planar trees on or off; they are on by default.

        Returns the number of links that then use them. The results differ by round-off.
        """
        return int(self._ask(lib.fm_planar_use, int(on)))

    def _references(self, name: str) -> tuple[References, bool]:
        """Value references of a name, and whether it is a scalar."""
        if not isinstance(name, str):
            example = self.image.variables[0].name
            raise SolverError(f"{_checks.shown(name)} is not a variable name. Give one such as '{example}'.")
        if name not in self._known:
            self._known[name] = self._find(name)
        return self._known[name]

    def _find(self, name: str) -> tuple[References, bool]:
        if name in self._declared:
            found, scalar = self._declared[name]
            return np.array(found, dtype=np.uint32), scalar
        variables = self.image.variables
        found = variables.references(name)
        if not found:
            from difflib import get_close_matches  # late, for messages

            if close := get_close_matches(name, self._declared, 1):
                raise SolverError(f"'{self.image.name}' has no variable '{name}'. The nearest name is '{close[0]}'.")
            raise SolverError(f"'{self.image.name}' {variables.unknown(name)}")
        return np.array(found, dtype=np.uint32), variables.is_scalar(name)

    def call(self, function: Any, *arguments: Any) -> None:
        """Calls a function of the core that takes an instance and `arguments`, for use within this package.

        Raises SolverError if it fails.
        """
        self._call(function, *arguments)

    def _sentence(self, function: Any) -> str:
        """The sentence that a function of the core writes, "" if none."""
        message = ffi.new("char[]", 400)
        self._ask(function, message, len(message))
        text = ffi.string(message).decode()
        return f"Model '{self.image.name}': {text}." if text else ""

    def filled(self, function: Any, values: Array) -> Array:
        """What a function of the core fills `values` with, which are returned; for use within this package.

        Raises SolverError if it fills fewer: where the loops cannot be closed, or the core has another number of them.
        """
        if self._ask(function, _pointer("double", values), values.size) != values.size:
            raise SolverError(f"{ffi.string(lib.fm_message(self._instance)).decode()}.")
        return values

    def _call(self, function: Any, *arguments: Any, error: type[FmumbsError] = SolverError) -> None:
        """Calls a function of the core that can fail; raises an error with the core's message if it does."""
        with self._lock:
            if self._run(function, arguments) == lib.FM_OK:
                return
            raise_kept()
            raise error(f"{ffi.string(lib.fm_message(self._instance)).decode()}.")

    def _ask(self, function: Any, *arguments: Any) -> Any:
        """The value that a function of the core returns. Other threads wait."""
        with self._lock:
            return self._run(function, arguments)

    def _run(self, function: Any, arguments: tuple[Any, ...]) -> Any:
        """The same with the lock held; refuses calls from a signal handler during a step."""
        if self._busy:
            raise SolverError("this Solver is in the middle of a step. Use it after the step, or use another Solver.")
        self._busy = True
        try:
            return function(self._instance, *arguments)
        except (TypeError, OverflowError) as error:
            raise SolverError(f"the value is out of range: {error}. Give another number.") from error
        finally:
            self._busy = False


def _assemble(instance: Any, t: float) -> int:
    """The end of initialisation: the parameters obey the rules on several of them, and the loops close."""
    found = int(lib.fm_check_parameters(instance))
    return found if found != lib.FM_OK else int(lib.fm_assemble(instance, t))


def _pointer(kind: str, values: NDArray[Any]) -> Any:
    return ffi.from_buffer(f"{kind}[]", values)


def _references_for_core(references: ArrayLike) -> tuple[int, Any]:
    """The number of references, and a pointer that keeps them alive."""
    try:
        values = np.ascontiguousarray(references, dtype=np.uint32).reshape(-1)
    except (TypeError, ValueError, OverflowError):
        raise SolverError(f"{references!r} are not value references. Give integers of at least 0.") from None
    return len(values), _pointer("uint32_t", values)


def _numbers(value: ArrayLike, what: str) -> Array:
    """The value as an array of at least one dimension. Raises SolverError for anything but numbers."""
    try:
        return np.ascontiguousarray(np.atleast_1d(np.asarray(value, dtype=float)))
    except (TypeError, ValueError, OverflowError):
        raise SolverError(f"{what} is set to {_checks.shown(value)}, which is not a number. Give numbers.") from None


def _check_rows(rows: Array, count: int, width: int, what: str, in_steps: bool = False) -> None:
    """Raises SolverError for an array that the core cannot fill with `width` numbers at each of `count` times.

    in_steps: whether the numbers may be apart, by whole numbers and in either order.
    """
    if rows.shape != (count, width):
        raise SolverError(f"the rows of {count} times and {width} {what} are {_size(rows)}.")
    apart = in_steps and rows.flags.behaved and all(s >= 0 and s % rows.itemsize == 0 for s in rows.strides)
    if rows.dtype != np.float64 or not (rows.flags.carray or apart):
        raise SolverError(
            f"the rows of {count} times and {width} {what} are not numbers of double precision that lie one after the "
            f"other and can be written. Give np.empty(({count}, {width}))."
        )


def _size(values: Array) -> str:
    """The size of an array for messages."""
    return str(len(values)) if values.ndim == 1 else f"an array of {' by '.join(map(str, values.shape))}"
