"""What can go wrong with the reference switch, as one exception with a one-line message."""

from __future__ import annotations


class Bmv2Error(RuntimeError):
    """simple_switch is missing, died or refused something; the message names the switch."""
