"""What all tests share."""

from __future__ import annotations

import os

from hypothesis import settings

# The same inputs in every run, so that a change is not blamed for what an unlucky draw found. New
# ones: HYPOTHESIS_PROFILE=random.
settings.register_profile("repeatable", derandomize=True)
settings.register_profile("random")
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))
