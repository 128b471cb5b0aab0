"""What a tolerance means: the error of a run against the tolerance, measured.

Two mechanisms of models/ run for 5 s at tolerances from 1e-3 to 1e-11, and are compared with a run at 1e-13. The
four-bar moves regularly: its error follows the tolerance. The double pendulum is chaotic: whatever its error is, it
grows e-fold again and again, and a smaller tolerance buys some more time. The number of evaluations tells what it
costs: ten times less error takes about 10^(1/5) = 1.6 times as many by `dopri5`, of order 5. SI units.
"""

import matplotlib.pyplot as plt
import numpy as np

import fmumbs as fm
from fmumbs.readers import read_model

TOLERANCES = 10.0 ** -np.arange(3, 12)
figure, (error, cost) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
print("          tolerance: " + " ".join(f"{tolerance:8.0e}" for tolerance in TOLERANCES))
for name, joint in (("four_bar", "D"), ("double_pendulum", "B")):
    image = fm.compile(read_model(name))
    names = [f"{joint}.q", "solver.evaluations"]
    run = {"stop": 5.0, "interval": 0.01, "outputs": names}
    exact = fm.simulate(image, tolerance=1e-13, scheme="dop853", **run)[names[0]]
    results = [fm.simulate(image, tolerance=tolerance, scheme="dopri5", **run) for tolerance in TOLERANCES]
    errors = [np.abs(result[names[0]] - exact).max() for result in results]
    evaluations = [result["solver.evaluations"][-1] for result in results]
    print(f"{name:>15} rad: " + " ".join(f"{value:8.0e}" for value in errors))
    print(f"{'evaluations':>19}: " + " ".join(f"{value:8.0f}" for value in evaluations))
    error.loglog(TOLERANCES, errors, "o-", label=name)
    cost.loglog(TOLERANCES, evaluations, "o-", label=name)
    assert errors[3] < 1e-2 and errors[-1] < 1e-6
error.loglog(TOLERANCES, TOLERANCES, "k:", label="error = tolerance")
error.set(xlabel="tolerance", ylabel="largest error of an angle within 5 s [rad]")
cost.set(xlabel="tolerance", ylabel="evaluations of the accelerations")
error.legend()
figure.savefig("tolerances.png", dpi=100)
