"""What a run is: everything that defines it, in the paper's units, and what its files are called.

This is the ground of the house. It imports nothing of ours; the testbed makes runs of it, analysis
reads them by it.
"""

from testbed.scenario.about import About
from testbed.scenario.scenario import (
    FIELDS,
    Field,
    Scenario,
    SpreadName,
    TopologyName,
    flat,
    from_toml,
    to_toml,
    variant,
)
from testbed.scenario.shape import Shape

__all__ = [
    "FIELDS",
    "About",
    "Field",
    "Scenario",
    "Shape",
    "SpreadName",
    "TopologyName",
    "flat",
    "from_toml",
    "to_toml",
    "variant",
]
