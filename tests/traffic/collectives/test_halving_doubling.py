import numpy as np
import pytest

from traffic.request import Request
from traffic.workloads import make


@pytest.mark.parametrize("ranks", [2, 4, 8, 32])
def test_halving_doubling__sends_what_a_ring_sends_in_few_messages(ranks: int) -> None:
    message = 1 << 20
    flows = make("halving-doubling", Request(ranks, 1, 1, message, np.random.default_rng(1)))
    rounds = ranks.bit_length() - 1
    assert len(flows) == 2 * rounds * ranks
    sent = np.bincount(flows.source, flows.size_bytes)
    assert np.all(sent == 2 * message * (ranks - 1) // ranks)
    # Exchanges are between pairs, and each waits for what the last one brought.
    for step in range(2 * rounds):
        rows = slice(step * ranks, (step + 1) * ranks)
        pairs = set(zip(flows.source[rows], flows.destination[rows], strict=True))
        assert pairs == {(b, a) for a, b in pairs}
    row, before = flows.after.row, flows.after.flow
    brought = flows.destination[before] == flows.source[row]
    assert brought.sum() == len(flows) - ranks
    assert np.all(row // ranks == before // ranks + 1)


def test_halving_doubling__all_values_meet() -> None:
    ranks = 16
    flows = make("halving-doubling", Request(ranks, 1, 1, 1600, np.random.default_rng(1)))
    known = [{rank} for rank in range(ranks)]
    for step in range(4):
        rows = slice(step * ranks, (step + 1) * ranks)
        pairs = zip(flows.source[rows].tolist(), flows.destination[rows].tolist(), strict=True)
        new = [set(values) for values in known]
        for source, destination in pairs:
            new[destination] |= known[source]
        known = new
    assert all(len(values) == ranks for values in known)


def test_halving_doubling__sums_what_it_received() -> None:
    options = {"reduce_ps_per_byte": 1}
    flows = make("halving-doubling", Request(4, 1, 1, 4000, np.random.default_rng(1), options))
    assert flows.delay_ps[::4].tolist() == [0, 2000, 1000, 0]
