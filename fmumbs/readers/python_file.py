"""Models in Python files: each file has a function `build(**parameters) -> Model`."""

import importlib.util
import inspect
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from itertools import takewhile
from pathlib import Path
from types import CodeType
from typing import Any, TypeVar

from fmumbs import _checks
from fmumbs.errors import FmumbsError, ModelError
from fmumbs.mechanism import Model

T = TypeVar("T")

Parameters = tuple[list[str], bool]  # names, and whether it takes any other


class NoSuchModel(ModelError):
    """There is no model of this name, or its build() has no such parameter."""


def build_model(build: Callable[..., Any], parameters: Mapping[str, Any] | None = None) -> Model:
    """The Model that a function returns for these parameters. Raises as read_model()."""
    file = getattr(getattr(build, "__code__", None), "co_filename", "<function>")
    return _built(build, Path(file), parameters, Model)


def _built(build: Callable[..., Any], path: Path, parameters: Mapping[str, Any] | None, kind: type[T]) -> T:
    """What a function of the file at `path` returns, an object of `kind`."""
    given = dict(parameters or {})
    _check_parameters(path, build, given)
    built = _guarded(path, lambda: build(**given))
    if not isinstance(built, kind):
        what = kind.__name__
        raise ModelError(f"build() in '{path}' returned {type(built).__name__}, not a {what}. Let it return a {what}.")
    return built


def read_file(path: Path, parameters: Mapping[str, Any], kind: type[T]) -> T:
    """What build() of the file returns for these parameters, an object of `kind`. Raises as read_model()."""
    with _importable(path.resolve().parent):
        return _built(_build_function(path), path, parameters, kind)


def parameters_of_file(path: Path) -> Parameters:
    """The parameters of the file's build()."""
    with _importable(path.resolve().parent):
        return parameters_of(_build_function(path))


def parameters_of(build: Callable[..., Any]) -> Parameters:
    """The names of a function's parameters, and whether it takes any keyword."""
    try:
        known = inspect.signature(build).parameters
    except (TypeError, ValueError):
        return [], False
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    any_keyword = any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in known.values())
    return [name for name, parameter in known.items() if parameter.kind in named], any_keyword


@contextmanager
def _importable(folder: Path) -> Iterator[None]:
    """Makes the modules in a folder importable; afterwards they are unloaded, as other folders may use their names."""
    latest = next(reversed(sys.modules))
    sys.path.insert(0, str(folder))
    if str(folder) in sys.path_importer_cache:  # it, or nothing in it; importlib.invalidate_caches() does so for all
        for place in [place for place in sys.path_importer_cache if place.startswith(str(folder))]:
            del sys.path_importer_cache[place]
    try:
        yield
    finally:
        if str(folder) in sys.path:
            sys.path.remove(str(folder))
        new = list(takewhile(latest.__ne__, reversed(sys.modules)))
        local = {name for name in new if "." not in name and _lies_in(folder, sys.modules[name])}
        for name in new:
            if name.partition(".")[0] in local:
                del sys.modules[name]


def _lies_in(folder: Path, module: object) -> bool:
    places = [getattr(module, "__file__", None) or "", *getattr(module, "__path__", ())]
    return any(Path(place).parent == folder for place in places)


@lru_cache(maxsize=16)
def _code(file: str, source: bytes) -> CodeType:
    """The compiled code of a file with these bytes: a sweep runs it for each of its models."""
    return compile(source, file, "exec", dont_inherit=True)


def _build_function(path: Path) -> Callable[..., Any]:
    spec = importlib.util.spec_from_file_location(f"fmumbs_model_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise ModelError(f"'{path}' cannot be imported. Give a Python file.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[module.__name__] = module  # dataclasses look there
    _guarded(path, lambda: exec(_code(os.path.abspath(path), path.read_bytes()), module.__dict__))
    build = getattr(module, "build", None)
    if not callable(build):
        raise ModelError(f"'{path}' has no function build(). Add one that returns a Model.")
    return build  # type: ignore[no-any-return]


def _check_parameters(path: Path, build: Callable[..., Any], given: Mapping[str, Any]) -> None:
    try:
        known = dict(inspect.signature(build).parameters)
    except (TypeError, ValueError):
        raise ModelError(f"build in '{path}' is {build!r}, not a function. Write `def build():`.") from None
    kinds = {parameter.kind for parameter in known.values()}
    known = {n: p for n, p in known.items() if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)}
    for name in given:
        if name not in known and inspect.Parameter.VAR_KEYWORD not in kinds:
            raise NoSuchModel(f"build() in '{path}' has no parameter '{name}'. {_checks.nearest(name, known)}")
    for name, parameter in known.items():
        if parameter.default is inspect.Parameter.empty and name not in given:
            raise NoSuchModel(f"build() in '{path}' needs a value for '{name}'. Set it with --set {name}=VALUE.")


def _guarded(path: Path, call: Callable[[], Any]) -> Any:
    """Calls code of the file; an exception or sys.exit() becomes a ModelError with the line."""
    try:
        return call()
    except (FmumbsError, KeyboardInterrupt):
        raise
    except ModuleNotFoundError as error:
        if error.name is None:
            raise ModelError(_failure(path, error)) from error
        raise ModelError(
            f"'{path}'{_line(path, error)} needs the module '{error.name}', which is neither in the file's folder nor "
            f"installed for {sys.executable}. Install it, or put it in the file's folder."
        ) from error
    except SystemExit as error:
        raise ModelError(
            f"'{path}'{_line(path, error)} called sys.exit({error.code!r}) before it returned a model. "
            "Let build() return the Model without exiting."
        ) from error
    except BaseException as error:
        raise ModelError(_failure(path, error)) from error


def _failure(path: Path, error: BaseException) -> str:
    try:
        text = str(error).strip().rstrip(".")
    except Exception:
        text = ""
    return f"'{path}'{_line(path, error)} failed with {type(error).__name__}{text and ': '}{text[:1000]}. Fix the file."


def _line(path: Path, error: BaseException) -> str:
    """The line of the file where the error occurred: ', line 12,', or ""."""
    file = os.path.abspath(path)
    if isinstance(error, SyntaxError) and error.lineno is not None and error.filename == file:
        return f", line {error.lineno},"
    line, trace = "", error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == file:
            line = f", line {trace.tb_lineno},"
        trace = trace.tb_next
    return line
