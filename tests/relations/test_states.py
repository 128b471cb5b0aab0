"""A state that is saved and restored, in the same instance and in another one: the same bits."""

import numpy as np

import fmumbs as fm
from support.agreement import Refused, draws, each, reals
from support.drawing.declared import shown_image
from support.drawing.mechanism import draw

OPTIONS = ({}, {"scheme": "radau"}, {"scheme": "auto"}, {"dynamics": "copcod"}, {"scheme": "dop853"}, {"scheme": "rk4"})


def check(seed: int) -> None:
    drawn = draw(seed)
    options = dict(OPTIONS[seed % len(OPTIONS)])
    options |= {"step": drawn.stop / 50} if options.get("scheme") == "rk4" else {}
    image = shown_image(seed, drawn.model).with_options(**options)
    shown = reals(image)
    one, other = fm.Solver(image), fm.Solver(image)
    times = drawn.stop * np.array([0.3, 0.5, 1.0])
    try:
        one.assemble()
        one.step(times[0])
        saved = one.state_save()
        here = one.read(shown)
        one.step(times[1])
        one.step(times[2])
    except fm.FmumbsError as error:
        raise Refused(str(error)) from error
    there = one.read(shown)
    other.assemble()
    other.step(times[1])
    for solver in (other, one, fm.Solver(image)):
        solver.state_load(saved)
        assert solver.state_save() == saved, f"draw {seed}: the state"
        assert_same(solver.read(shown), here, image, f"draw {seed}: where it was saved")
        solver.step(times[1])
        solver.step(times[2])
        assert_same(solver.read(shown), there, image, f"draw {seed}: at the end")


def assert_same(found: np.ndarray, expected: np.ndarray, image: fm.ModelImage, what: str) -> None:
    names = image.variables.names(reals(image))
    wrong = [names[i] for i in np.flatnonzero(found.view(np.int64) != expected.view(np.int64))]
    assert not wrong, f"{what}, {len(wrong)} differ: {wrong[:8]}"


@draws(10)
def test_states_are_restored_to_the_bit(seeds: range) -> None:
    each(seeds, check)
