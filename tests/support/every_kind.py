"""Random models of every kind, each with an integration scheme, by number: for what must hold whatever is computed.

Trees with every joint, loops in space and in a plane, couplings, programs, flexible bodies and links, friction, brakes,
stiff springs, and slides driven by sines, sweeps and cams.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import fmumbs as fm
from fmumbs.compiler import ModelImage, compile
from fmumbs.mechanism.path_laws import RISES
from support import braked, programs
from support.closed import coupled, plane, space
from support.flexible_models import bent_in_space, plane_loops, plane_tree, space_loop, space_tree
from support.long_trees import axis, body, joint, long_tree
from support.rubbing import rubbed, with_joints
from support.stiff_models import stiff

SCHEMES: tuple[dict[str, Any], ...] = (
    {"scheme": "dopri5"},
    {"scheme": "dop853"},
    {"scheme": "radau"},
    {"scheme": "auto"},
    {"scheme": "rk4", "step": 0.002},
    {"scheme": "dopri5", "dynamics": "copcod"},
    {"scheme": "radau", "dynamics": "copcod"},
)


def paths(seed: int) -> list[fm.Path]:
    """A sine, both sweeps and every cam."""
    rng = np.random.default_rng([5, seed])
    size, first, last, phase, base = rng.uniform((0.05, 0.5, 0.5, -3, -0.2), (0.3, 5, 5, 3, 0.2)).tolist()
    made = [fm.Path.sine(size, first, phase=phase, offset=base)]
    made += [fm.Path.sweep(size, first, last, 0.8, kind=kind, phase=phase) for kind in ("linear", "logarithmic")]
    for law in RISES:
        rise, dwell, fall, begin = rng.uniform((0.1, 0.0, 0.1, -0.1), (0.3, 0.1, 0.3, 0.2)).tolist()
        period = float(rng.choice((0.0, rise + dwell + fall + 0.05)))
        made.append(fm.Path.cam(size, rise, dwell, fall, law=law, period=period, begin=max(begin, 0.0), base=base))
    return made


def driven(seed: int) -> fm.Model:
    """A chain in space whose joints are driven along paths, each beside a free turn."""
    rng = np.random.default_rng([6, seed])
    model = fm.Model("driven", gravity=rng.uniform(-10, 10, 3))
    carrier: Any = model.ground
    for i, path in enumerate(rng.permutation(np.array(paths(seed), object))[:4]):
        new = body(rng, f"b{i}")
        make = fm.Slide if rng.random() < 0.5 else fm.Turn
        modes = (fm.Turn(axis(rng)), make(axis(rng), role="excited", path=path))
        ends = carrier.at(*rng.uniform(-0.5, 0.5, 3)), new.at(*rng.uniform(-0.5, 0.5, 3))
        model.add(new, fm.Joint(f"j{i}", *ends, modes=modes, q0=rng.uniform(-1, 1, 1), u0=rng.uniform(-1, 1, 1)))
        carrier = new
    new = body(rng, "last")
    model.add(new, joint(rng, "spherical", "ball", carrier.at(0.2, 0.1), new.at(0, 0.3)))
    return model


def with_friction(seed: int) -> fm.Model:
    """A loop in space, with friction in every joint that may have it."""
    rng = np.random.default_rng([7, seed])
    model = space(seed, "revolute", sorts=("revolute", "prismatic", "spherical", "cylindrical")).model
    return with_joints(model, {joint.name: rubbed(rng, joint) for joint in model.joints})


def programmed(seed: int) -> fm.Model:
    kinds = ("joint", "point", "speed", "spin_M", "twist", "orientation")
    return programs.draw(seed, kinds[seed % len(kinds)]).model


KINDS: dict[str, Callable[[int], fm.Model]] = {
    "tree": lambda seed: long_tree(seed, 6),
    "loops": lambda seed: space(seed, loops=1 + seed % 2).model,
    "plane": lambda seed: plane(seed, loops=1 + seed % 3).model,
    "driven": driven,
    "coupled": lambda seed: coupled(seed, closed=seed % 2 == 1).model,
    "programmed": programmed,
    "beams": lambda seed: (plane_tree, plane_loops)[seed % 2](seed).model,
    "flexible": lambda seed: (space_tree, space_loop)[seed % 2](seed).model,
    "bent": lambda seed: bent_in_space(seed, closed=seed % 2 == 1).model,
    "friction": with_friction,
    "stiff": lambda seed: stiff(seed, hardest=6.0).model,
    "brakes": lambda seed: braked.net(np.random.default_rng([8, seed]))[0],
}


def every_kind(seed: int) -> Iterator[tuple[str, ModelImage]]:
    """Images without end, named by kind, number and scheme. A kind and a scheme meet every 84 of them.

    Models that cannot be compiled are left out.
    """
    for number in range(seed, 1 << 31):
        kind, options = list(KINDS)[number % len(KINDS)], SCHEMES[number % len(SCHEMES)]
        try:
            image = compile(KINDS[kind](number)).with_options(**options)
        except fm.ModelError:
            continue
        yield f"{kind} {number} {' '.join(str(value) for value in options.values())}", image
