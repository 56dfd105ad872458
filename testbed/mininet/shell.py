"""Mininet's prompt made safe: no command that fails ends the network, and scripts may use it."""

from __future__ import annotations

import difflib
import os
import re
import signal
import subprocess
import sys
import time
import warnings
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # Mininet 2.3 imports distutils
    from mininet.cli import CLI
    from mininet.log import lg

from errors import TERMINATED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

NODE_NAME = re.compile(r"[a-z]+\d+(_\d+)?")
STREAM_SECONDS, PATIENCE_SECONDS = 5, 60
IPERF_PORT = 5001
FAILED = 1


@contextmanager
def _leaving_on_sigterm() -> Iterator[None]:
    """Leave on SIGTERM by an exception that Mininet does not take for Ctrl-C and go on after."""

    def leave(_number: int, _frame: object) -> None:
        raise SystemExit(TERMINATED)

    before = signal.signal(signal.SIGTERM, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


class Shell(CLI):  # type: ignore[misc]
    """A prompt on a network of Mininet's; `talk` lets the user, or a script, use it."""

    def __init__(self, net: Any) -> None:
        """Prepare to talk about a network."""
        self._typed = sys.stdin is not None and sys.stdin.isatty()
        if self._typed:
            super().__init__(net, script=os.devnull)
        else:
            with Path(os.devnull).open(encoding="utf-8") as nothing:
                super().__init__(net, stdin=nothing, script=os.devnull)
        lg.ch.stream = sys.stdout  # its own is standard error
        self.failures = 0

    def talk(self, commands: Iterable[str] = ()) -> int:
        """Carry out commands: the given ones, else those of standard input or of the user.

        Returns 1 if one of a script's failed, after all of them were tried. SIGTERM leaves with
        SystemExit(143).
        """
        with _leaving_on_sigterm():
            return self._talk(commands)

    def _talk(self, commands: Iterable[str]) -> int:
        given = list(commands) or (None if self._typed else sys.stdin or ())
        if given is None:
            self.initReadline()
            self.run()
            return 0
        self._typed = False
        self._carry_out(given)
        return FAILED if self.failures else 0

    def _carry_out(self, commands: Iterable[str]) -> bool:
        """Carry out commands until one leaves; tell whether one did."""
        return any(self.onecmd(self.precmd(line.rstrip("\n"))) for line in commands)

    def isatty(self) -> bool:
        """Tell whether a user types the commands."""
        return self._typed

    def complain(self, text: str) -> None:
        """Tell what could not be done, in a line; scripts get it on standard error."""
        self.failures += 1
        print(text, file=self.stdout if self._typed else sys.stderr, flush=True)

    def say(self, text: str) -> None:
        """Answer."""
        print(text, file=self.stdout, flush=True)

    def onecmd(self, line: str) -> Any:
        """Carry out a command; whatever goes wrong in it is told in a line."""
        try:
            return super().onecmd(line)
        except Exception as error:  # noqa: BLE001 - a failed command must not end the network
            reason = " ".join(str(error).split()) or type(error).__name__
            self.complain(f"{line.split(maxsplit=1)[0]}: {reason}")
            return None

    def default(self, line: str) -> Any:
        """Run a command on the node that it begins with."""
        first = line.split(maxsplit=1)[0]
        if line == "EOF":
            return True
        if first in self.mn:
            return super().default(line)
        if NODE_NAME.fullmatch(first):
            self.complain(f"there is no node {first}; `nodes` lists them")
        else:
            near = difflib.get_close_matches(first, self.get_commands(), 1)
            hint = f"did you mean {near[0]}?" if near else "`help` lists them"
            self.complain(f"there is no command {first}; {hint}")
        return None

    def get_commands(self) -> list[str]:
        """Return the names of all commands."""
        return sorted({name[3:] for name in self.get_names() if name.startswith("do_")} - {"EOF"})

    def waitForNode(self, node: Any) -> None:  # noqa: N802 - Mininet's name
        """Show what a node's command says until it ends; only a user may type to it."""
        if self._typed:
            super().waitForNode(node)
            return
        while node.waiting:
            self.stdout.write(node.monitor())
        self.stdout.flush()

    # Completion -----------------------------------------------------------------------------

    def completenames(self, text: str, *_ignored: Any) -> list[str]:
        """Complete the first word: a command, or a node to run one on."""
        return _completed(text, [*self.get_commands(), *self.mn.keys()])

    def completedefault(self, text: str, *_ignored: Any) -> list[str]:
        """Complete any other word: a node."""
        return _completed(text, self.mn.keys())

    # Commands that Mininet's own do not do well here ----------------------------------------

    def do_source(self, line: str) -> Any:
        """Carry out the commands of a file: source FILE."""
        path = Path(line.strip())
        try:
            commands = path.read_text(encoding="utf-8").splitlines()
        except OSError as error:
            self.complain(f"source: {path}: {error.strerror}")
            return None
        return self._carry_out(commands) or None

    def do_sh(self, line: str) -> None:
        """Run a command outside of all nodes: sh COMMAND."""
        self.stdout.flush()
        stdin = None if self._typed else subprocess.DEVNULL
        subprocess.run(line, shell=True, check=False, stdin=stdin)  # noqa: S602 - it is a shell

    def do_dpctl(self, _line: str) -> None:
        """Not for P4 switches."""
        self.complain("dpctl speaks OpenFlow, P4 switches do not; see `help` for what shows tables")

    def do_switch(self, _line: str) -> None:
        """Not here: one process runs all switches."""
        self.complain("one process runs all switches; `link N1 N2 down` cuts one of their links")

    def do_wait(self, _line: str) -> None:
        """Not needed: the switches run."""
        self.say("there is no controller to wait for; the switches run")

    def do_xterm(self, line: str, term: str = "xterm") -> None:
        """Open terminals on nodes: xterm NODE ..."""
        if not os.environ.get("DISPLAY"):
            node = line.split(maxsplit=1)[0] if line.split() else "h0"
            self.complain(
                f"{term}: there is no display; from another terminal: "
                f"sudo .venv/bin/python -m testbed attach --node {node}"
            )
            return
        super().do_xterm(line, term)

    def do_x(self, line: str) -> None:
        """Start a program with a window on a node: x NODE COMMAND."""
        if not os.environ.get("DISPLAY"):
            self.do_xterm(line, "x")
            return
        super().do_x(line)

    def do_pingall(self, line: str) -> None:
        """Ping between all hosts, and say before how long that takes: pingall [SECONDS]."""
        if line.strip() and not re.fullmatch(r"\d+(\.\d+)?", line.strip()):
            self.complain("usage: pingall [SECONDS TO WAIT FOR EACH]")
            return
        planes = self.planes()
        pings = sum(len(hosts) * (len(hosts) - 1) for hosts in planes)
        if pings:
            begun = time.monotonic()
            planes[0][0].cmd("ping -c1 -W5", planes[0][-1].IP())
            seconds = pings * (time.monotonic() - begun)
            self.say(f"{pings} pings, one after the other: about {seconds:.0f} s")
        for number, hosts in enumerate(planes):
            if len(planes) > 1:
                self.say(f"Plane {number}, which no other reaches:")
            self.mn.ping(hosts, line)

    def planes(self) -> list[list[Any]]:
        """Return the hosts of each part of the network that reaches itself only."""
        return [list(self.mn.hosts)] if self.mn.hosts else []

    def do_iperf(self, line: str) -> None:
        """Measure TCP between two hosts: iperf [H1 H2]."""
        self._stream("iperf [H1 H2]", line.split())

    def do_iperfudp(self, line: str) -> None:
        """Measure UDP at a rate such as 10M between two hosts: iperfudp [RATE H1 H2]."""
        rate, *hosts = line.split() or ["1M"]
        if not re.fullmatch(r"\d+(\.\d+)?[kKmMgG]?", rate, re.ASCII):
            self.complain(f"iperfudp: {rate!r} is no rate; write one such as 10M")
            return
        self._stream("iperfudp [RATE H1 H2]", hosts, ["-u", "-b", rate])

    def _stream(self, usage: str, names: list[str], options: Iterable[str] = ()) -> None:
        names = names or [host.name for host in (self.planes()[0][0], self.planes()[0][-1])]
        if len(names) != 2:
            self.complain(f"usage: {usage}")
            return
        if unknown := [name for name in names if name not in self.mn]:
            self.complain(f"there is no node {unknown[0]}; `nodes` lists them")
            return
        client, server = (self.mn[name] for name in names)
        udp = ["-u"] if options else []
        listening = server.popen(["iperf", "-s", "-p", str(IPERF_PORT), *udp])
        try:
            _wait_for_port(server.pid, "udp" if options else "tcp")
            words = ["iperf", "-c", server.IP(), "-p", str(IPERF_PORT), "-f", "k"]
            said = _result(client.popen([*words, "-t", str(STREAM_SECONDS), *options], text=True))
        finally:
            listening.kill()
            listening.wait()
        found = re.findall(r"([\d.]+) Kbits/sec", said)
        if not found:
            self.complain(f"iperf: {' '.join(said.split()) or 'no result'}")
            return
        rate = float(found[-1])
        self.say(f"{names[0]} to {names[1]}: {rate / 1000:.2f} Mb/s{self.dilated(rate)}")

    def dilated(self, _kilobits: float) -> str:
        """Say what a rate in kb/s of real time means in the network's own time, if that differs."""
        return ""


def _result(process: subprocess.Popen[str]) -> str:
    """Return all that a process says; it is ended if it takes too long."""
    try:
        said, wrong = process.communicate(timeout=PATIENCE_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        return f"no result in {PATIENCE_SECONDS} s"
    except BaseException:
        process.kill()
        raise
    return said + wrong


def _completed(text: str, words: Iterable[str]) -> list[str]:
    return [f"{word} " for word in words if word.startswith(text)]


def _wait_for_port(process: int, protocol: str) -> None:
    """Wait until somebody listens at iperf's port in a process's network namespace."""
    deadline = time.monotonic() + STREAM_SECONDS
    ending = f":{IPERF_PORT:04X} 00000000:0000"
    while time.monotonic() < deadline:
        if ending in Path(f"/proc/{process}/net/{protocol}").read_text(encoding="ascii"):
            return
        time.sleep(0.05)
