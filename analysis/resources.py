"""Memory and gates that Ofan's pointers take in a switch (paper §4.1, §5.1, Appendix I)."""

from __future__ import annotations

import math
from dataclasses import dataclass

SIZE_CLASSES = 2  # data and ACKs
GATES_PER_COMPARE_AND_SWAP = 80
GATES_PER_BIT = 4
GATES_PER_ADDER = 40  # our estimate for a node of the combining and decombining trees
CLOCK_HZ = 1e9
ACTIVITY = 0.1
JOULES_PER_TOGGLE = 0.5e-15  # our estimate; gives the paper's few milliwatts


@dataclass(frozen=True, slots=True)
class Memory:
    """Pointers of a switch and the bits they take; `order_bits` hold the basis permutation."""

    pointers: int
    pointer_bits: int
    order_bits: int

    @property
    def pointer_bytes(self) -> float:
        """Bytes of all pointers."""
        return self.pointers * self.pointer_bits / 8

    @property
    def order_bytes(self) -> float:
        """Bytes of the basis permutation."""
        return self.order_bits / 8


@dataclass(frozen=True, slots=True)
class Gates:
    """Gate equivalents of the combining pipeline, by part."""

    sorting: int
    registers: int
    combining: int

    @property
    def total(self) -> int:
        """Gates of all parts."""
        return self.sorting + self.registers + self.combining

    @property
    def watts(self) -> float:
        """Dynamic power at 1 GHz with a tenth of the gates switching."""
        return self.total * ACTIVITY * CLOCK_HZ * JOULES_PER_TOGGLE


def edge_memory(k: int, pipes: int = 1) -> Memory:
    """Return an edge switch's pointers: one a destination edge, size class and pipe."""
    return _memory(k, SIZE_CLASSES * (k * k // 2) * pipes)


def aggregation_memory(k: int, pipes: int = 1) -> Memory:
    """Return an aggregation switch's pointers: one an other pod, size class and pipe."""
    return _memory(k, SIZE_CLASSES * (k - 1) * pipes)


def pipes(k: int, ports: int) -> int:
    """Return the pipes that the k/2 ports facing down are in, `ports` to a pipe."""
    return math.ceil(k / 2 / ports)


def combining_gates(k: int) -> Gates:
    """Return the gates of an edge switch's combining pipeline, k/2 packets a batch.

    Sorting and unsorting are bitonic networks of b(b+1)/2 stages of k/4 compare-and-swap cells
    each; registers are flip-flops; combining and decombining are trees of k/4 b nodes each.
    """
    lanes = k // 2
    levels = _bits(lanes)
    cells = levels * (levels + 1) // 2 * (lanes // 2)
    memory = edge_memory(k)
    return Gates(
        sorting=2 * cells * GATES_PER_COMPARE_AND_SWAP,
        registers=memory.pointers * memory.pointer_bits * GATES_PER_BIT,
        combining=2 * levels * (lanes // 2) * GATES_PER_ADDER,
    )


def _memory(k: int, pointers: int) -> Memory:
    bits = _bits(k // 2)
    return Memory(pointers, bits, (k // 2) * bits)


def _bits(values: int) -> int:
    return max(1, (values - 1).bit_length())
