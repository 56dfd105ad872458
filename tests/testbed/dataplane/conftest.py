"""The test program, compiled once in its variants."""

from typing import TYPE_CHECKING

import pytest

from tests.testbed.dataplane.network import Program

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> "Path":
    return tmp_path_factory.mktemp("programs")


@pytest.fixture(scope="session")
def program(folder: "Path") -> Program:
    return Program(folder)


@pytest.fixture(scope="session")
def held_program(folder: "Path") -> Program:
    return Program(folder, "-DHELD")


@pytest.fixture(scope="session")
def growing_program(folder: "Path") -> Program:
    return Program(folder, "-DHELD", "-DGROWN=8")
