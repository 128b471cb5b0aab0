"""Settings of every test: how hypothesis searches, and no windows."""

import os

from hypothesis import HealthCheck, Phase, settings

os.environ["MPLBACKEND"] = "Agg"  # also for the processes that tests start

settings.register_profile("default", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
default = settings.get_profile("default")
settings.register_profile("search", parent=default, derandomize=False, max_examples=1000)
settings.register_profile("unshrunk", parent=default, phases=[Phase.explicit, Phase.generate])
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))
