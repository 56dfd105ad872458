"""Mininet's prompt on a network of others."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING, Any

from testbed.mininet.shell import Shell

if TYPE_CHECKING:
    from multiprocessing.process import BaseProcess


class Talk(Shell):
    """Mininet's prompt, which knows how links are cut here and whether the switches still run."""

    prompt = "net> "

    def __init__(self, net: Any, switches: BaseProcess) -> None:
        """Prepare to talk; `switches` is their process."""
        super().__init__(net)
        self._switches = switches

    def onecmd(self, line: str) -> Any:
        """Carry out a command, and tell when the switches are gone."""
        leave = super().onecmd(line)
        if not leave and not self._switches.is_alive():
            code = self._switches.exitcode
            self.complain(f"the switches are gone, their process ended with {code}; `exit` leaves")
        return leave

    def do_link(self, line: str) -> None:
        """Take the link between two nodes down or up: link N1 N2 down|up."""
        words = line.split()
        if len(words) != 3 or words[2] not in {"down", "up"}:
            self.complain("usage: link N1 N2 down|up")
            return
        one, other, state = words
        if unknown := [name for name in (one, other) if name not in self.mn]:
            self.complain(f"there is no node {unknown[0]}; `nodes` lists them")
            return
        links = self.mn.linksBetween(self.mn[one], self.mn[other])
        if not links:
            self.complain(f"there is no link between {one} and {other}")
        for link in links:
            inside = [end for end in (link.intf1, link.intf2) if end.node in self.mn.switches]
            subprocess.run(["ip", "link", "set", inside[0].name, state], check=True)
            self.say(f"{one} - {other} is {state}")
