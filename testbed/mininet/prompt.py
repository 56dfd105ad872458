"""The Mininet prompt on a running fabric, with commands to look inside the switches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from errors import UserError
from testbed.mininet.shell import Shell

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


class Prompt(Shell):
    """Mininet's prompt, extended."""

    prompt = "ofan> "

    def __init__(self, net: Any, look: Look) -> None:
        """Prepare to talk; `look` answers the additional commands."""
        super().__init__(net)
        self._look = look

    def do_queues(self, line: str) -> None:
        """Show what waits at each port now: queues [NODE]."""
        self._say("queues [NODE]", line, self._look.queues)

    def do_ports(self, line: str) -> None:
        """Show what each port has sent since the start: ports NODE."""
        self._say("ports NODE", line, self._look.ports)

    def do_pointers(self, line: str) -> None:
        """Show registers by P4 name: pointers SWITCH."""
        self._say("pointers SWITCH", line, self._look.registers)

    def do_tables(self, line: str) -> None:
        """Show entries and default actions by P4 names: tables SWITCH."""
        self._say("tables SWITCH", line, self._look.tables)

    def do_send(self, line: str) -> None:
        """Send a message and say how long it took: send H1 H2 [SIZE]."""
        self._say("send H1 H2 [SIZE]", line, self._look.send)

    def do_path(self, line: str) -> None:
        """Send one packet and say which way it and its ACK went: path H1 H2."""
        self._say("path H1 H2", line, self._look.path)

    def do_down(self, line: str) -> None:
        """Take the link between two nodes down: down N1 N2."""
        self._say("down N1 N2", line, self._look.down)

    def do_up(self, line: str) -> None:
        """Take the link between two nodes up again: up N1 N2."""
        self._say("up N1 N2", line, self._look.up)

    def do_link(self, line: str) -> None:
        """Take the link between two nodes down or up: link N1 N2 down|up."""
        match line.split():
            case [one, other, "down"]:
                self.do_down(f"{one} {other}")
            case [one, other, "up"]:
                self.do_up(f"{one} {other}")
            case _:
                self.complain("usage: link N1 N2 down|up")

    def do_dpctl(self, _line: str) -> None:
        """Not for P4 switches: see tables."""
        self.complain("dpctl speaks OpenFlow, P4 switches do not; `tables SWITCH` shows entries")

    def do_switch(self, _line: str) -> None:
        """Not here: see down."""
        self.complain("one process runs all switches; `down N1 N2` cuts one of their links")

    def planes(self) -> list[list[Any]]:
        """Return the hosts of each plane."""
        hosts, each = self.mn.hosts, self._look.hosts_per_plane
        return [list(hosts[first : first + each]) for first in range(0, len(hosts), each)]

    def dilated(self, kilobits: float) -> str:
        """Say what a rate means in the paper's time."""
        return f", in the paper's time {kilobits * self._look.dilation / 1e6:.1f} Gb/s"

    def _say(self, usage: str, line: str, answer: Callable[..., str]) -> None:
        words, wanted = line.split(), usage.split()[1:]
        least = sum(not word.startswith("[") for word in wanted)
        if not least <= len(words) <= len(wanted):
            self.complain(f"usage: {usage}")
            return
        try:
            self.say(answer(*words))
        except UserError as error:
            self.complain(str(error))
