"""Ofan: one pointer per destination and class."""

from __future__ import annotations

from testbed.parameters import Parameter
from testbed.schemes import rotating
from testbed.schemes.scheme import Scheme

ONE_ORDER = Parameter(
    "one_order", 0, "1: all pointers follow one port order", 0, 1, whole=True, define="ONE_ORDER"
)

SCHEME = Scheme(
    name="ofan",
    program="ofan",
    label="Ofan",
    color="#1f77b4",
    marker="o",
    reference="§4.1",
    dashed=True,
    setup=rotating.pointers,
    own=(ONE_ORDER,),
)
