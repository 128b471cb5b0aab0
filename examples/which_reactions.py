"""Unique and indeterminate reactions of a four-bar, and two ways to make all of them unique.

    python examples/which_reactions.py [FOLDER]

A four-bar of four hinges carries a tool beside its plane, so that its pins are bent. Its hinges hold the plane with
three constraints too many: how they share that load depends on play and stiffness, which a rigid model does not know.
The verdict tells which numbers to trust, and what a pin should let go. Every pin of the loop may do so; which one does
decides where the load goes. SI units, angles in rad.
"""

import sys
from pathlib import Path

import numpy as np

import fmumbs as fm
from fmumbs.readers import read_model

COLOURS = {True: "tab:green", False: "tab:red"}
CRANK, COUPLER, ROCKER, BASE = 0.10, 0.26, 0.22, 0.25  # [m]
START = -1.2  # [rad], of the crank


def build(gives_way: str = "") -> fm.Model:
    """A four-bar with its tool; gives_way: the pin, B or C, that is a ball which may slide along its bolt."""
    name = f"gives_way_at_{gives_way}" if gives_way else "stiff"
    model = fm.Model(name, description="A four-bar with a tool beside it.")
    crank = fm.Body.rod("crank", length=CRANK, mass=0.3, radius=0.008)
    coupler = fm.Body("coupler", mass=1.2, com=(0.5 * COUPLER, 0.04, 0), inertia=(3e-3, 9e-3, 8e-3))  # 4 cm aside
    rocker = fm.Body.rod("rocker", length=ROCKER, mass=0.6, radius=0.008)
    heel, tip = coupler.at(), coupler.at(COUPLER, 0, 0)
    near = read_model("four_bar")  # the same lengths
    B, D = near["B"].q0, near["D"].q0
    C = START + B - D  # from the rocker to the coupler
    model.add(crank, coupler, rocker)
    model.add(fm.Revolute("A", model.ground.at(), crank.base, axis="y", q0=START, u0=6.0))
    model.add(fm.Revolute("D", model.ground.at(BASE, 0, 0), rocker.base, axis="y", q0=D))
    if gives_way == "B":
        model.add(fm.Revolute("C", rocker.tip, tip, axis="y", q0=C), fm.PointOnLine("B", crank.tip, heel, axis="y"))
    elif gives_way == "C":
        model.add(fm.Revolute("B", crank.tip, heel, axis="y", q0=B), fm.PointOnLine("C", rocker.tip, tip, axis="y"))
    else:
        model.add(fm.Revolute("B", crank.tip, heel, axis="y", q0=B), fm.Revolute("C", tip, rocker.tip, axis="y"))
    model.experiment(stop=1.0, interval=0.005)
    return model


def tell(model: fm.Model) -> fm.Uniqueness:
    """Prints the verdict, as `fmumbs check` does."""
    found = fm.uniqueness(model)
    print(f"{model.name}: {found.rows} constraint rows, {found.rank} independent, mobility {found.mobility}")
    for joint in found.joints:
        marks = ["unique" if one else "-" for one in joint.components_unique]
        print(f"  {joint.joint}  force {' '.join(marks[:3]):<24}  torque {' '.join(marks[3:])}")
    for fix in found.fixes:
        print(f"  fix: free joint {fix.joint} of {fix.text}")
    if found.flexible:
        print(f"  or make flexible: {', '.join(found.flexible)}")
    return found


def draw(model: fm.Model, found: fm.Uniqueness, path: Path) -> None:
    """The mechanism in its plane, each joint's force components as arrows: green can be trusted, red cannot."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6, 4.5), layout="constrained")
    there = dict(zip(found.placed.joints, found.placed.origin, strict=True))
    outline = np.array([there[name] for name in "ABCD"])
    axes.plot(outline[:, 0], outline[:, 2], color="0.3", linewidth=3, solid_capstyle="round")
    arrows = {"x": (0.025, 0.0), "y": (-0.014, -0.014), "z": (0.0, 0.025)}
    for joint in found.joints:
        x, _, z = there[joint.joint]
        R = found.placed.axes[found.placed.joints.index(joint.joint)]
        in_plane = R[[0, 2]][:, [0, 2]]
        for (letter, arrow), unique in zip(arrows.items(), joint.components_unique[:3], strict=True):
            dx, dz = arrow if letter == "y" else in_plane @ arrow
            style = {"width": 0.0015, "color": COLOURS[unique], "length_includes_head": True, "zorder": 3}
            axes.arrow(x, z, dx, dz, head_width=0.006, **style)
        axes.annotate(joint.joint, (x, z), textcoords="offset points", xytext=(8, -12))
    axes.set_title(f"{model.name}: green forces are unique (the slanting arrow: across the plane)", fontsize=9)
    axes.set_xlabel("x [m]")
    axes.set_ylabel("z [m]")
    axes.set_aspect("equal")
    figure.savefig(path, dpi=120)
    plt.close(figure)


def compare(results: dict[str, fm.Result], path: Path) -> None:
    """A force within the plane, on which all agree, and a torque across it, which is another one in each."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 1, figsize=(6, 4.5), sharex=True, layout="constrained")
    rows = (("D.reaction.f[1]", "D: force along x [N]"), ("A.reaction.t[1]", "A: torque about x [N.m]"))
    for one, (variable, label) in zip(axes, rows, strict=True):
        for (name, result), style in zip(results.items(), ("-", "--", ":"), strict=True):
            one.plot(result.time, result[variable], style, label=name)
        one.set_ylabel(label)
    axes[0].legend()
    axes[1].set_xlabel("time [s]")
    figure.savefig(path, dpi=120)
    plt.close(figure)


def main(folder: Path) -> tuple[dict[str, fm.Uniqueness], dict[str, fm.Result]]:
    """Prints the verdict, plots reactions, makes them unique in two ways, and exports unique reactions."""
    folder.mkdir(parents=True, exist_ok=True)
    found: dict[str, fm.Uniqueness] = {}
    results: dict[str, fm.Result] = {}
    for gives_way in ("", "B", "C"):
        model = build(gives_way)
        found[model.name] = tell(model)
        draw(model, found[model.name], folder / f"{model.name}.png")
        results[model.name] = fm.simulate(model)
    compare(results, folder / "reactions.png")
    for variable in ("D.reaction.f[1]", "A.reaction.t[1]"):
        most = {name: float(np.abs(result[variable]).max()) for name, result in results.items()}
        print(f"{variable} at most: {', '.join(f'{value:.3f} ({name})' for name, value in most.items())}")
    print(f"wrote {fm.export_fmu(build('C'), folder / 'gives_way_at_C.fmu')}")
    return found, results


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("which_reactions"))
