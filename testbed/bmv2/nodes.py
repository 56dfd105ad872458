"""Mininet's nodes for switches that are simple_switch: p4-utils' P4Switch if it is installed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from testbed.bmv2.client import add_client_library, p4utils_module
from testbed.mininet.nodes import FabricSwitch

if TYPE_CHECKING:
    from testbed.bmv2.process import Launch

NODE_MODULE = "mininetlib.node"


def switch_class() -> Any:
    """Return Mininet's class for the switches of a fabric."""
    add_client_library()
    found = p4utils_module(NODE_MODULE)
    return FabricSwitch if found is None else _node_class(found.P4Switch)


def _node_class(base: Any) -> Any:
    """Return p4-utils' switch node, started with each plan instead of with the network.

    Its command line is p4-utils'; the process, its log and its end are ours.
    """

    class ReferenceNode(base):  # type: ignore[misc]
        intfs: dict[int, Any]

        def __init__(self, name: str, dpid: str, **options: Any) -> None:
            super().__init__(name, device_id=int(dpid, 16), **options)
            self.nanomsg = None

        def command_line(self, launch: Launch) -> list[str]:
            """Return the words that start the switch with some of its interfaces."""
            self.set_json(str(launch.program))
            self.device_id, self.thrift_port = launch.device, launch.thrift_port
            self.priority_queues_num = launch.priorities
            every = self.intfs
            self.intfs = {port: every[port] for port in launch.interfaces}
            words = [*self.add_arguments(), "--", *self.add_target_arguments()]
            self.intfs = every
            return [str(word) for word in words]

        def start(self, controllers: Any = None) -> None:
            """Do nothing: a plan brings the program."""

        def stop(self, deleteIntfs: bool = True) -> None:  # noqa: FBT001, FBT002, N803
            """Do nothing: the process ends with its plan, the batch removes the interfaces."""

    return ReferenceNode
