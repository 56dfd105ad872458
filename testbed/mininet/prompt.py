"""The Mininet prompt on a running fabric, with commands to look inside the switches."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from testbed.mininet.look import LookError

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # Mininet 2.3 imports distutils
    from mininet.cli import CLI

if TYPE_CHECKING:
    from collections.abc import Callable

    from testbed.mininet.look import Look

WELCOME = """\
The fabric runs. Commands to look inside, besides Mininet's own (help):
  queues [NODE]      what waits at each port now
  ports NODE         what each port of a switch or host has sent
  pointers SWITCH    its registers by P4 name
  tables SWITCH      its table entries by P4 names
  send H1 H2 [SIZE]  send a message of SIZE (1MB) and say how long it took
  path H1 H2         send one packet and say which way it went
  down N1 N2         take a link down; the control plane reacts
  up N1 N2           and up again
  h0 COMMAND         run a command on a host, such as: h0 tcpdump -c 3 -i h0-eth0
tcpdump from another terminal: sudo .venv/bin/python -m testbed attach -- tcpdump -i e0_0-eth1"""


class Prompt(CLI):  # type: ignore[misc]
    """Mininet's prompt, extended."""

    prompt = "ofan> "

    def __init__(self, net: Any, look: Look, **options: Any) -> None:
        """Talk to the user until they leave; `look` answers the additional commands."""
        self._look = look
        super().__init__(net, **options)

    def do_queues(self, line: str) -> None:
        """queues [NODE]: what waits at each port now."""
        self._say(line, 0, 1, self._look.queues)

    def do_ports(self, line: str) -> None:
        """ports NODE: what each port has sent since the start."""
        self._say(line, 1, 1, self._look.ports)

    def do_pointers(self, line: str) -> None:
        """pointers SWITCH: registers by P4 name."""
        self._say(line, 1, 1, self._look.registers)

    def do_tables(self, line: str) -> None:
        """tables SWITCH: entries and default actions by P4 names."""
        self._say(line, 1, 1, self._look.tables)

    def do_send(self, line: str) -> None:
        """send H1 H2 [SIZE]: send a message and say how long it took."""
        self._say(line, 2, 3, self._look.send)

    def do_path(self, line: str) -> None:
        """path H1 H2: send one packet and say which way it and its ACK went."""
        self._say(line, 2, 2, self._look.path)

    def do_down(self, line: str) -> None:
        """down N1 N2: take the link between two nodes down."""
        self._say(line, 2, 2, self._look.down)

    def do_up(self, line: str) -> None:
        """up N1 N2: take the link between two nodes up again."""
        self._say(line, 2, 2, self._look.up)

    def _say(self, line: str, least: int, most: int, answer: Callable[..., str]) -> None:
        words = line.split()
        if not least <= len(words) <= most:
            usage = (getattr(self, f"do_{answer.__name__}", answer).__doc__ or "").split(":")[0]
            print(f"usage: {usage}", file=self.stdout)  # noqa: T201 - this is a prompt
            return
        try:
            print(answer(*words), file=self.stdout)  # noqa: T201 - this is a prompt
        except LookError as error:
            print(error, file=self.stdout)  # noqa: T201 - this is a prompt
