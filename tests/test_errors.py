from __future__ import annotations

import errno
import os
import re
from pathlib import Path

import pytest

from errors import UserError, in_words, telling, writing_into

ROOT = Path(__file__).parent.parent


def test_in_words__an_error_of_the_system__file_first_and_no_number() -> None:
    missing = FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), "/proc/foo")
    assert in_words(missing) == "/proc/foo: no such file or directory"
    assert in_words(OSError("a message of its own")) == "a message of its own"
    assert in_words(ValueError("k is 5")) == "k is 5"


def test_writing_into__full_disk__names_the_folder() -> None:
    with pytest.raises(OSError, match="space") as raised, writing_into(Path("/results")):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    assert in_words(raised.value) == "/results: no space left on device"


def test_writing_into__an_error_that_names_a_file__is_left_alone() -> None:
    with pytest.raises(PermissionError) as raised, writing_into(Path("/results")):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), "/elsewhere")
    assert in_words(raised.value) == "/elsewhere: permission denied"


class OwnError(UserError):
    code = 7


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (UserError("k is 5"), 2, "run.py: k is 5\n"),
        (OwnError("own"), 7, "run.py: own\n"),
        (FileNotFoundError(errno.ENOENT, "No such file", "/x"), 2, "run.py: /x: no such file\n"),
        (BrokenPipeError(), 1, ""),
        (KeyboardInterrupt(), 130, ""),
    ],
)
def test_telling__says_one_line_and_returns_the_code(
    error: BaseException, code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def work() -> int:
        raise error

    assert telling("run.py", work) == code
    assert capsys.readouterr().err == said


def test_telling__a_bug_is_no_error_of_the_users() -> None:
    with pytest.raises(ZeroDivisionError):
        telling("run.py", lambda: 1 // 0)


def test_errors__there_is_one_family() -> None:
    """A class of ours that is no UserError is caught before it can reach a user."""
    own = {"Abort", "CycleError", "ExpressionError"}
    classes = re.compile(r"^class (\w+)\((?:\w*Error|Exception)\)", re.MULTILINE)
    for room in ("p4", "testbed", "traffic", "analysis", "experiments"):
        for source in (ROOT / room).rglob("*.py"):
            for match in classes.finditer(source.read_text(encoding="utf-8")):
                parent = match[0].split("(")[1].rstrip(")")
                assert parent in {"UserError", "WorkerError"} or match[1] in own, match[0]
