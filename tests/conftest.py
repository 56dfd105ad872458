"""What all tests share."""

from __future__ import annotations

import os

from hypothesis import settings

# The same inputs in every run, so that a change is not blamed for what an unlucky draw found. New
# ones: HYPOTHESIS_PROFILE=random.
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.register_profile("random", deadline=None)  # a busy machine is no fault of the code
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))
