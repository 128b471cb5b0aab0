"""Writes the model images that the C tests walk over: python tests/core/write_images.py [FOLDER].

Every mechanism of models/; trees that hypothesis draws, always the same ones; loops by every kind of joint that closes
one, in space and in the plane, and what is coupled or held. list.txt names the files, one a line, the small ones first.
"""

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, seed, settings

TESTS = Path(__file__).parents[1]
sys.path.insert(0, str(TESTS))

import fmumbs as fm  # noqa: E402  after the path to support/
import support.same_draws  # noqa: E402, F401  before anything is drawn
from fmumbs.compiler import compile  # noqa: E402
from fmumbs.readers import read_model  # noqa: E402
from support.braked import chains, stick_slip  # noqa: E402
from support.closed import ONLY_CLOSING, SPACE, coupled, plane, space, two_pendulums  # noqa: E402
from support.elastic_models import elastic  # noqa: E402
from support.flexible_models import plane_loops, plane_tree, space_loop, space_tree  # noqa: E402
from support.joint_models import kicked, mixed, rolling, three_cranks  # noqa: E402
from support.planar_trees import planar_cases  # noqa: E402
from support.strategies import EVERY, Case, trees  # noqa: E402

TREES, TURNED, PLANAR, BRAKED = 16, 4, 6, 3
SMALLER = {"branch_chain": {"bodies": 12}, "rod_loop": {"rods": 12}}
SOFTER = {  # for fixed steps
    "governor": {"stiffness": 8e3, "damping": 40.0},
    "cantilever": {"length": 6.0, "elements": 2},
    "crane": {"elements": 4},
    "solid_engine": {"E": 1e8, "speed": 20.0},
}
REDUCED = (  # also by the other formulation
    *(f"tree{i}" for i in range(8)), "turned0", "turned2", "four_bar", "parallel_cranks", "skate", "mixed", "kicked",
    "closed_by_universal", "space_loops", "geared_loop", "tied_disc", "stick_slip", "braked0", "three_cranks",
    *(f"flexible{i}" for i in range(4)),
)  # fmt: skip
BODIES = 3  # at least: smaller trees say nothing new


def random_trees(cases: Any, count: int) -> list[fm.Model]:
    """Trees of different structure."""
    found: dict[object, fm.Model] = {}

    @seed(2)
    @settings(max_examples=60, database=None, deadline=None, suppress_health_check=list(HealthCheck))
    @given(cases)
    def collect(case: Case | tuple[fm.Model, Any]) -> None:
        model = case.model if isinstance(case, Case) else case[0]
        joints = model.joints
        structure = tuple((type(joint), joint.F.body.name, joint.M.body.name) for joint in joints)
        if len(joints) >= BODIES:
            found.setdefault(structure, model)

    collect()
    return list(found.values())[:count]


def loops() -> dict[str, fm.Model]:
    """One of each kind of cut joint, several that share bodies, redundant ones, coupled coordinates."""
    found = {f"closed_by_{kind}": space(4, kind, spare=1).model for kind in SPACE}
    found |= {f"closed_by_{kind.replace(' ', '_')}": two_pendulums(kind) for kind in ONLY_CLOSING}
    found |= {f"plane_loops{n}": plane(300, n).model for n in (1, 2)}
    found |= {"space_loops": space(100, loops=2, spare=0).model, "both_ends": space(200, both_ends=True).model}
    return found | {"coupled": coupled(904).model, "geared_loop": coupled(1100, closed=True).model}


def held(near: fm.Model, name: str) -> fm.Model:
    """The same, one of its joints held at its start value."""
    model = fm.Model("held")
    model.add(*near.bodies, *(replace(joint, held=joint.name == name) for joint in near.joints))
    return model


def pin_in_slot() -> fm.Model:
    """A crank whose pin runs in a slot of the rocker: what closes the loop turns first, then slides."""
    model = fm.Model("slot")
    a, b = (fm.Body.rod(name, length=1.0, mass=1.0, radius=0.05) for name in "ab")
    model.add(a, fm.Revolute("A", model.ground.at(), a.base, axis="y", q0=-1.2, u0=3.0))
    model.add(b, fm.Revolute("B", model.ground.at(-1, 0, -0.3), b.base, axis="y", q0=-0.7))
    slot = (fm.Turn("y"), fm.Slide("x"))
    model.add(fm.Joint("C", a.at(0.4, 0, 0), b.base, modes=slot, q0=(0.5, 1.2), cut=True))
    return model


def tied_disc() -> fm.Model:
    """A rolling disc on a rod: a loop through a joint whose coordinates cannot be held individually."""
    model = rolling(0.5, (0, 0, 0, 0.3, 0), (0.4, 6.0, -0.9))
    model.add(fm.Distance("rod", model.ground.at(0, 0, 1), model.bodies[0].at(0.1, 0, 0.2), length=0.8))
    return model


def stopped() -> fm.Model:
    """A block between two springs, one with a ramp in its law, on a rough floor."""
    model = fm.Model("stopped")
    block = fm.Body("block", mass=1.0, inertia=(0.1, 0.1, 0.1))
    A = fm.Prismatic("A", model.ground.at(), block.at(), axis="x", u0=1.5)
    left = fm.Piece([[0], [-900]], upper=-0.05, origin=-0.05)
    right = fm.Piece([[-1], [-400]], lower=0.08, origin=0.08)
    model.add(block, A, fm.Law("stops", A, pieces=[left, right]), fm.Law.brake("floor", A, 2.0, breakaway=1.5))
    return model


def hoisted() -> fm.Model:
    """A weight on a rope over a pulley and through a ring; and a slack rope."""
    model = fm.Model("hoisted")
    weight = fm.Body.sphere("weight", radius=0.1, mass=1.0)
    disc = fm.Body.cylinder("disc", length=0.1, radius=0.2, mass=1.0)
    axle = fm.Revolute("axle", model.ground.at(), disc.at(0.05), axis="x")
    hang = fm.Joint("hang", model.ground.at(0, -0.2), weight.at(), modes=(fm.Slide("y"), fm.Slide("z")), q0=(0.1, -1.0))
    way = [weight.at(), fm.Pulley(axle, 0.2), model.ground.at(0, 0.5, -0.5), model.ground.at(0, 1, 0)]
    rope = fm.Rope("rope", way, stiffness=500.0, damping=2.0, length=2.4)
    loose = fm.Rope("loose", [model.ground.at(0, -1), weight.at(0, 0, 0.1)], stiffness=500.0, length=2.0)
    model.add(weight, disc, axle, hang, rope, loose)
    return model


def cam_and_follower() -> fm.Model:
    """A shaft whose cam lifts a weight."""
    model = fm.Model("cam")
    shaft = fm.Body.cylinder("shaft", length=0.1, radius=0.05, mass=1.0)
    weight = fm.Body.sphere("weight", radius=0.02, mass=0.3)
    A = fm.Revolute("A", model.ground.at(), shaft.at(), axis="x", u0=5.0)
    B = fm.Prismatic("B", model.ground.at(0, 0.2), weight.at(), axis="z")
    model.add(shaft, weight, A, B, fm.Cam("C", A, B, fm.Path.sine(0.01, 1.0)))
    return model


def steered_disc() -> fm.Model:
    """A rolling disc whose heading turns evenly: a path of a higher degree, begun long before, is wild."""
    heading = fm.Turn("z", role="excited", path=fm.Path((0.0,), ((0.2, 1.6),)))
    return rolling(0.5, (0, 0, 0.3, 0), (0.4, 6.0), heading=heading)


def images() -> dict[str, fm.ModelImage]:
    """By name, with every variable; the branch of 500 rods only with those that its model shows.

    Loops of many rods are left out: assembly of forged states takes seconds there under the sanitizers.
    """
    sources = sorted(path.stem for path in (TESTS.parent / "models").glob("[!_]*.py"))
    models = {name: read_model(name, (SMALLER | SOFTER).get(name, {})) for name in sources}
    models |= {f"tree{i}": model for i, model in enumerate(random_trees(trees(max_bodies=8, kinds=EVERY), TREES))}
    turned = trees(turned_round=True)
    models |= {f"turned{i}": model for i, model in enumerate(random_trees(turned, TURNED))}
    models |= {f"planar{i}": model for i, model in enumerate(random_trees(planar_cases(), PLANAR))}
    models |= {"mixed": mixed(), "kicked": kicked(period=0.55)}
    models |= {f"braked{i}": model for i, model in enumerate(random_trees(chains(), BRAKED))}
    models |= loops() | {"stick_slip": stick_slip()}
    bending = (plane_tree, space_tree, plane_loops, space_loop)
    models |= {f"flexible{i}": make(i).model for i, make in enumerate(bending)}
    models["elastic"] = elastic(3)
    models["disc"] = rolling(0.5, (0, 0, 0, 0.3, 0), (0.4, 6.0, -0.9))
    models["three_cranks"] = three_cranks()
    models |= {"tied_disc": tied_disc(), "steered_disc": steered_disc(), "pin_in_slot": pin_in_slot()}
    models |= {"stopped": stopped(), "hoisted": hoisted(), "cam": cam_and_follower()}
    balls = space(801, "spherical", guess=0.02).model
    ball = next(joint.name for joint in balls.joints if isinstance(joint, fm.Spherical) and joint.name.startswith("j"))
    models |= {"held_turn": held(models["four_bar"], "A"), "held_ball": held(balls, ball)}
    found = {name: compile(model, everything=True) for name, model in models.items()}
    found |= {f"reduced_{name}": found[name].with_options(dynamics="copcod") for name in REDUCED}
    return found | {"branch_chain_500": compile(read_model("branch_chain"))}


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    found = images()
    for name, image in found.items():
        image.save(folder / f"{name}.fmb")
    by_size = sorted(found, key=lambda name: len(found[name].bytes))
    (folder / "list.txt").write_text("".join(f"{name}.fmb\n" for name in by_size), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else TESTS.parent / "build" / "images")
