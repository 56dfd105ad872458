"""Packet sockets in C, for all that run programs on real interfaces."""

from pathlib import Path

WIRE = Path(__file__).resolve().parent
