"""POfan: Ofan's pointers, each pipe with its own."""

from __future__ import annotations

from testbed.parameters import Parameter
from testbed.schemes import rotating
from testbed.schemes.scheme import Scheme

PIPE_PORTS = Parameter(
    "pipe_ports", 4, "ports that face down in one pipe", 1, 255, whole=True, define="PIPE_PORTS"
)

SCHEME = Scheme(
    name="pofan",
    program="pofan",
    label="{pipe_ports:.0f}Ofan",
    color="#17becf",
    marker="s",
    reference="§5.1",
    hollow=True,
    setup=rotating.pointers,
    own=(PIPE_PORTS,),
)
