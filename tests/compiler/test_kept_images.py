"""The image of a Model that is kept for its next run: the one that compile() would make again, and none else."""

from collections.abc import Callable

import pytest

import fmumbs as fm
from fmumbs.compiler import image_of
from support.every_kind import KINDS

Change = Callable[[fm.Model], object]

CHANGES: dict[str, Change] = {
    "an element": lambda model: model.add(fm.Spring("extra", model.ground.at(), model.bodies[0].at(1.0, 0, 0))),
    "an output": lambda model: model.output("speed", of=f"{model.joints[0].name}.qd"),
    "gravity": lambda model: setattr(model, "gravity", (0.0, 0.1, -9.81)),
    "the name": lambda model: setattr(model, "name", "renamed"),
    "the description": lambda model: setattr(model, "description", "Another one."),
    "the experiment": lambda model: model.experiment(stop=3.0, tolerance=1e-4),
}


def pendulum(bodies: int = 1) -> fm.Model:
    model, end = fm.Model("chain"), fm.Model("chain").ground.at()
    for k in range(bodies):
        rod = fm.Body.rod(f"rod{k}", length=0.5, mass=1.0)
        model.add(rod, fm.Revolute(f"J{k}", end, rod.base, axis="y"))
        end = rod.tip
    return model


@pytest.mark.parametrize("what", CHANGES)
def test_whatever_changes_in_a_model_makes_another_image(what: str) -> None:
    model = pendulum()
    first = image_of(model)
    assert image_of(model) is first
    CHANGES[what](model)
    found = image_of(model)
    assert found is not first and found.bytes != first.bytes
    assert found.bytes == fm.compile(model).bytes


def test_options_make_other_images_of_which_the_last_few_are_kept() -> None:
    model = pendulum()
    options: list[dict[str, object]] = [{"tolerance": 10.0**-k} for k in range(3, 12)] + [{"scheme": "rk4"}, {}]
    for chosen in (*options, *options[::-1], *options):
        assert image_of(model, **chosen).bytes == fm.compile(model, **chosen).bytes  # type: ignore[arg-type]
    assert image_of(model, everything=True).variables.names() == image_of(model).variables.names()
    assert len(model.found("images", dict)) <= 4


def test_a_start_that_is_given_is_of_one_image_only() -> None:
    model = pendulum()
    first = image_of(model)
    assert image_of(model, starts={"J0.q": 0.3}).bytes == fm.compile(model, starts={"J0.q": 0.3}).bytes
    assert image_of(model) is first


def test_a_list_of_locked_joints_is_an_option_too() -> None:
    model = pendulum(2)
    images = [image_of(model, equilibrium=True, locked=["J0"]) for _ in range(2)]
    assert images[0].bytes == images[1].bytes == fm.compile(model, equilibrium=True, locked=["J0"]).bytes


def test_a_large_image_is_not_kept_with_its_model() -> None:
    model = pendulum(3000)
    assert len(image_of(model).bytes) > 2**22
    assert not model.found("images", dict)


@pytest.mark.filterwarnings("ignore::fmumbs.DeformationWarning", "ignore::fmumbs.StartWarning")
@pytest.mark.parametrize("kind", KINDS)
def test_a_second_run_has_the_bits_of_the_first(kind: str) -> None:
    model = KINDS[kind](3)
    runs = [ran(model), ran(model), ran(KINDS[kind](3))]
    for one in runs[1:]:
        assert isinstance(one, type(runs[0]))
        for name in one if isinstance(one, fm.Result) else ():
            assert one[name].tobytes() == runs[0][name].tobytes(), name


def ran(model: fm.Model) -> fm.Result | fm.FmumbsError:
    """What a run gives, also one that fails."""
    try:
        return fm.simulate(model, stop=0.02, interval=0.01)
    except fm.FmumbsError as error:
        return error
