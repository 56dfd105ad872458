from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from errors import UserError
from testbed.mininet import attach
from tests.testbed.mininet.conftest import run_inside, start_inside, wait_until

pytestmark = pytest.mark.mininet

START = """
from testbed.mininet import network
from testbed.topology import fat_tree
fabric = network.start(fat_tree(4), mtu=4140)
"""


def test_start__links_have_both_ends_up_with_the_mtu_and_no_offloads() -> None:
    seen = run_inside(
        START,
        """
from testbed.mininet import offloads
ends = [name for name in os.listdir("/sys/class/net") if name != "lo"]
states = {open(f"/sys/class/net/{name}/operstate").read().strip() for name in ends}
mtus = {open(f"/sys/class/net/{name}/mtu").read().strip() for name in ends}
offloads.switch_off(ends)
host = fabric.net["h5"].cmd("ip -color=never -br addr show h5-eth0; ip neigh | wc -l").split()
print(json.dumps([len(ends), sorted(states), sorted(mtus), host[1:3], host[-1]]))
""",
    )
    assert seen == [80, ["up"], ["4140"], ["UP", "10.1.0.2/8"], "15"]


def test_start__mininet_object__knows_nodes_addresses_and_datapath_ids() -> None:
    seen = run_inside(
        START,
        """
net = fabric.net
dpids = {switch.dpid for switch in net.switches}
print(json.dumps([len(net.hosts), len(dpids), net["h0"].IP(), net["h0"].MAC(),
                  str(net["e0_0"].connectionsTo(net["a0_1"])[0][0])]))
fabric.stop()
""",
    )
    assert seen == [16, 20, "10.0.0.1", "02:00:0a:00:00:01", "e0_0-eth4"]


def test_start__eight_ports__is_up_and_down_quickly() -> None:
    up, down, hosts, switches = run_inside("""
        from testbed.mininet import network
        from testbed.topology import fat_tree
        begun = time.monotonic()
        fabric = network.start(fat_tree(8), mtu=4140)
        up = time.monotonic()
        fabric.stop()
        print(json.dumps([up - begun, time.monotonic() - up, len(fabric.net.hosts),
                          len(fabric.net.switches)]))
    """)
    assert (hosts, switches) == (128, 80)
    assert up < 30
    assert down < 10


def test_command_line__runs_inside_a_node_of_the_fabric() -> None:
    with start_inside(START, 'print("ready", flush=True)\ntime.sleep(1000)') as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text()
            fabric = int(children.split()[0])
            wait_until(lambda: len(attach.nodes(fabric)) == 36)
            words = attach.command_line(fabric, "h7", ["ip", "-br", "addr"])
            assert "10.1.1.2/8" in subprocess.check_output(words, text=True)
            words = attach.command_line(fabric, "h7", ["sh", "-c", "pwd; ls $0", "pyproject.toml"])
            here = f"{Path.cwd()}\npyproject.toml\n"
            assert subprocess.check_output(words, text=True) == here
            assert "h7-eth0" in attach.described(fabric, "h7")
            assert "e0_0 is a switch" in attach.described(fabric, "e0_0")
            assert "all ports of its switches" in attach.described(fabric, None)
            with pytest.raises(UserError, match="node h16 is not in fabric"):
                attach.command_line(fabric, "h16", [])
        finally:
            process.kill()
