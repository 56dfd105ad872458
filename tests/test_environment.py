"""Every command continues in the project's environment, whatever Python began it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SYSTEM_PYTHON = Path("/usr/bin/python3")
ANSWERS = {
    "p4": (["--help"], 0, "compile"),
    "testbed": (["--help"], 0, "attach"),
    "traffic": (["workloads"], 0, "permutation"),
    "analysis": (["--help"], 0, "RESULTS_DIR"),
    "testbed.bmv2": (["--help"], 0, "--frames"),
}


def call(
    python: Path | str, *arguments: str, cwd: Path = ROOT, **environment: str
) -> subprocess.CompletedProcess[str]:
    inherited = {name: text for name, text in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(
        [str(python), *arguments],
        cwd=cwd,
        env=inherited | environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.skipif(not SYSTEM_PYTHON.exists(), reason="needs a Python outside the environment")
@pytest.mark.parametrize("name", ANSWERS)
def test_module__started_by_another_python__finds_the_environment(name: str) -> None:
    arguments, code, named = ANSWERS[name]
    done = call(SYSTEM_PYTHON, "-B", "-S", "-m", name, *arguments)
    assert done.returncode == code, done.stderr
    assert named in done.stdout


@pytest.mark.parametrize("name", ANSWERS)
def test_module__wrong_option__is_one_line(name: str) -> None:
    done = call(sys.executable, "-m", name, "--nosuch")
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert done.stderr.startswith(f"python -m {name}: ")


@pytest.mark.parametrize("name", ["p4", "traffic"])
def test_module__no_environment__says_how_to_make_it(name: str, tmp_path: Path) -> None:
    shutil.copy(ROOT / "environment.py", tmp_path)
    (tmp_path / name).mkdir()
    for file in ("__init__.py", "__main__.py"):
        shutil.copy(ROOT / name / file, tmp_path / name)
    done = call(sys.executable, "-m", name, "--help", cwd=tmp_path)
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"{name}: there is no ")
    assert "make setup" in line


def test_run__no_home__is_no_reason_for_warnings(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    nowhere = str(tmp_path / "file")
    done = call(
        sys.executable,
        "experiments/run.py",
        "--list",
        HOME=nowhere,
        XDG_CONFIG_HOME=nowhere,
        XDG_CACHE_HOME=nowhere,
        TMPDIR=str(tmp_path),
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_import__by_another_program__starts_nothing() -> None:
    done = call(SYSTEM_PYTHON, "-B", "-c", "import environment; print('went on')")
    assert (done.returncode, done.stdout) == (0, "went on\n"), done.stderr
