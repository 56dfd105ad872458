"""The reproduction page: each claim of the paper, its value there and here, command, minutes."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from experiments.figures import Claim, Figure
    from experiments.paper import Made

PAGE = "reproduction.md"
QUICK = (
    "These are the quick sizes: smaller networks and fewer seeds. The claims are those of the full "
    "size and may not hold here. "
)


def write_page(
    folder: Path, made: Sequence[Made], left_out: Sequence[Figure] = (), *, quick: bool
) -> Path:
    """Write the page into `folder`, next to the pictures it shows; return it.

    `left_out` are figures of which nothing was run.
    """
    size = " --quick" if quick else ""
    answers = Counter(claim.holds for figure in made for claim in figure.claims)
    lines = [
        "# Reproduction of the paper's figures",
        "",
        f"Of {answers.total()} claims {answers['yes']} came out as in the paper, "
        f"{answers['no']} did not, {answers['not decided']} are not decided: the limit is within "
        "two standard errors. "
        + (QUICK if quick else "")
        + "Minutes are those of all its points one after the other.",
        "",
        f"All of it: `python experiments/run.py paper{size}`",
    ]
    if left_out:
        lines += ["", f"Not run: {', '.join(figure.name for figure in left_out)}."]
    for figure in made:
        lines += _section(figure, folder, size)
    path = folder / PAGE
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def _section(made: Made, folder: Path, size: str) -> list[str]:
    name = made.figure.name
    runs = (
        f"{made.runs} runs; seeds a scenario: {made.seeds}; {made.minutes:.1f} min"
        if made.runs
        else "no runs"
    )
    failed = f"; {made.failed} points have no result" if made.failed else ""
    rows = [
        f"| {claim.text} | {claim.paper} | {claim.ours} | {claim.counted} | {_shown(claim)} |"
        for claim in made.claims
    ]
    return [
        "",
        f"## {name}: {made.figure.title}",
        "",
        f"`python experiments/run.py {name}{size}` ({runs}{failed})",
        "",
        *(f"![{made.figure.title}]({path.relative_to(folder)})" for path in made.pictures),
        "",
        "| claim | paper | ours | what counts | holds |",
        "| --- | --- | --- | --- | --- |",
        *rows,
    ]


def _shown(claim: Claim) -> str:
    return claim.holds if claim.holds == "yes" else f"**{claim.holds}**"
