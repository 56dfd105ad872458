from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from analysis.fidelity import judge
from analysis.results import read_queues, read_run
from tests.testbed.mininet.conftest import run_inside

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.mininet

WORLD = """
from pathlib import Path
from testbed.mininet.look import Look
from testbed.mininet.world import MininetWorld
from testbed.planning import plan_for
from testbed.scenario import Scenario
world = MininetWorld()
scenario = Scenario(scheme="ofan", workload="interpod", message_bytes=1 << 18)
plan = plan_for(scenario)
"""


def test_run__ofan__crosses_the_fabric_and_keeps_the_invariants(tmp_path: Path) -> None:
    run_inside(WORLD, f"world.run(plan, Path({str(tmp_path)!r}), 60_000.0)\nprint(1)")
    result = read_run(tmp_path)
    assert result.world == "mininet"
    assert result.manifest["conservation"]["sent"] == 2 * 16 * 64
    assert result.manifest["conservation"]["delivered"] == 2 * 16 * 64
    assert result.manifest["noise_packets"] == 0
    verdict = judge(result)
    checks = {check.name: check.grade for check in verdict.checks}
    for name in ("ended", "conservation", "CCT", "noise"):
        assert checks[name] == "VALID", (name, verdict)
    up = result.links[result.links["stage"] == "E-A"]
    assert (up["data_packets"] == 64).all(), "each pointer went round whole turns"
    assert (up["ack_packets"] == 64).all()
    assert not read_queues(tmp_path).empty


@pytest.mark.parametrize("cca", ["nscc", "mswift"])
def test_run__congestion_control_and_losses__are_as_in_paper_time(tmp_path: Path, cca: str) -> None:
    """A timer that forgot the dilation would end 20,000 times too early and repeat everything."""
    lossy = f'replace(scenario, cca="{cca}", buffer_bytes=800_000, loss=0.01)'
    run_inside(
        WORLD,
        f"""
        from dataclasses import replace
        plan = plan_for({lossy})
        world.run(plan, Path({str(tmp_path)!r}), 20_000.0)
        print(1)
    """,
    )
    result = read_run(tmp_path)
    checks = {check.name: check.grade for check in judge(result).checks}
    for name in ("ended", "CCT", "noise", "pacing"):
        assert checks[name] == "VALID", (name, judge(result))
    assert result.manifest["conservation"]["dropped"]["loss"] > 0
    flows = result.flows
    assert 0 < flows["retransmitted"].sum() < 0.05 * flows["packets"].sum()
    waited = flows[flows["timeouts"] > 0]
    assert (waited["finish_ns"] - waited["start_ns"] > 63_000).all()
    assert (flows["finish_ns"] < 1_000_000).all()


def test_run__several_plans__start_from_fresh_state(tmp_path: Path) -> None:
    begun, after, again = run_inside(
        WORLD,
        f"""
        emulation = world.emulation_for(plan)
        begun = emulation.engine.ask("registers", "e0_0")
        world.run(plan, Path({str(tmp_path)!r}), 20_000.0)
        after = emulation.engine.ask("registers", "e0_0")
        again = world.emulation_for(plan).engine.ask("registers", "e0_0")
        print(json.dumps([begun, after, again]))
    """,
    )
    assert begun == again
    assert begun.keys() == after.keys()


def test_idle__switches_run_for_ten_seconds__nothing_moves() -> None:
    before, after, registers_before, registers_after = run_inside(
        WORLD,
        """
        look = Look(world.emulation_for(plan), plan, 30_000.0)
        def seen():
            return open("/proc/net/dev").read(), look.registers("e0_0") + look.registers("a1_1")
        packets, registers = seen()
        time.sleep(10)
        later, registers_later = seen()
        print(json.dumps([packets, later, registers, registers_later]))
    """,
    )
    assert before == after
    assert registers_before == registers_after
    assert all(set(line.split()[1:]) == {"0"} for line in before.splitlines()[2:])


def test_look__rotation_and_links__as_the_control_plane_says() -> None:
    ways, told, after_down, again, lost = run_inside(
        WORLD,
        """
        look = Look(world.emulation_for(plan), plan, 20_000.0)
        ways = [look.path("h0", "h15").splitlines()[0].split(" > ") for _ in range(4)]
        told = look.down("e0_0", "a0_1")
        after_down = [look.path("h0", "h15") for _ in range(4)]
        look.up("e0_0", "a0_1")
        again = [look.path("h0", "h15") for _ in range(2)]
        look.down("h15", "e3_1")
        print(json.dumps([ways, told, after_down, again, look.path("h0", "h15")]))
    """,
    )
    assert {way[0] for way in ways} == {"data: h0"}
    assert [len(way) for way in ways] == [7] * 4
    assert ways[0][2] == ways[2][2] != ways[1][2] == ways[3][2]
    assert "e0_0" in told
    assert all("a0_1" not in way for way in after_down)
    assert any("a0_1" in way for way in again)
    assert lost.endswith("(lost there)")


def test_look__wrong_questions__get_an_answer_in_words() -> None:
    answers = run_inside(
        WORLD,
        """
        from errors import UserError
        from testbed.mininet.look import Look
        look = Look(world.emulation_for(plan), plan, 20_000.0)
        answers = []
        for question, words in ((look.send, ("h0", "h99")), (look.send, ("e0_0", "h1")),
                                (look.send, ("h0", "h0")), (look.send, ("h0", "h1", "0")),
                                (look.registers, ("h0",)), (look.down, ("h0", "h1"))):
            try:
                answers.append(question(*words))
            except UserError as error:
                answers.append(str(error))
        print(json.dumps(answers))
    """,
    )
    assert answers == [
        "there is no node h99",
        "e0_0 is a switch; messages go from host to host",
        "h0 cannot send to itself",
        "0 is no size; write 4096, 256KB or 1MB",
        "h0 is a host; switches have tables and registers",
        "there is no link between h0 and h1",
    ]


def test_wire__any_link__shows_rocev2() -> None:
    frames = run_inside(
        WORLD,
        """
        import socket
        look = Look(world.emulation_for(plan), plan, 20_000.0)
        tap = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
        tap.bind(("e3_1-eth2", 0))
        tap.settimeout(5)
        look.send("h0", "h15", "8KB")
        print(json.dumps([tap.recv(65536).hex() for _ in range(4)]))
    """,
    )
    from scapy.contrib.roce import BTH  # noqa: PLC0415 - slow to import
    from scapy.layers.inet import IP, UDP  # noqa: PLC0415
    from scapy.layers.l2 import Ether  # noqa: PLC0415

    decoded = [Ether(bytes.fromhex(frame)) for frame in frames]
    assert all(frame[UDP].dport == 4791 for frame in decoded)
    assert {(frame[IP].src, frame[BTH].opcode) for frame in decoded} == {
        ("10.0.0.1", 0x07),
        ("10.3.1.2", 0x11),
    }
    data = [frame for frame in decoded if frame[BTH].opcode == 0x07]
    assert {frame[BTH].psn for frame in data} == {0, 1}  # they take different ways
    assert all(len(frame) == 4096 + 62 - 4 for frame in data)


def test_run__engine_is_killed__is_told_and_the_next_run_works(tmp_path: Path) -> None:
    said, ended = run_inside(
        WORLD,
        f"""
        import signal, threading
        from testbed.mininet.worker import WorkerError
        from analysis.results import read_run
        engine = world.emulation_for(plan).engine
        threading.Timer(0.5, lambda: os.kill(engine.pid, signal.SIGKILL)).start()
        try:
            world.run(plan, Path({str(tmp_path)!r}, "killed"), 2_000_000.0)
            said = "nothing"
        except WorkerError as error:
            said = str(error)
        world.run(plan, Path({str(tmp_path)!r}, "next"), 20_000.0)
        print(json.dumps([said, read_run(Path({str(tmp_path)!r}, "next")).manifest["ended"]]))
    """,
    )
    assert said == "the engine process was killed by signal 9"
    assert ended == "done"


LOSING = """
from dataclasses import replace
scenario = replace(scenario, message_bytes=1 << 20, recovery="selective")
down, later, up = "0:e0_0-a0_1:down", "5:e0_0-a0_1:down", "40:e0_0-a0_1:up"
for name, events in (("cut", (down,)), ("back", (later, up))):
    losing = replace(scenario, link_events=events, reaction_us=10)
    world.run(plan_for(losing), Path("{folder}") / name, 20_000.0)
print(1)
"""


def test_link_that_fails_during_a_run__carries_nothing_and_all_arrives(tmp_path: Path) -> None:
    """Without its reaction the control plane would let packets be lost until hosts gave up."""
    run_inside(WORLD, LOSING.format(folder=tmp_path))
    packets = {}
    for name in ("cut", "back"):
        result = read_run(tmp_path / name)
        assert result.manifest["ended"] == "done"
        conservation = {check.name: check for check in judge(result).checks}["conservation"]
        assert conservation.grade != "INVALID", conservation
        assert result.manifest["conservation"]["dropped"]["down"] > 0
        assert result.flows["delivered_ns"].notna().all()
        assert result.flows["retransmitted"].sum() > 0
        ports = result.links.set_index(["node", "peer"])["data_packets"]
        packets[name] = [int(ports[ends]) for ends in (("e0_0", "a0_1"), ("a0_1", "e0_0"))]
    assert packets["cut"] == [0, 0]
    assert min(packets["back"]) > 0
