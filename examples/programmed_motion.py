"""What drives and joints feel while a tool follows a rectangle: two mechanisms, rigid and flexible (copcod, section 3).

    python examples/programmed_motion.py [FOLDER]

manipulator5 and rpsup of models/ follow the edges of a rectangle with stops in the corners. They start off the path,
and the deviation fades out along the first edge. The figures are the paper's: the path of the tool and its
coordinates, the violation of the program and of all constraints on a logarithmic axis, the coordinates of the joints,
the forces in the joints, and their RMS (Eq 34) along and across the joint's axis. The last run keeps the constraints
as the paper does, by Baumgarte's stabilisation, from a start that is a little off: its slow root takes seconds to
remove what is left, where the direct correction needs no time at all. SI units, angles in rad.
"""

import sys
import warnings
from pathlib import Path

import numpy as np

import fmumbs as fm
from fmumbs.readers import read_model

MODELS = Path(__file__).parents[1] / "models"
SOFT = {"link": "flexible", "support": "flexible", "elements": 2}
CASES = {
    "Sr_Lr_Jnf": {},
    "Sr_Lfl_Jnf": {"link": "flexible", "elements": 2},
    "Sfl_Lr_Jnf": {"support": "flexible"},
    "Sfl_Lr_Jf": {"support": "flexible", "friction": True},
    "Sfl_Lfl_Jf": {**SOFT, "friction": True},
}  # support, link, joints: rigid or flexible, with friction or without
JOINTS = {
    "manipulator5": {"turret": "y", "shoulder": "z", "elbow": "z", "reach": "x", "lift": "y"},
    "rpsup": {"R": "z", "P1": "x", "P2": "z", "U": "z"},
}  # and their axes
BAUMGARTE = {"manipulator5": (1e3, 1e2), "rpsup": (500.0, 50.0)}  # alpha, beta [1/s] of the paper
LINES = ("-", "--", ":", "-.", (0, (1, 4)))
STOP = 4.0
EDGE = 1.0


def run(name: str, options: dict[str, object], **how: object) -> fm.Result:
    """One case of a mechanism; stiff ones by the implicit scheme."""
    outputs = ["E.target", "E.position", "E.violation", "E.drive", "solver.position_violation"]
    outputs += [f"{joint}.{what}" for joint in JOINTS[name] for what in ("q", "reaction.f")]
    scheme = "radau" if "flexible" in options.values() else "dopri5"
    model = read_model(MODELS / f"{name}.py", options) if options else read_model(MODELS / f"{name}.py")
    settings = {"scheme": scheme, "tolerance": 1e-5, "interval": 0.02} | how
    return fm.simulate(model, stop=STOP, outputs=outputs, **settings)  # type: ignore[arg-type]


def vector(result: fm.Result, name: str) -> np.ndarray:
    """(times, components) of a vector."""
    return np.asarray(result[name]).reshape(len(result.time), -1)


def rms(result: fm.Result, joint: str, axis: str) -> tuple[float, float]:
    """Root mean squares of the forces along the joint's axis and across it (Eq 34)."""
    squares, along = vector(result, f"{joint}.reaction.f") ** 2, "xyz".index(axis)
    means = np.mean((squares[1:] + squares[:-1]) / 2, axis=0)
    return float(np.sqrt(means[along])), float(np.sqrt(np.sum(np.delete(means, along))))


def slow_root(alpha: float, beta: float) -> float:
    """The slower root of x^2 + 2 alpha x + beta^2 [1/s]."""
    return -(beta**2) / (alpha + np.sqrt(alpha**2 - beta**2))


def decay(result: fm.Result) -> float:
    """The slope of the logarithm of the distance from the path within the first edge [1/s]."""
    early = (result.time >= 0.2 * EDGE) & (result.time <= EDGE)
    return float(np.polyfit(result.time[early], np.log(result["E.violation"][early]), 1)[0])


def draw(name: str, results: dict[str, fm.Result], path: Path) -> None:
    """The paper's figures of one mechanism: a colour for each case, a kind of line for each joint or coordinate."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 3, figsize=(15, 8), layout="constrained")
    (track, coordinates, off), (joints, forces, bars) = axes
    for k, (case, result) in enumerate(results.items()):
        tool, colour = vector(result, "E.position"), f"C{k}"
        track.plot(tool[:, -2], tool[:, -1], color=colour, label=case)
        for component, style in zip(tool.T, LINES[3 - tool.shape[1] : 3], strict=True):
            coordinates.plot(result.time, component, linestyle=style, color=colour)
        off.semilogy(result.time, np.maximum(result["E.violation"], 1e-17), color=colour, label=case)
        off.semilogy(result.time, np.maximum(result["solver.position_violation"], 1e-17), ":", color=colour)
        if case not in CASES:
            continue
        for i, (joint, axis) in enumerate(JOINTS[name].items()):
            joints.plot(result.time, result[f"{joint}.q"], linestyle=LINES[i], color=colour)
            force = np.linalg.norm(vector(result, f"{joint}.reaction.f"), axis=1)
            forces.plot(result.time, force, linestyle=LINES[i], color=colour)
            for value, where in zip(rms(result, joint, axis), (0.0, 0.08), strict=True):
                bars.bar(i + 0.17 * k + where, value, 0.07, color=colour, alpha=1.0 if where else 0.5)
    track.set(title="path of the tool", xlabel="y [m]", ylabel="z [m]")
    coordinates.set(title="coordinates of the tool", xlabel="time [s]", ylabel="[m]")
    off.set(title="distance from the path; dotted: of all constraints", xlabel="time [s]", ylabel="[m]")
    joints.set(title="joint coordinates", xlabel="time [s]", ylabel="[rad], [m]")
    forces.set(title="magnitudes of the forces in joints", xlabel="time [s]", ylabel="[N]")
    bars.set(title="RMS of forces, axial (pale) and normal", ylabel="[N]")
    bars.set_xticks(np.arange(len(JOINTS[name])) + 0.38, list(JOINTS[name]))
    off.legend(loc="upper right")
    for one, labels in ((coordinates, "xyz"), (joints, JOINTS[name]), (forces, JOINTS[name])):
        one.legend([plt.Line2D([], [], color="k", linestyle=style) for style in LINES[: len(labels)]], list(labels))
    figure.savefig(path)
    plt.close(figure)


def main(folder: Path) -> dict[str, dict[str, fm.Result]]:
    """All cases of both mechanisms, with a figure of each."""
    folder.mkdir(parents=True, exist_ok=True)
    found = {}
    for name in JOINTS:
        results = {case: run(name, options) for case, options in CASES.items()}
        alpha, beta = BAUMGARTE[name]
        with warnings.catch_warnings():  # it starts where the path does, but for one per cent of its size
            warnings.simplefilter("ignore", fm.StartWarning)
            stabilised = {"correction": (alpha, beta), "closure": 0.01, "scheme": "radau", "tolerance": 1e-7}
            results["Baumgarte"] = run(name, {"transition": 0.0}, **stabilised)
        late = results["Sr_Lr_Jnf"].time >= EDGE
        for case, result in results.items():
            print(f"{name} {case}: at most {result['E.violation'][late].max():.1e} m off after the first edge")
        found_root = decay(results["Baumgarte"])
        print(f"  Baumgarte's slow root is {slow_root(alpha, beta):.2f} 1/s, the run's {found_root:.2f} 1/s")
        draw(name, results, folder / f"{name}.png")
        found[name] = results
    print(f"wrote {', '.join(str(folder / f'{name}.png') for name in JOINTS)}")
    return found


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("programmed_motion"))
