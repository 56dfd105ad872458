"""Language models: what their layers hold, compute and send."""

from __future__ import annotations

from dataclasses import dataclass

PAYLOAD_BYTES = 4096


@dataclass(frozen=True, slots=True)
class Experts:
    """A layer's experts: how many, how many a token has, and parameters of one."""

    number: int
    top: int
    parameters: float


@dataclass(frozen=True, slots=True)
class Model:
    """A model: layers, parameters by name and of one layer without its experts, and its widths.

    `packets` of 4,096 B are what the paper has as a shard of one layer (§6.7), 0 if it is not one
    of the paper's. `hidden` numbers describe a token between layers, `attention` numbers all heads.
    """

    layers: int
    nominal: float
    layer: float
    packets: int
    hidden: int
    attention: int
    experts: Experts | None = None

    @property
    def active(self) -> float:
        """Parameters of a layer that a token meets."""
        chosen = self.experts.top * self.experts.parameters if self.experts else 0
        return self.layer + chosen

    def forward_flops(self, tokens: int) -> tuple[float, float]:
        """Return floating-point operations of a layer's forward pass, without and in experts.

        A multiplication and an addition for each parameter and token (Kaplan et al., 2020, §2.1),
        and for attention to the tokens before, on average half of one sequence of `tokens`.
        """
        attention = 2.0 * tokens * tokens * self.attention
        inside = 2.0 * tokens * (self.active - self.layer)
        return 2.0 * tokens * self.layer + attention, inside


MODELS = {
    "8b": Model(32, 8e9, 218.1e6, 119, 4096, 4096),
    "70b": Model(80, 70e9, 855.7e6, 418, 8192, 8192),
    "405b": Model(126, 405e9, 3187.7e6, 1533, 16384, 16384),
}
"""Llama 3, the paper's models."""

EXPERT_MODELS = {
    "235b-a22b": Model(94, 235e9, 71.3e6, 0, 4096, 8192, Experts(128, 8, 18.87e6)),
}
"""Qwen 3's, which has §6.6's shape: 128 experts, 8 a token, 8,192 B a token copy."""
