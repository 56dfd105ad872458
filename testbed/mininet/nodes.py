"""Mininet's nodes and links for a fabric whose switches are run by one engine process.

Mininet keeps the names, the hosts' namespaces and the shells; interfaces are made and configured in
one batch for the whole fabric (`testbed.mininet.interfaces`), so the classes here run no commands.
"""

from __future__ import annotations

import warnings
from typing import Any

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # Mininet 2.3 imports distutils
    from mininet.link import Intf, Link
    from mininet.net import Mininet
    from mininet.node import Host, Switch
    from mininet.topo import Topo

__all__ = ["FabricHost", "FabricInterface", "FabricLink", "FabricSwitch", "Mininet", "Topo"]


class FabricInterface(Intf):  # type: ignore[misc]
    """An interface that the batch configures."""

    def config(self, **_parameters: Any) -> dict[str, Any]:
        """Leave the interface to the batch."""
        return {}


class FabricLink(Link):  # type: ignore[misc]
    """A veth pair that the batch makes and removes."""

    @classmethod
    def makeIntfPair(cls, *_arguments: Any, **_options: Any) -> None:  # noqa: N802
        """Leave the pair to the batch."""

    def delete(self) -> None:
        """Leave the pair to the batch."""


class FabricHost(Host):  # type: ignore[misc]
    """A host in a network namespace of its own; its one interface is <name>-eth0."""

    def config(self, **_parameters: Any) -> dict[str, Any]:
        """Leave addresses and neighbours to the batch."""
        return {}


class FabricSwitch(Switch):  # type: ignore[misc]
    """A switch with its ports in the sandbox's first namespace, run by the engine process."""

    def start(self, _controllers: Any) -> None:
        """Do nothing: the engine process serves all switches."""

    def stop(self, deleteIntfs: bool = False) -> None:  # noqa: FBT001, FBT002, N803
        """Do nothing: the batch removes the interfaces."""
