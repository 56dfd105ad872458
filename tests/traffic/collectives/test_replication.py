from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from traffic.collectives.moe.replication import pack, place, replicate

EXAMPLE = np.array([90, 132, 40, 61, 104, 165, 39, 4, 73, 56, 183, 86], dtype=float)


def test_replicate__twelve_experts_in_sixteen_slots() -> None:
    replicas = replicate(EXAMPLE, 16)
    assert replicas.tolist() == [1, 2, 1, 1, 2, 2, 1, 1, 1, 1, 2, 1]


def test_place__is_no_worse_than_without_replicas() -> None:
    def imbalance(load: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> float:
        return float(load.max() / load.mean())

    assert imbalance(EXAMPLE @ place(EXAMPLE, 4, 4)) <= imbalance(EXAMPLE @ place(EXAMPLE, 4, 3))


@given(st.lists(st.floats(0, 1000), min_size=1, max_size=24), st.integers(0, 24))
def test_replicate__uses_every_slot_and_forgets_nobody(loads: list[float], extra: int) -> None:
    replicas = replicate(np.array(loads), len(loads) + extra)
    assert replicas.min() >= 1
    assert replicas.sum() == len(loads) + extra


@given(st.integers(1, 6), st.integers(1, 6), st.integers(0, 2**32))
def test_pack__fills_packs_equally(packs: int, room: int, seed: int) -> None:
    weight = np.random.default_rng(seed).random(packs * room)
    assert np.bincount(pack(weight, packs), minlength=packs).tolist() == [room] * packs


@given(st.integers(1, 4), st.integers(1, 4), st.integers(0, 2**32))
def test_place__serves_every_token_once(gpus: int, slots: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    load = rng.random(int(rng.integers(1, gpus * slots + 1)))
    share = place(load, gpus, slots)
    assert share.sum(axis=1) == pytest.approx(np.ones(len(load)))


def test_replicate__too_few_slots__refuses() -> None:
    with pytest.raises(ValueError, match="3 slots"):
        replicate(EXAMPLE, 3)


def test_pack__uneven_items__refuses() -> None:
    with pytest.raises(ValueError, match="12 items"):
        pack(EXAMPLE, 5)
