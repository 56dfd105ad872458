from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from experiments.complaints import in_words, writing_into


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
