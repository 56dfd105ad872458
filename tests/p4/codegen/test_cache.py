"""Where built programs are kept, and what happens where nothing can be kept."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
ASK_TWICE = """
from p4.codegen.build import cache_folder
folder = cache_folder()
assert folder == cache_folder() and folder.is_dir()
(folder / "written").write_text("")
print(folder)
"""


def ask(**environment: str) -> subprocess.CompletedProcess[str]:
    inherited = {name: text for name, text in os.environ.items() if name != "OFAN_CACHE"}
    return subprocess.run(
        [sys.executable, "-c", ASK_TWICE],
        cwd=ROOT,
        env=inherited | environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_cache_folder__that_can_be_written__is_the_users(tmp_path: Path) -> None:
    done = ask(XDG_CACHE_HOME=str(tmp_path))
    assert (done.stdout.strip(), done.stderr) == (str(tmp_path / "ofan"), "")


def test_cache_folder__that_cannot_be_written__is_a_temporary_one_told_once(
    tmp_path: Path,
) -> None:
    (tmp_path / "file").write_text("")
    done = ask(XDG_CACHE_HOME=str(tmp_path / "file"), TMPDIR=str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(str(tmp_path / "ofan-cache-"))
    assert done.stderr.splitlines() == [
        f"{tmp_path / 'file' / 'ofan'} cannot be written: compiled programs are kept for now only"
    ]
    assert not Path(done.stdout.strip()).exists()
