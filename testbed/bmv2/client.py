"""The control plane of one simple_switch over Thrift: BMv2's own client, or p4-utils'."""

from __future__ import annotations

import importlib
import importlib.util
import sys
import time
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from testbed.bmv2.errors import Bmv2Error
from testbed.bmv2.process import executable, wait_for_thrift

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from testbed.bmv2.process import Process

ATTEMPTS, ATTEMPT_SECONDS = 500, 0.01
SERVICES = {
    "standard": "bm_runtime.standard.Standard",
    "simple_pre_lag": "bm_runtime.simple_pre_lag.SimplePreLAG",
    "simple_switch": "sswitch_runtime.SimpleSwitch",
}
CONTEXT = 0  # simple_switch has one context
UNREADABLE = '"action_profile"'  # p4-utils' API fails on programs whose tables have one


@dataclass(frozen=True, slots=True)
class Client:
    """The three services of one switch; each is the client class that Thrift generated."""

    process: Process
    standard: Any
    multicast: Any
    simple_switch: Any

    @property
    def name(self) -> str:
        """The switch's node name."""
        return self.process.name

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        for service in (self.standard, self.multicast, self.simple_switch):
            service._iprot.trans.close()  # noqa: SLF001 - generated clients offer no other way


def connect(process: Process) -> Client:
    """Connect to a started switch, through p4-utils' API if that is installed.

    Raises Bmv2Error if the switch died, does not answer, or has no Python client installed.
    """
    wait_for_thrift(process)
    add_client_library()
    failures = importlib.import_module("thrift.Thrift").TException
    for _ in range(ATTEMPTS):
        client = _clients(process)
        try:
            # The switch registers this service last, and closes connections that ask too early.
            client.simple_switch.get_time_elapsed_us()
            device = client.standard.bm_mgmt_get_info().device_id
        except failures:
            client.close()
            process.require_alive()
            time.sleep(ATTEMPT_SECONDS)
        else:
            if device == process.device:
                return _through_p4utils(process, client)
            client.close()
            raise Bmv2Error(f"{process.name}: port {process.port} is another switch's")
    raise Bmv2Error(f"{process.name}: the switch's own service did not come up")


def require_installed() -> None:
    """Raise Bmv2Error if simple_switch, its Python client, or what that needs is missing."""
    executable()
    add_client_library()
    if importlib.util.find_spec("thrift") is None:
        raise Bmv2Error("the Python library thrift is not installed, which BMv2's client needs")


def add_client_library() -> None:
    """Make BMv2's Python client importable: from sys.path, or beside simple_switch."""
    if importlib.util.find_spec("bm_runtime") and importlib.util.find_spec("sswitch_runtime"):
        return
    for folder in _library_folders(executable().resolve().parent.parent):
        if (folder / "bm_runtime").is_dir():
            sys.path.append(str(folder))
            importlib.invalidate_caches()
            return
    raise Bmv2Error("BMv2's Python client (bm_runtime) was not found beside simple_switch")


def _library_folders(prefix: Path) -> Iterable[Path]:
    yield from sorted(prefix.glob("lib/python3*/site-packages"))
    yield from sorted(prefix.glob("lib/python3*/dist-packages"))


def _clients(process: Process) -> Client:
    parts = [_service(process.port, name, module) for name, module in SERVICES.items()]
    return Client(process, *parts)


def _through_p4utils(process: Process, client: Client) -> Client:
    """Return the services as p4-utils' API offers them, instead of `client`, if it is installed."""
    api = p4utils_module("utils.sswitch_thrift_API")
    if api is None or UNREADABLE in client.standard.bm_get_config():
        return client
    client.close()
    switch = api.SimpleSwitchThriftAPI(process.port, "127.0.0.1")
    return Client(process, switch.client, switch.mc_client, switch.sswitch_client)


def p4utils_module(name: str) -> Any | None:
    """Return a module of p4-utils, or None if p4-utils, or what it needs, is not installed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of its sources
        try:
            return importlib.import_module(f"p4utils.{name}")
        except ImportError:
            return None


def _service(port: int, name: str, module: str) -> Any:
    try:
        sockets = importlib.import_module("thrift.transport.TSocket")
        transports = importlib.import_module("thrift.transport.TTransport")
        binary = importlib.import_module("thrift.protocol.TBinaryProtocol")
        multiplexed = importlib.import_module("thrift.protocol.TMultiplexedProtocol")
        generated = importlib.import_module(module)
    except ImportError as error:
        raise Bmv2Error(f"BMv2's Python client cannot be imported: {error}") from error
    transport = transports.TBufferedTransport(sockets.TSocket("127.0.0.1", port))
    transport.open()
    protocol = binary.TBinaryProtocol(transport)
    return generated.Client(multiplexed.TMultiplexedProtocol(protocol, name))
