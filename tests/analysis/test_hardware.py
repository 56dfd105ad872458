from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.combining import Pipeline, bitonic_stages, one_by_one
from analysis.resources import aggregation_memory, combining_gates, edge_memory, pipes


def test_pipeline__the_papers_example() -> None:
    pipeline = Pipeline(32, [9, 1, 0])
    batch = [1, None, 1, None, None, 1, None, None]
    assert [port for port in pipeline.process(batch) if port is not None] == [1, 2, 3]
    assert pipeline.pointers == [9, 4, 0]
    assert pipeline.updates == 1


@given(
    width=st.integers(1, 40),
    lanes=st.sampled_from([1, 2, 4, 8, 16, 32]),
    start=st.lists(st.integers(0, 1000), min_size=1, max_size=6),
    data=st.data(),
)
def test_pipeline__equals_one_by_one(
    width: int, lanes: int, start: list[int], data: st.DataObject
) -> None:
    pointers = [value % width for value in start]
    pipeline = Pipeline(width, list(pointers))
    one = st.none() | st.integers(0, len(pointers) - 1)
    for _ in range(3):
        batch = data.draw(st.lists(one, min_size=lanes, max_size=lanes))
        updates = pipeline.updates
        ports, pointers = one_by_one(width, pointers, batch)
        assert pipeline.process(batch) == ports
        assert pipeline.pointers == pointers
        assert pipeline.updates - updates == len({key for key in batch if key is not None})


@given(st.integers(0, 6), st.randoms())
def test_bitonic_stages__sort(power: int, random: object) -> None:
    values = list(range(2**power)) * 2
    random.shuffle(values)  # type: ignore[attr-defined]
    for stage in bitonic_stages(len(values)):
        assert len(stage) == len(values) // 2
        for low, high, ascending in stage:
            if (values[low] > values[high]) == ascending:
                values[low], values[high] = values[high], values[low]
    assert values == sorted(values)


def test_bitonic_stages__32_lanes_take_15_stages() -> None:
    assert len(list(bitonic_stages(32))) == 15
    with pytest.raises(ValueError, match="6 lanes"):
        list(bitonic_stages(6))


def test_memory__at_k_64_is_the_papers() -> None:
    edge = edge_memory(64)
    assert (edge.pointers, edge.pointer_bits, edge.pointer_bytes) == (4096, 5, 2560)
    assert edge.order_bytes == 20
    assert (aggregation_memory(64).pointers, round(aggregation_memory(64).pointer_bytes)) == (
        126,
        79,
    )


def test_memory__pipes_multiply_it() -> None:
    assert pipes(64, 4) == 8
    assert pipes(12, 4) == 2
    assert edge_memory(64, pipes=8).pointers == 8 * 4096


def test_combining_gates__are_the_papers() -> None:
    gates = combining_gates(64)
    assert gates.total == pytest.approx(127_000, rel=0.01)
    assert edge_memory(64).pointers * 5 == 20_480
    assert gates.watts == pytest.approx(6e-3, rel=0.1)
