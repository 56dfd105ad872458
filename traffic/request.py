"""What a workload is asked for, and how it reads its options."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from errors import UserError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray


GROUP = {"placement": "in-order or random", "group": "0 hosts, all in one"}
"""The options of Request.groups, for collectives that take them."""


class Volume(NamedTuple):
    """How much a workload comes to, known before it is made: messages (and computations), bytes."""

    messages: int
    total_bytes: int


@dataclass(frozen=True, slots=True)
class Request:
    """The hosts that take part, the size of a message, and the workload's options.

    Hosts are numbered along the network: host h is attached to edge h // hosts_per_edge and
    belongs to pod h // hosts_per_pod. `rng` is the only source of randomness.
    """

    hosts: int
    hosts_per_edge: int
    hosts_per_pod: int
    message_bytes: int
    rng: np.random.Generator
    options: Mapping[str, float | str] = field(default_factory=dict)

    def number(self, name: str, default: float) -> float:
        """Read a numeric option; raises UserError if it is not a number."""
        value = self.options.get(name, default)
        try:
            return float(value)
        except ValueError as error:
            raise UserError(f"option {name} is {value!r}; it must be a number") from error

    def whole(self, name: str, default: int, *, at_least: int = 0) -> int:
        """Read an option that is a whole number; raises UserError if it is not one."""
        value = self.number(name, default)
        if value != int(value) or value < at_least:
            raise UserError(
                f"option {name} is {value:g}; it must be a whole number of at least {at_least}"
            )
        return int(value)

    def choice(self, name: str, choices: tuple[str, ...]) -> str:
        """Read an option that is one of `choices`, the first being the default."""
        value = str(self.options.get(name, choices[0]))
        if value not in choices:
            raise UserError(f"option {name} is {value!r}; it must be one of {choices}")
        return value

    def equal_messages(self, flows: int) -> NDArray[np.int64]:
        """Sizes of `flows` messages that all have the request's size."""
        return np.full(flows, self.message_bytes, dtype=np.int64)

    def group_size(self) -> int:
        """Hosts of a group: option group (0: all hosts are one).

        Raises UserError unless groups are of at least two hosts and take all there are.
        """
        size = self.whole("group", 0) or self.hosts
        if size < 2 or self.hosts % size:
            raise UserError(f"{self.hosts} hosts do not make groups of {size}")
        return size

    def groups(self) -> NDArray[np.int64]:
        """Host of each rank of each group that does the collective, shape (groups, ranks).

        Option placement: ranks of all groups are hosts `in-order`, or at `random`.
        """
        hosts = np.arange(self.hosts)
        if self.choice("placement", ("in-order", "random")) == "random":
            hosts = self.rng.permutation(self.hosts)
        return hosts.reshape(-1, self.group_size())
