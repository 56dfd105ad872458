"""The page's scripts: types right, and no longer than one can read."""

import shutil
import subprocess

import pytest

from analysis.report import LIVE

COMPILER = shutil.which("tsc")


@pytest.mark.skipif(COMPILER is None, reason="there is no TypeScript compiler (tsc) on the path")
def test_scripts__types_are_right() -> None:
    assert COMPILER
    flags = "--noEmit --allowJs --checkJs --strict --target es2022 --lib es2022,dom,dom.iterable"
    scripts = [str(path) for path in sorted(LIVE.glob("*.js"))]
    done = subprocess.run(
        [COMPILER, *flags.split(), *scripts], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


def test_scripts__are_short_and_fit_the_page() -> None:
    for path in LIVE.glob("*.js"):
        lines = path.read_text(encoding="utf-8").splitlines()
        assert lines[0] == "// @ts-check"
        assert len(lines) < 300
        assert max(map(len, lines)) <= 105
