"""What can go wrong with the reference switch, as one exception with a one-line message."""

from __future__ import annotations

from testbed.mininet.worker import WorkerError


class Bmv2Error(WorkerError):
    """simple_switch is missing, died or refused something; the message names the switch."""
