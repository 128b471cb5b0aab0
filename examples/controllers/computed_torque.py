"""Computed torque for a planar arm of two links, as an FMU by pythonfmu: `pythonfmu build -f computed_torque.py`.

tau = M(q) (a_d + kd (w_d - w) + kp (q_d - q)) + h(q, w) + g(q), for the path q_d from one position to another by a
polynomial of order five. The links are uniform rods; q1 is measured from where both hang, q2 from link 1. SI units,
angles in rad.
"""

from math import cos, sin

from pythonfmu import Fmi2Causality, Fmi2Slave, Fmi2Variability, Real

PARAMETERS = {"length1": 0.5, "length2": 0.4, "mass1": 2.0, "mass2": 1.5, "gravity": 9.81, "kp": 400.0, "kd": 40.0}
MOVE = {"from1": 0.0, "from2": 0.0, "to1": 1.0, "to2": 1.0, "time": 1.0}
INPUTS = ("q1", "q2", "w1", "w2")
OUTPUTS = ("tau1", "tau2", "desired1", "desired2")


class ComputedTorque(Fmi2Slave):
    """The torques follow from the last step's positions, so that no input acts on them at once."""

    author = "fmumbs"
    description = "Computed torque of a planar arm of two links, in discrete time"

    def __init__(self, **options):
        super().__init__(**options)
        for name, value in (PARAMETERS | MOVE | dict.fromkeys(INPUTS + OUTPUTS, 0.0)).items():
            setattr(self, name, value)
        for name in PARAMETERS | MOVE:
            kind = {"causality": Fmi2Causality.parameter, "variability": Fmi2Variability.tunable}
            self.register_variable(Real(name, **kind))
        for name in INPUTS:
            self.register_variable(Real(name, causality=Fmi2Causality.input))
        for name in OUTPUTS:
            self.register_variable(Real(name, causality=Fmi2Causality.output))

    def exit_initialization_mode(self):
        self.compute(0.0)

    def do_step(self, current_time, step_size):
        """The torques for what is measured at the beginning of the step."""
        self.compute(current_time)
        return True

    def compute(self, t):
        """Sets the outputs at the time t [s]."""
        wanted = []
        for start, end, q, w in ((self.from1, self.to1, self.q1, self.w1), (self.from2, self.to2, self.q2, self.w2)):
            s = min(t / self.time, 1.0)
            position = start + (end - start) * s**3 * (10 - 15 * s + 6 * s**2)
            velocity = (end - start) * 30 * s**2 * (1 - s) ** 2 / self.time
            acceleration = (end - start) * 60 * s * (1 - s) * (1 - 2 * s) / self.time**2
            correction = self.kd * (velocity - w) + self.kp * (position - q)
            wanted.append((position, acceleration + correction))
        (self.desired1, a1), (self.desired2, a2) = wanted
        half1, half2 = self.length1 / 2, self.length2 / 2
        inertia1, inertia2 = self.mass1 * self.length1**2 / 3, self.mass2 * self.length2**2 / 3
        product = self.mass2 * self.length1 * half2
        m22 = inertia2
        m12 = inertia2 + product * cos(self.q2)
        m11 = inertia1 + inertia2 + self.mass2 * self.length1**2 + 2 * product * cos(self.q2)
        swing = product * sin(self.q2)
        h1, h2 = -swing * (2 * self.w1 + self.w2) * self.w2, swing * self.w1**2
        g2 = self.gravity * self.mass2 * half2 * sin(self.q1 + self.q2)
        g1 = self.gravity * (self.mass1 * half1 + self.mass2 * self.length1) * sin(self.q1) + g2
        self.tau1 = m11 * a1 + m12 * a2 + h1 + g1
        self.tau2 = m12 * a1 + m22 * a2 + h2 + g2
