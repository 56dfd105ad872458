"""The command line, and one short file per figure: the only room that knows all others.

`from experiments import sweep` runs any fields of scenarios from Python, see `sweeping.sweep`.
"""

from typing import Any


def __getattr__(name: str) -> Any:
    """Load `sweep` when it is asked for: commands need not wait for it."""
    if name == "sweep":
        from experiments.sweeping import sweep  # noqa: PLC0415

        return sweep
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
