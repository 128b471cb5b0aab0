"""Images and FMUs of the mechanisms that ship."""

from support.exported import fmu, image, pendulum, pendulum_fmu

__all__ = ["fmu", "image", "pendulum", "pendulum_fmu"]
