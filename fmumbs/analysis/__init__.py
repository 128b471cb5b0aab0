"""Analysis of a mechanism without simulation: structure, modes, uniqueness of reactions; each in its own module."""
