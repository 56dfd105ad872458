"""The folder of results: checked before any work, written by one command at a time, never mixed."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from errors import UserError
from experiments.ownership import hand_over, topmost_missing
from testbed.scenario import FIELDS, from_toml, variant
from testbed.scenario.files import MANIFEST, SCENARIO

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from testbed.scenario import Scenario

RESULTS = Path(__file__).resolve().parent.parent / "results"
LOCK = ".lock"
LEAST_ROOM_BYTES = 20_000_000


def check(out: Path) -> None:
    """Raise UserError for a folder that cannot be made or written, or whose disk is full."""
    above = next(path for path in (out, *out.absolute().parents) if path.exists())
    if not above.is_dir():
        raise UserError(f"{out}: {'not a folder' if above == out else f'{above} is no folder'}")
    if not os.access(above, os.W_OK | os.X_OK):
        raise UserError(f"{out}: {above} is not writable")
    free = shutil.disk_usage(above).free
    if free < LEAST_ROOM_BYTES:
        raise UserError(f"{out}: its disk has {free / 1e6:.0f} MB left, too little for results")


def fresh() -> Path:
    """Make a new folder for results, named by the time; another one if that is taken."""
    name = time.strftime("%Y%m%d-%H%M%S")
    for number in range(1, 1000):
        path = RESULTS / (name if number == 1 else f"{name}-{number}")
        try:
            path.mkdir(parents=True)
        except FileExistsError:
            continue
        return path
    raise UserError(f"{RESULTS / name}: taken; give --out")


@contextmanager
def claimed(out: Path) -> Iterator[None]:
    """Keep other commands out of a folder; raises UserError if one is at work in it."""
    made = topmost_missing(out)
    out.mkdir(parents=True, exist_ok=True)
    path = out / LOCK
    with path.open("a+", encoding="ascii") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            owner = lock.read().strip() or "another"
            raise UserError(
                f"{out}: process {owner} writes into it; wait for it or give another --out"
            ) from None
        lock.truncate(0)
        lock.write(f"{os.getpid()}\n")
        hand_over(path, made)
        lock.flush()
        try:
            yield
        finally:
            path.unlink(missing_ok=True)


def folder_of(out: Path, scenario: Scenario, world: str) -> Path:
    """Return the folder of a run: named by scheme and seed, and by what differs from one there.

    The same run has the same folder again; a run of another scenario or world is left alone.
    """
    name = variant(scenario)
    told = _different(out / f"{name}-s{scenario.seed}", scenario, world)
    return out / "-".join([name, *told, f"s{scenario.seed}"])


def others(out: Path, own: Sequence[Path]) -> list[Path]:
    """Return the finished runs in a folder that are not these."""
    return sorted({path.parent for path in out.glob(f"*/{MANIFEST}")} - set(own))


def _different(folder: Path, scenario: Scenario, world: str) -> list[str]:
    """Say in words for a name how a run differs from the one in a folder, if one is there."""
    if not (folder / SCENARIO).exists() or not (folder / MANIFEST).exists():
        return []
    there = from_toml(folder / SCENARIO)
    pairs = (
        (each.name, getattr(scenario, each.name), getattr(there, each.name)) for each in FIELDS
    )
    told = [f"{name}={_word(mine)}" for name, mine, its in pairs if mine != its]
    try:
        its_world = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))["world"]
    except (ValueError, KeyError):
        its_world = world
    return [*told, *([world] if its_world != world else [])]


def _word(value: object) -> str:
    return "".join(letter if letter.isalnum() or letter in ".=+" else "_" for letter in str(value))
