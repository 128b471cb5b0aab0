"""What bends when a crane turns: boom and ground flexible or rigid, from equilibrium, with pictures of the deformation.

    python examples/flexible_crane.py [FOLDER]

The crane of models/crane.py turns and lifts its load. First the static deflection: fm.equilibrium() finds it, and tells
the frequencies of small vibrations about it. The run starts there, so that all later motion comes from the drives.
Then the same move on rigid ground, and with a boom of 30 times the stiffness: what does each flexibility add to the
path of the load? SI units, angles in rad.
"""

import sys
from pathlib import Path

import numpy as np

import fmumbs as fm
from fmumbs.readers import read_model

CRANE = Path(__file__).parents[1] / "models" / "crane.py"
CASES = {"flexible": {}, "rigid ground": {"soft": False}, "stiff boom": {"stiffer": 30.0}}
EXAGGERATION = 10.0  # of deflections in the picture
SHOWN = 5  # moments


def points(model: fm.Model) -> list[str]:
    """Positions along the boom, from base to tip, as names of variables."""
    bodies = model["boom"].bodies
    return [f"{bodies[0].name}.base.r", *(f"{body.name}.r" for body in bodies[1:]), f"{bodies[-1].name}.tip.r"]


def run(name: str, folder: Path) -> tuple[fm.Equilibrium, fm.Result]:
    """Equilibrium, and the move from there."""
    model = read_model(CRANE, CASES[name]) if CASES[name] else read_model(CRANE)
    still = fm.equilibrium(model)
    lowest = ", ".join(f"{value:.2f}" for value in still.frequencies[:4])
    print(f"{name}: {still}; lowest frequencies {lowest} rad/s")
    if name == "flexible":
        print(f"  wrote {fm.export_fmu(model, folder / 'crane.fmu', starts=still.starts)}")
    outputs = [*points(model), "boom_tip.q", "load.r", "table.r", "table.quat"]
    return still, fm.simulate(model, inputs=still.starts, outputs=outputs)


def boom(result: fm.Result, names: list[str], i: int) -> np.ndarray:
    """(points, 3) of the boom at the sample i."""
    return np.array([[result[f"{name}[{k}]"][i] for k in (1, 2, 3)] for name in names])


def draw(result: fm.Result, names: list[str], path: Path) -> None:
    """The boom as it bends, seen from the side and from above: deflections drawn larger than they are."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(10, 4.5), layout="constrained")
    chosen = np.linspace(0, len(result.time) - 1, SHOWN).astype(int)
    colours = plt.get_cmap("viridis")(np.linspace(0, 0.85, SHOWN))
    for i, colour in zip(chosen, colours, strict=True):
        bent = boom(result, names, i)
        away = np.linalg.norm(bent - bent[0], axis=1)
        along = (bent[1] - bent[0]) / away[1]  # the base's direction: where the boom would be were it rigid
        straight = bent[0] + np.outer(away, along)
        shown = straight + EXAGGERATION * (bent - straight)
        reach = np.hypot(*(shown - shown[0])[:, :2].T)
        for one, x, y in ((axes[0], reach, shown[:, 2]), (axes[1], shown[:, 0], shown[:, 1])):
            one.plot(x, y, "o-", color=colour, markersize=3, label=f"{result.time[i]:.1f} s")
        axes[0].plot(np.hypot(*(straight - straight[0])[:, :2].T), straight[:, 2], ":", color=colour)
        axes[1].plot(straight[:, 0], straight[:, 1], ":", color=colour)
    for one, labels in zip(axes, (("reach [m]", "z [m]"), ("x [m]", "y [m]")), strict=True):
        one.set_xlabel(labels[0])
        one.set_ylabel(labels[1])
        one.set_aspect("equal")
    axes[0].legend()
    figure.suptitle(f"The boom; deflections {EXAGGERATION:g} times larger than they are, dotted: undeformed")
    figure.savefig(path, dpi=120)
    plt.close(figure)


def compare(results: dict[str, fm.Result], path: Path) -> None:
    """The deflection of the tip and the path of the load in all cases."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 1, figsize=(7, 5), sharex=True, layout="constrained")
    for (name, result), style in zip(results.items(), ("-", "--", ":"), strict=True):
        axes[0].plot(result.time, 1e3 * result["boom_tip.q[3]"], style, label=name)
        axes[1].plot(result.time, result["load.r[2]"], style, label=name)
    axes[0].set_ylabel("tip across the boom [mm]")
    axes[1].set_ylabel("load, y [m]")
    axes[1].set_xlabel("time [s]")
    figure.legend(*axes[0].get_legend_handles_labels(), ncols=3, loc="outside upper center")
    figure.savefig(path, dpi=120)
    plt.close(figure)


def main(folder: Path) -> tuple[dict[str, fm.Equilibrium], dict[str, fm.Result]]:
    """Finds each equilibrium, runs each case from there, and draws."""
    folder.mkdir(parents=True, exist_ok=True)
    found: dict[str, fm.Equilibrium] = {}
    results: dict[str, fm.Result] = {}
    for name in CASES:
        found[name], results[name] = run(name, folder)
    draw(results["flexible"], points(read_model(CRANE)), folder / "boom.png")
    compare(results, folder / "comparison.png")
    for name, result in results.items():
        swing = float(np.ptp(result["boom_tip.q[3]"]))
        print(f"{name}: the tip moves by {1e3 * swing:.0f} mm across the boom")
    return found, results


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("flexible_crane"))
