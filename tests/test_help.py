"""help() of each public class and function says what each argument is."""

import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import fmumbs as fm

DESCRIPTION = r"\b{0}\b(,? \w+)*( [(\[][^)\]]*[)\]])*:|\b{0} \[|`{0}`"  # name, other: what; name [unit]; `name`
PUBLIC = {name: getattr(fm, name) for name in fm.__all__}


def methods(kind: type) -> Iterator[tuple[str, Callable[..., Any]]]:
    """The public methods of a class that are defined within the package, by the class that defines them."""
    for base in kind.__mro__:
        for name, value in vars(base).items() if base.__module__.startswith("fmumbs") else ():
            function = getattr(value, "__func__", value)
            if not name.startswith("_") and inspect.isfunction(function):
                yield f"{base.__name__}.{name}", function


def described() -> dict[str, Callable[..., Any]]:
    """Everything public that takes arguments."""
    found: dict[str, Callable[..., Any]] = {}
    for name, value in PUBLIC.items():
        found[name] = value
        if inspect.isclass(value):
            found |= dict(methods(value))
    return found


DESCRIBED = described()


def missing(value: Callable[..., Any]) -> list[str]:
    """The arguments that the docstring does not name; a call between backquotes, `Body(name, ...)`, does not count."""
    text = re.sub(r"`\w+\(.*?\)`", "", inspect.getdoc(value) or "")
    if inspect.isclass(value) and issubclass(value, BaseException) and "__init__" not in vars(value):
        return []  # takes a message
    names = [name for name in inspect.signature(value).parameters if name not in ("self", "cls")]
    described = DESCRIPTION if inspect.isclass(value) else r"\b{}\b"  # of functions sentences do
    return [name for name in names if not re.search(described.format(name), " ".join(text.split()))]


@pytest.mark.parametrize("name", DESCRIBED)
def test_a_docstring_names_each_argument(name: str) -> None:
    assert inspect.getdoc(DESCRIBED[name])
    assert missing(DESCRIBED[name]) == []


def test_help_of_a_joint_shows_what_its_base_describes() -> None:
    """One place for what joints share, and help() of each shows it, once."""
    for joint in (fm.Revolute, fm.Spherical, fm.Distance, fm.Joint, fm.Bushing):
        text = inspect.getdoc(joint) or ""
        assert text.count("Arguments of every joint:") == 1
        assert text.count("Arguments of every element:") == 1
        assert "held: q0 and u0 are kept before all others" in text
    assert "scale: factor of the force" in (inspect.getdoc(fm.Stop) or "")
    assert "transition: time [s]" in (inspect.getdoc(fm.ProgrammedPoint) or "")


def test_a_class_of_a_user_keeps_its_own_words() -> None:
    """Subclasses of public classes are completed, too; without a docstring they have none."""

    class Hinge(fm.Revolute):
        """A hinge of ours."""

    class Bare(fm.Revolute):
        pass

    assert (Hinge.__doc__ or "").startswith("A hinge of ours.\n\nArguments of every joint:")
    assert vars(Bare).get("__doc__") is None


def test_an_argument_that_is_missing_is_seen() -> None:
    def bad(length: float, width: float) -> None:
        """length: [m]."""

    assert missing(bad) == ["width"]
