"""Settings of every test: how hypothesis searches, no windows, and no work that is done already."""

import os
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

os.environ["MPLBACKEND"] = "Agg"  # also for the processes that tests start
os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before numpy is loaded: pytest-xdist has a worker for each processor

import pytest
from hypothesis import HealthCheck, Phase, settings

import support.same_draws  # noqa: F401
from support.sweeps import mark_slow


def pytest_configure(config: pytest.Config) -> None:
    """What pyproject.toml names would be imported before this file, and numpy with it, with a thread a processor."""
    config.addinivalue_line("filterwarnings", "ignore::fmumbs.StartWarning")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Before pytest leaves out what is marked slow."""
    mark_slow(items)


settings.register_profile("default", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
default = settings.get_profile("default")
settings.register_profile("search", parent=default, derandomize=False, max_examples=1000)
settings.register_profile("unshrunk", parent=default, phases=[Phase.explicit, Phase.generate])
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


@pytest.fixture(scope="session")
def results_of_examples(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Where docs/generate keeps what examples and notebooks give: one folder for all processes of the tests."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "results_of_examples"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FMUMBS_DOCS", str(folder))
        yield folder


@pytest.fixture(autouse=True, scope="session")
def names_of_one_form_are_parsed_once() -> Iterator[None]:
    """FMPy's parser of variable names takes 10 ms for each, three quarters of a verification.

    Its grammar knows no name but "der"; every other identifier, and every number, is as good as another.
    """
    import lark

    parse = lark.Lark.parse
    parser: list[Any] = []

    @cache
    def is_legal(form: str) -> bool:
        try:
            parse(parser[0], form)
        except lark.exceptions.LarkError:
            return False
        return True

    def parse_form(self: Any, text: str, *arguments: Any, **options: Any) -> Any:
        parser[:] = [self]
        form = re.sub(r"\d+", "1", re.sub(r"\b(?!der\b)[A-Za-z_]\w*", "a", text, flags=re.ASCII), flags=re.ASCII)
        return None if is_legal(form) else parse(self, text, *arguments, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lark.Lark, "parse", parse_form)
        yield
