"""What drives and joints feel while a tool follows a rectangle: two mechanisms, rigid and flexible (copcod, section 3).

    python examples/programmed_motion.py [FOLDER]

manipulator5 and rpsup of models/ follow the edges of a rectangle with stops in the corners. They start off the path,
and the deviation fades out along the first edge. Friction is loaded by the joints' own forces. The figures are the
paper's: the path of the tool and its coordinates, the violation of the program and of all constraints on a logarithmic
axis, the coordinates of the joints, the forces in the joints, and their RMS (Eq 34) along and across the joint's axis
(Figs 7 to 11, 14, 15, 17, 18 and 20). Two more show how the cases differ from the rigid one in the coordinates of the
joints, and of rpsup the velocity and acceleration of the tool (Fig 16) and the deformation of the coupler (Fig 19). The
last run keeps the constraints as the paper does, by Baumgarte's stabilisation, from a start that is a little off: its
slow root takes seconds to remove what is left, where the direct correction needs no time at all. SI units, angles in
rad.
"""

import sys
import warnings
from pathlib import Path

import numpy as np

import fmumbs as fm
from fmumbs.readers import read_model

MODELS = Path(__file__).parents[1] / "models"
SOFT = {"link": "flexible", "support": "flexible"}
CASES = {
    "Sr_Lr_Jnf": {},
    "Sr_Lfl_Jnf": {"link": "flexible"},
    "Sfl_Lr_Jnf": {"support": "flexible"},
    "Sfl_Lr_Jf": {"support": "flexible", "friction": True},
    "Sfl_Lfl_Jf": {**SOFT, "friction": True},
}  # support, link, joints: rigid or flexible, with friction or without
JOINTS = {
    "manipulator5": {"turret": "y", "shoulder": "z", "elbow": "z", "reach": "x", "lift": "y"},
    "rpsup": {"R": "z", "P1": "x", "P2": "z", "U": "z"},
}  # and their axes
BAUMGARTE = {"manipulator5": (1e3, 1e2), "rpsup": (500.0, 50.0)}  # alpha, beta [1/s] of the paper
LINES = ("-", "--", ":", "-.", (0, (5, 1, 1, 1, 1, 1)))
MARKERS = ("o", "s", "^", "x", "d")
COUPLER = tuple(f"coupler_{k}" for k in range(1, 6))  # the rigid elements of the flexible coupler
SHOWN = (0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5)  # [s], when its deformation is drawn
STOP = 4.0
EDGE = 1.0


def run(name: str, options: dict[str, object], **how: object) -> fm.Result:
    """One case of a mechanism; stiff ones by the implicit scheme."""
    outputs = [
        "E.target",
        "E.position",
        "E.kappa",
        "E.kappa_dot",
        "E.violation",
        "E.drive",
        "solver.position_violation",
    ]
    outputs += [f"{joint}.{what}" for joint in JOINTS[name] for what in ("q", "reaction.f")]
    scheme = "radau" if "flexible" in options.values() else "dopri5"
    model = read_model(MODELS / f"{name}.py", options) if options else read_model(MODELS / f"{name}.py")
    if bends(name, options):
        outputs += [*(f"{part}.r" for part in COUPLER), f"{COUPLER[-1]}.quat"]
    settings = {"scheme": scheme, "tolerance": 1e-5, "interval": 0.02} | how
    image = fm.compile(model, everything=True)
    return fm.simulate(image, stop=STOP, outputs=outputs, **settings)  # type: ignore[arg-type]


def bends(name: str, options: dict[str, object]) -> bool:
    """Whether the coupler of rpsup does."""
    return name == "rpsup" and options.get("link") == "flexible"


def vector(result: fm.Result, name: str) -> np.ndarray:
    """(times, components) of a vector."""
    return np.asarray(result[name]).reshape(len(result.time), -1)


def rms(result: fm.Result, joint: str, axis: str) -> tuple[float, float]:
    """Root mean squares of the forces along the joint's axis and across it (Eq 34)."""
    squares, along = vector(result, f"{joint}.reaction.f") ** 2, "xyz".index(axis)
    means = np.mean((squares[1:] + squares[:-1]) / 2, axis=0)
    return float(np.sqrt(means[along])), float(np.sqrt(np.sum(np.delete(means, along))))


def deformation(result: fm.Result) -> np.ndarray:
    """(times, points, 3) of the coupler's elements, from S to C [m].

    The place along the chord, and how far it is from the chord upwards and aside.
    """
    points = [vector(result, f"{part}.r") for part in COUPLER]
    turned = [fm.Rotation.quaternion(*q).matrix[:, 0] for q in vector(result, f"{COUPLER[-1]}.quat")]
    half = np.linalg.norm(points[1] - points[0], axis=1)[:, None]  # of the last element too: x is along the coupler
    shape = np.stack([*points, points[-1] + half * np.array(turned)], axis=1) - points[0][:, None]
    along = shape[:, -1] / np.linalg.norm(shape[:, -1], axis=1)[:, None]
    aside = np.cross(along, (0.0, 1.0, 0.0))
    aside /= np.linalg.norm(aside, axis=1)[:, None]
    axes = np.stack([along, np.cross(aside, along), aside], axis=1)
    return np.asarray(np.einsum("tij,tkj->tki", axes, shape))


def slow_root(alpha: float, beta: float) -> float:
    """The slower root of x^2 + 2 alpha x + beta^2 [1/s]."""
    return -(beta**2) / (alpha + np.sqrt(alpha**2 - beta**2))


def decay(result: fm.Result) -> float:
    """The slope of the logarithm of the distance from the path within the first edge [1/s]."""
    early = (result.time >= 0.2 * EDGE) & (result.time <= EDGE)
    return float(np.polyfit(result.time[early], np.log(result["E.violation"][early]), 1)[0])


def draw(name: str, results: dict[str, fm.Result], path: Path) -> None:
    """The paper's figures of one mechanism: a colour and a kind of line for each case; joints by markers."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 3, figsize=(17, 9), layout="constrained")
    (track, coordinates, off), (joints, forces, bars) = axes
    for k, (case, result) in enumerate(results.items()):
        tool, look = vector(result, "E.position"), {"color": f"C{k}", "linestyle": LINES[k % len(LINES)]}
        track.plot(tool[:, -2], tool[:, -1], label=case, **look)
        for component, marker in zip(tool.T, MARKERS[3 - tool.shape[1] : 3], strict=True):
            coordinates.plot(result.time, component, marker=marker, markevery=(4 * k, 25), **look)
        off.semilogy(result.time, np.maximum(result["E.violation"], 1e-17), label=case, **look)
        off.semilogy(result.time, np.maximum(result["solver.position_violation"], 1e-17), alpha=0.4, **look)
        if case not in CASES:
            continue
        for i, (joint, axis) in enumerate(JOINTS[name].items()):
            at = {"marker": MARKERS[i], "markevery": (4 * k, 25)}
            joints.plot(result.time, result[f"{joint}.q"], **look, **at)
            force = np.linalg.norm(vector(result, f"{joint}.reaction.f"), axis=1)
            forces.semilogy(result.time, force, **look, **at)
            for value, where in zip(rms(result, joint, axis), (0.0, 0.08), strict=True):
                bars.bar(i + 0.17 * k + where, value, 0.07, color=f"C{k}", alpha=1.0 if where else 0.5)
    track.set(title="path of the tool", xlabel="y [m]", ylabel="z [m]")
    coordinates.set(title="coordinates of the tool", xlabel="time [s]", ylabel="[m]")
    off.set(title="distance from the path; pale: of all constraints", xlabel="time [s]", ylabel="[m]")
    joints.set(title="joint coordinates", xlabel="time [s]", ylabel="[rad], [m]")
    forces.set(title="magnitudes of the forces in joints", xlabel="time [s]", ylabel="[N]")
    bars.set(title="RMS of forces, axial (pale) and normal", ylabel="[N]")
    bars.set_xticks(np.arange(len(JOINTS[name])) + 0.38, list(JOINTS[name]))
    off.legend(loc="upper right")
    for one, labels in ((coordinates, "xyz"), (joints, JOINTS[name]), (forces, JOINTS[name])):
        one.legend([plt.Line2D([], [], color="k", marker=mark) for mark in MARKERS[: len(labels)]], list(labels))
    figure.savefig(path)
    plt.close(figure)


def draw_differences(name: str, results: dict[str, fm.Result], path: Path) -> None:
    """By how much the joints' coordinates differ from those of the rigid case: one diagram for each joint."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, len(JOINTS[name]), figsize=(5 * len(JOINTS[name]), 4.5), layout="constrained")
    rigid, *others = CASES
    for joint, one in zip(JOINTS[name], axes, strict=True):
        for k, case in enumerate(others, 1):
            apart = results[case][f"{joint}.q"] - results[rigid][f"{joint}.q"]
            one.plot(results[case].time, apart, label=case, color=f"C{k}", linestyle=LINES[k])
        one.set(title=f"{joint} less that of {rigid}", xlabel="time [s]", ylabel="[rad] or [m]")
    axes[0].legend()
    figure.savefig(path)
    plt.close(figure)


def draw_tool(results: dict[str, fm.Result], path: Path) -> None:
    """Figs 16 and 19: velocity and acceleration of the tool along y of the frame {P}; deformation of the coupler."""
    import matplotlib.pyplot as plt

    figure, ((speed, acceleration, apart), below) = plt.subplots(2, 3, figsize=(17, 9), layout="constrained")
    rigid, *_ = CASES
    for k, case in enumerate(CASES):
        result, look = results[case], {"label": case, "color": f"C{k}", "linestyle": LINES[k]}
        v, a = (vector(result, name)[:, -2] for name in ("E.kappa", "E.kappa_dot"))
        speed.plot(result.time, v, **look)
        acceleration.plot(result.time, a, **look)
        apart.plot(result.time, a - vector(results[rigid], "E.kappa_dot")[:, -2], **look)
    speed.set(title="velocity of the tool along y", xlabel="time [s]", ylabel="[m/s]")
    acceleration.set(title="acceleration of the tool along y", xlabel="time [s]", ylabel="[m/s2]")
    apart.set(title=f"acceleration less that of {rigid}", xlabel="time [s]", ylabel="[m/s2]")
    speed.legend()
    *panels, largest = below
    bent = [case for case, options in CASES.items() if bends("rpsup", options)]
    for case, panel in zip(bent, panels, strict=True):
        shapes, times = deformation(results[case]), results[case].time
        for k, time in enumerate(SHOWN):
            x, up, aside = 1e3 * shapes[np.argmin(np.abs(times - time))].T
            panel.plot(x, up, color=f"C{k}", marker=MARKERS[k % len(MARKERS)], label=f"{time} s")
            panel.plot(x, aside, "--", color=f"C{k}", marker=MARKERS[k % len(MARKERS)])
        panel.set(title=f"coupler, {case}: upwards; dashed: aside", xlabel="along the chord [mm]", ylabel="[mm]")
        look = {"color": f"C{list(CASES).index(case)}", "linestyle": LINES[list(CASES).index(case)]}
        largest.plot(times, 1e3 * np.linalg.norm(shapes[:, :, 1:], axis=2).max(axis=1), label=case, **look)
    panels[0].legend()
    largest.set(title="largest deformation of the coupler", xlabel="time [s]", ylabel="[mm]")
    largest.legend()
    figure.savefig(path)
    plt.close(figure)


def print_rms(name: str, results: dict[str, fm.Result]) -> None:
    """RMS of the joints' forces (Eq 34) along and across their axes, a line for each case."""
    for case in CASES:
        pairs = [(joint, *rms(results[case], joint, axis)) for joint, axis in JOINTS[name].items()]
        print(
            f"  {case}, RMS [N]: " + ", ".join(f"{joint} {along:.3g} / {across:.3g}" for joint, along, across in pairs)
        )


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
        print_rms(name, results)
        draw(name, results, folder / f"{name}.png")
        draw_differences(name, results, folder / f"{name}_differences.png")
        found[name] = results
    draw_tool(found["rpsup"], folder / "rpsup_tool.png")
    print(f"wrote {', '.join(str(path) for path in sorted(folder.glob('*.png')))}")
    return found


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("programmed_motion"))
