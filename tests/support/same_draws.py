"""Makes hypothesis draw the same mechanisms whatever else is loaded. To be imported before anything is drawn.

It draws some numbers from the constants of the loaded modules: each change in them, and the order of the tests in a
worker, drew other mechanisms.
"""

from hypothesis.internal.conjecture import providers

setattr(providers, "is_local_module_file", lambda path: False)  # noqa: B010  hypothesis does not export the name
