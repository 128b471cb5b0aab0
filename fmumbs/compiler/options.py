"""Options of a run: each is declared, documented, checked and turned into settings of the image here alone.

    RunOptions ── signatures and docstrings of compile(), simulate(), Solver, export_fmu(), ModelImage.with_options()
        │   └──── options of the command line
        └─ settings_of ── with_settings (an image) or values of an FMU's parameters

A setting is a parameter of the model, such as "solver.step", as core/image/variables.h lists them, or "dynamics".
"""

import inspect
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Annotated, Any, Literal, TypedDict, TypeVar, cast, get_type_hints

from fmumbs import _checks
from fmumbs.compiler.kinds import kinds, parameter_places
from fmumbs.compiler.layout import Arrays, lib
from fmumbs.compiler.schemes import SCHEMES, scheme_number
from fmumbs.errors import ModelError

SchemeName = Literal["dopri5", "rk4", "radau", "auto", "dop853"]
"""Names of SCHEMES, for editors and type checkers; so are the three below. tests/compiler/test_options.py compares."""
Correction = Literal["direct", "off", "baumgarte"]
ProgramsAtRest = Literal["held", "released"]
Dynamics = Literal["riccati", "copcod"]

CORRECTIONS: dict[str, int] = {
    "direct": lib.FM_CORRECT_DIRECTLY, "baumgarte": lib.FM_CORRECT_BAUMGARTE, "off": lib.FM_CORRECT_NEVER,
}  # fmt: skip

PROGRAMS: dict[str, int] = {"held": lib.FM_START_HELD, "released": lib.FM_START_RELEASED}
"""Values of solver.equilibrium by what programs do in it."""

DYNAMICS: dict[str, int] = {"riccati": lib.FM_RICCATI, "copcod": lib.FM_COPCOD}

Settings = dict[str, tuple[float, ...]]  # the components of each setting

_WIDTH = 120
_HEADING = "Options of the run; None keeps that of the model or the image:"
_NO_FMU_SETTING = "dynamics"
_Public = TypeVar("_Public", bound=Callable[..., Any])


@dataclass(frozen=True)
class Option:
    """What is known of an option beside its name and type.

    help: what it does, for docstrings and the command line; more: what docstrings add. settings: those that a value
    makes, given where it stands, for messages; None for what settings_of and compile() do themselves. choices: words
    that the command line offers. kept: what an FMU keeps as exported, so that it cannot be chosen for a run of it.
    """

    help: str
    settings: Callable[[str, Any], Settings] | None = None
    more: str = ""
    choices: tuple[str, ...] = ()
    kept: str = ""


def _one(setting: str) -> Callable[[str, Any], Settings]:
    """Of an option that is the number itself."""
    return lambda where, value: {setting: (_checks.number(value, where),)}


def _number(what: str, choices: Mapping[str, int], word: str) -> int:
    """The number of a word. Raises ModelError, with the known words, for an unknown one."""
    if isinstance(word, str) and word in choices:
        return choices[word]
    raise ModelError(f"{what} {_checks.shown(word)} is unknown. Choose one of: {', '.join(choices)}.")


def _correction(where: str, value: str | tuple[float, float]) -> Settings:
    if isinstance(value, tuple):
        pair = _checks.numbers(value, 2, where)
        return {"solver.correction": (CORRECTIONS["baumgarte"],), "solver.baumgarte": pair}
    return {"solver.correction": (_number("correction", CORRECTIONS, value),)}


class RunOptions(TypedDict, total=False):
    """The options by name; None, or none given: as in the model or the image."""

    scheme: Annotated[
        SchemeName | int | None,
        Option(
            f"integration. {'; '.join(f'{name}: {scheme.purpose}' for name, scheme in SCHEMES.items())}.",
            lambda where, value: {"solver.scheme": (scheme_number(value),)},
            choices=tuple(SCHEMES),
        ),
    ]
    step: Annotated[
        float | None, Option("longest step of a scheme with fixed steps [s].", _one("solver.step"))
    ]
    tolerance: Annotated[
        float | None,
        Option("relative tolerance of the integration with error control.", _one("solver.tolerance")),
    ]
    correction: Annotated[
        Correction | tuple[float, float] | None,
        Option(
            "how loops are kept closed: direct correction, none, or Baumgarte stabilisation [1/s].",
            _correction,
            '"direct", "off", "baumgarte", or (alpha, beta) of c\'\' + 2 alpha c\' + beta^2 c = 0.',
        ),
    ]
    closure: Annotated[
        float | None,
        Option("tolerance of the direct correction, relative to the model's length.", _one("solver.closure")),
    ]
    equilibrium: Annotated[
        bool | None,
        Option(
            "whether it starts at rest in the static equilibrium near the start values, with the parameters and inputs "
            "that are set."
        ),
    ]
    locked: Annotated[
        Sequence[str] | None,
        Option(
            "joints, or coordinates such as hoist.q[2], that keep their start values in the equilibrium, and are free "
            "when the motion begins.",
            more="Scalar coordinates of joints in the spanning tree; only for a Model.",
            kept="locks",
        ),
    ]
    programs: Annotated[
        ProgramsAtRest | None,
        Option(
            "what programs do in the equilibrium: their drives hold them where they start, or exert nothing.",
            more='"held": where their paths begin, or with a transition where the mechanism starts; ideal drives carry '
            'what the sag of supports and links would change there. "released": all sags; the motion begins there, off '
            "the path by a deviation that a transition fades out. A program without a transition is refused then, with "
            "the deviation. Excited modes stand in either case.",
            choices=tuple(PROGRAMS),
        ),
    ]
    dynamics: Annotated[
        Dynamics | None,
        Option(
            "accelerations: riccati, by sweeps with multipliers of loops, linear in the number of bodies; copcod, from "
            "the reduced form in independent velocities, slower in large models.",
            lambda where, value: {_NO_FMU_SETTING: (_number("dynamics", DYNAMICS, value),)},
            "The reduced form is N' (M q'' - h - Q) = 0, of the third order in the number of independent velocities.",
            choices=tuple(DYNAMICS),
            kept="formulation",
        ),
    ]
    deformation: Annotated[
        float | None,
        Option(
            "rotation [rad] or strain, by one mode of a flexible body or in one element of a flexible link, above "
            "which a run warns.",
            _one("solver.deformation"),
        ),
    ]


_HINTS: dict[str, Any] = get_type_hints(RunOptions, include_extras=True)

OPTIONS: dict[str, Option] = {name: hint.__metadata__[0] for name, hint in _HINTS.items()}

TYPES: dict[str, Any] = {name: hint.__origin__ for name, hint in _HINTS.items()}


def given(options: Mapping[str, Any]) -> RunOptions:
    """The options that have a value, in the order of OPTIONS. Raises ModelError for a name that is none."""
    for name in options:
        if name not in OPTIONS:
            raise ModelError(f"there is no option '{name}'. {_checks.nearest(name, OPTIONS)}")
    found = {name: options[name] for name in OPTIONS if options.get(name) is not None}
    if "equilibrium" in found:
        found["equilibrium"] = _checks.flag(found["equilibrium"], "equilibrium")
    if not isinstance(found.get("locked", ""), str):  # with_locks() refuses a text
        found["locked"] = _checks.names(found["locked"], "locked")
    if not found.get("locked", True):
        del found["locked"]
    return cast(RunOptions, found)


def settings_of(name: str, options: Mapping[str, Any], present: float = 0.0) -> Settings:
    """The settings that options make. name: of the model, for messages; present: its solver.equilibrium.

    Raises ModelError for a value that an option cannot have.
    """
    found: Settings = {}
    for option, value in given(options).items():
        if (make := OPTIONS[option].settings) is not None:
            where = f"'{name}': {option}"
            made = make(where, value)
            for setting, numbers in made.items():
                if setting != _NO_FMU_SETTING:
                    found[setting] = tuple(_checks.parameter("model", setting, one, where) for one in numbers)
                else:
                    found[setting] = numbers
    return found | _rest(name, options.get("equilibrium"), options.get("programs"), present)


def _rest(name: str, equilibrium: bool | None, programs: str | None, present: float) -> Settings:
    """The static equilibrium at the start, and what programs do in it."""
    if programs is not None:
        _number("programs", PROGRAMS, programs)
    if not (present if equilibrium is None else equilibrium):
        if programs == "released":
            raise ModelError(f"Model '{name}': programs='released' is given without equilibrium=True. Give it as well.")
        return {} if equilibrium is None else {"solver.equilibrium": (lib.FM_START_GIVEN,)}
    if equilibrium is None and programs is None:
        return {}
    return {"solver.equilibrium": (PROGRAMS[programs] if programs is not None else present or PROGRAMS["held"],)}


def with_settings(name: str, arrays: Arrays, options: Mapping[str, Any]) -> Arrays:
    """The arrays of an image with these options. name: of the model, for messages. Raises ModelError as settings_of."""
    if not options:
        return arrays
    changed: Arrays = {}
    present = float(arrays["options"].flat[lib.FM_OPTION_EQUILIBRIUM])
    for setting, numbers in settings_of(name, options, present).items():
        array, first = _places()[setting]
        column = changed.setdefault(array, arrays[array].copy())
        column.reshape(-1)[first : first + len(numbers)] = numbers
    return arrays | changed


@cache
def _places() -> dict[str, tuple[str, int]]:
    """The image's array of each setting, and where it begins there."""
    found = {kinds()[kind].suffix: (array, first) for kind, (array, first, _) in parameter_places().items()}
    return found | {_NO_FMU_SETTING: ("options", lib.FM_OPTION_DYNAMICS)}


# Signatures and docstrings --------------------------------------------------------------------------------------------


def takes_options(function: _Public) -> _Public:
    """Shows each option in the signature of a function, and in its docstring."""
    return describes_options(shows_options(function))


def shows_options(function: _Public) -> _Public:
    """Shows each option in the signature of a function that takes `**options`."""
    signature = inspect.signature(function)
    kept = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
    of = inspect.Parameter.KEYWORD_ONLY
    own = [inspect.Parameter(name, of, default=None, annotation=TYPES[name]) for name in OPTIONS]
    function.__signature__ = signature.replace(parameters=[*kept, *own])  # type: ignore[attr-defined]
    return function


def describes_options(public: _Public) -> _Public:
    """Describes each option in place of the line `{options}` in the docstring of a function or a class."""
    if public.__doc__:
        line = next(line for line in public.__doc__.splitlines(keepends=True) if line.strip() == "{options}")
        indent = line[: line.index("{")]
        wrapped = partial(
            textwrap.fill, width=_WIDTH, initial_indent=indent, subsequent_indent=f"{indent}    ",
            break_long_words=False, break_on_hyphens=False,
        )  # fmt: skip
        texts = (f"{name}: {option.help} {option.more}".rstrip() for name, option in OPTIONS.items())
        listed = "".join(f"{wrapped(text)}\n" for text in texts)
        public.__doc__ = public.__doc__.replace(line, f"{indent}{_HEADING}\n{listed}")
    return public
