"""Plans: complete, reproducible, and clear about what cannot be run."""

import numpy as np
import pytest

from errors import UserError
from testbed import schemes
from testbed.failures import set_link
from testbed.planning import link_changes, make_plan, plan_for, refuse
from testbed.scenario import Scenario
from traffic.flows import Flows

NONE = Flows.of(*(np.zeros(0, dtype=np.int64) for _ in range(3)))
POINTERS = "Fabric.balance.rotation.pointers"


@pytest.mark.parametrize("name", schemes.names())
def test_every_scheme_has_a_plan(name: str) -> None:
    plan = plan_for(Scenario(scheme=name))
    switches = {plan.topology.nodes[number].name for number in plan.topology.switches}
    assert set(plan.programs) == set(plan.setups) == switches
    assert all(source.path.is_file() for source in plan.programs.values())
    assert plan.hosts.entropy.name == schemes.find(name).entropy
    assert len(plan.flows) == 16


def test_pointers_of_acks_are_half_a_round_away() -> None:
    plan = make_plan(Scenario(k=12), NONE)
    pointers = np.array(list(plan.setups["e3_2"].registers[POINTERS]))
    assert len(pointers) == 2 * 72
    assert ((pointers[72:] - pointers[:72]) % 6 == 3).all()
    assert set(pointers.tolist()) == set(range(6))
    assert len(plan.setups["a3_2"].registers[POINTERS]) == 2 * 12


def test_pipes_have_pointers_of_their_own() -> None:
    scenario = Scenario(k=12, scheme="pofan", parameters={"pipe_ports": 4})
    pointers = np.array(list(make_plan(scenario, NONE).setups["e3_2"].registers[POINTERS]))
    assert len(pointers) == 2 * 2 * 72
    assert (pointers[:144] != pointers[144:]).any()


def test_one_pipe_starts_as_ofan_does() -> None:
    one = make_plan(Scenario(k=8, scheme="pofan"), NONE)
    ofan = make_plan(Scenario(k=8), NONE)
    for name, setup in ofan.setups.items():
        assert one.setups[name].registers == setup.registers


def test_the_seed_decides_the_state_and_nothing_else_does() -> None:
    first, second, other = (make_plan(Scenario(k=8, seed=seed), NONE) for seed in (1, 1, 2))
    assert first.setups == second.setups
    assert first.setups["e0_0"].registers != other.setups["e0_0"].registers
    assert first.setups["e0_0"].entries == other.setups["e0_0"].entries


def test_schemes_change_nothing_else() -> None:
    plans = [plan_for(Scenario(scheme=name, failures=0.1)) for name in ("ofan", "ar")]
    assert plans[0].topology == plans[1].topology
    assert (plans[0].flows.destination == plans[1].flows.destination).all()


def test_failures_lower_the_load() -> None:
    plan = plan_for(Scenario(k=8, failures=0.05, load=0.5))
    assert 0 < plan.load < 0.5
    assert plan_for(Scenario(k=8, load=0.5)).load == 0.5


def test_mixes_run_two_programs_with_parameters_of_both() -> None:
    scenario = Scenario(
        k=8, scheme="pofan", mix=("ar", "edge"), parameters={"pipe_ports": 2, "refresh_us": 0}
    )
    plan = make_plan(scenario, NONE)
    assert plan.programs["e0_0"].path.stem == "ar"
    assert plan.programs["a0_0"].path.stem == plan.programs["c0"].path.stem == "pofan"
    assert ("PIPE_PORTS", "2") in plan.programs["a0_0"].defines
    assert plan.setups["e0_0"].defaults["Fabric.balance.quanta"][1][-1] == 0


def test_hosts_get_their_knobs() -> None:
    plan = make_plan(Scenario(scheme="reps", parameters={"freezing": 0}), NONE)
    assert plan.hosts.entropy.parameters["freezing"] == 0
    assert plan.hosts.entropy.parameters["freeze_us"] == 10_000
    assert make_plan(Scenario(scheme="drb"), NONE).paths is not None
    assert make_plan(Scenario(), NONE).paths is None


def test_thresholds_are_in_ticks_of_the_world() -> None:
    in_picoseconds = make_plan(Scenario(scheme="ar"), NONE)
    in_ticks = make_plan(Scenario(scheme="ar"), NONE, tick_ps=50)
    quanta = "Fabric.balance.quanta"
    fine, coarse = (p.setups["e0_0"].defaults[quanta][1] for p in (in_picoseconds, in_ticks))
    assert fine == (400_000, 800_000, 1_600_000, 100_000)
    assert coarse == (8_000, 16_000, 32_000, 2_000)


def test_a_cut_link_changes_what_it_must_and_comes_back() -> None:
    plan = make_plan(Scenario(), NONE)
    cut = link_changes(plan, set_link(plan.topology, "e0_0", "a0_1", up=False))
    assert set(cut) == {"a0_1", *(f"e{pod}_{i}" for pod in range(4) for i in range(2))}
    assert cut["e0_0"].defaults["Fabric.routing.place"][1][-1] == 0b01
    assert cut["e3_1"].remove[0].parameters == (0, 0b11)
    assert cut["e3_1"].add[0].parameters == (0, 0b01)
    assert not link_changes(plan, plan.topology)


def test_the_largest_network_is_planned_with_shared_tables() -> None:
    plan = make_plan(Scenario(k=64), NONE)
    assert len(plan.setups) == 5120
    assert sum(len(setup.entries) for setup in plan.setups.values()) < 3000


@pytest.mark.parametrize(
    ("scenario", "message"),
    [
        (Scenario(scheme="best"), "scheme best is unknown; there are ecmp, "),
        (Scenario(parameters={"speed": 3}), "ofan has no parameter speed"),
        (Scenario(scheme="pofan", parameters={"pipe_ports": 0}), "pofan: pipe_ports is 0, not"),
        (Scenario(scheme="pofan", parameters={"pipe_ports": 1.5}), "a whole number from 1 to"),
        (Scenario(scheme="conga", k=66), "conga tells at most 32 uplinks apart"),
        (Scenario(scheme="reps", ecn_bytes=0), "reps needs ACKs and an ECN threshold"),
        (Scenario(mix=("reps", "edge")), "hosts work differently under ofan and reps"),
        (Scenario(workload="party"), "workload 'party' is unknown, and no file"),
        (Scenario(topology="leaf-spine", k=600), "k must be even, from 4 to 510"),
        (Scenario(failures=0.9), "failures leave no path"),
    ],
)
def test_what_cannot_be_planned_is_said_in_one_line(scenario: Scenario, message: str) -> None:
    with pytest.raises(UserError) as raised:
        plan_for(scenario)
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


def test_what_a_world_does_not_have_is_refused() -> None:
    missing = ("link_events", "trim")
    refuse(Scenario(), missing, "BMv2")
    for scenario in (Scenario(link_events=("1:e0_0-a0_0:down",)), Scenario(trim=True)):
        with pytest.raises(UserError, match="not on BMv2; run it with --on virtual"):
            refuse(scenario, missing, "BMv2")


def test_trim_without_recovery_is_refused() -> None:
    with pytest.raises(
        UserError, match="trim needs a recovery of go-back-n, selective; it is none"
    ):
        plan_for(Scenario(trim=True))
    with pytest.raises(UserError, match="it is sleek"):
        plan_for(Scenario(trim=True, recovery="sleek"))
    plan_for(Scenario(trim=True, recovery="selective"))
