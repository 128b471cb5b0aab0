"""A PID controller in discrete time, as an FMU by pythonfmu: `pythonfmu build -f pid.py` writes PID.fmu.

u = kp e + ki integral of e + kd de/dt, e = setpoint - measured, within -limit and limit; the integral stops where u is
limited. Units are those of the values that it is connected to.
"""

from pythonfmu import Fmi2Causality, Fmi2Slave, Fmi2Variability, Real


class PID(Fmi2Slave):
    """u follows from the last step's measurement, so that no input acts on it at once."""

    author = "fmumbs"
    description = "PID controller in discrete time"

    def __init__(self, **options):
        super().__init__(**options)
        self.kp, self.ki, self.kd, self.limit = 1.0, 0.0, 0.0, 1e9
        self.setpoint = self.measured = self.u = 0.0
        self.integral, self.before = 0.0, None
        for name in ("kp", "ki", "kd", "limit"):
            kind = {"causality": Fmi2Causality.parameter, "variability": Fmi2Variability.tunable}
            self.register_variable(Real(name, **kind))
        self.register_variable(Real("setpoint", causality=Fmi2Causality.input))
        self.register_variable(Real("measured", causality=Fmi2Causality.input))
        self.register_variable(Real("u", causality=Fmi2Causality.output))

    def exit_initialization_mode(self):
        """The first output: of the proportional part alone."""
        self.before = self.setpoint - self.measured
        self.u = self.limited(self.kp * self.before)

    def do_step(self, current_time, step_size):
        error = self.setpoint - self.measured
        integral = self.integral + error * step_size
        rate = (error - self.before) / step_size
        wanted = self.kp * error + self.ki * integral + self.kd * rate
        self.u = self.limited(wanted)
        if self.u == wanted:
            self.integral = integral
        self.before = error
        return True

    def limited(self, value):
        return max(-self.limit, min(self.limit, value))
