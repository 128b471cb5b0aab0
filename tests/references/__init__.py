"""The core against published results: one module a family of cases, the figures in data/."""
