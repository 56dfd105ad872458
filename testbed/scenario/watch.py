"""What a run in virtual time writes beside its results, when asked to."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Watch:
    """What is looked at while a run goes; it changes nothing else.

    `flows` are those whose congestion control is written over time, or `worst`, the one that takes
    longest; `links` those whose frames are captured, as testbed.capture reads them.
    """

    flows: tuple[int, ...] | str = ()
    links: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        """Whether there is anything to look at."""
        return bool(self.flows or self.links)


NOTHING = Watch()
