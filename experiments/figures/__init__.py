"""The paper's figures: one short file each, with its sweep, its plot and its claims."""

from experiments.figures import (
    fig1,
    fig3,
    fig4,
    fig5,
    fig6,
    fig7,
    fig8,
    fig9,
    fig10,
    fig11,
    fig12,
    fig13,
    fig14,
    fig17,
    models,
    orders,
    resources,
    transports,
)
from experiments.figures.figure import Claim, Figure

FIGURES: tuple[Figure, ...] = (
    fig1.FIGURE,
    fig3.FIGURE,
    fig4.FIGURE,
    fig5.FIGURE,
    fig6.FIGURE,
    fig7.FIGURE,
    fig8.FIGURE,
    fig9.FIGURE,
    fig10.FIGURE,
    fig11.FIGURE,
    fig12.FIGURE,
    fig13.FIGURE,
    fig14.FIGURE,
    models.FIGURE_16,
    fig17.FIGURE,
    models.FIGURE_18,
    orders.FIGURE,
    resources.FIGURE,
    transports.RANKING,
    transports.LOSSES,
)

__all__ = ["FIGURES", "Claim", "Figure"]
