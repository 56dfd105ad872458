"""The prompt: words of a line to a command, which is a method with its usage as docstring."""

from __future__ import annotations

import inspect
import shlex
from typing import TYPE_CHECKING

from p4.codegen.symbols import EngineError
from p4.console.arrays import ArrayCommands
from p4.console.hashes import HashCommands
from p4.console.profiles import ProfileCommands
from p4.console.replication import Replication
from p4.console.tables import TableCommands
from p4.console.value_sets import ValueSetCommands
from p4.console.values import ConsoleError

if TYPE_CHECKING:
    from collections.abc import Callable

    from p4.engine import Switch

__all__ = ["Console", "ConsoleError"]

# Commands of simple_switch_CLI that mean nothing here, and what does instead.
REFUSED = {
    "load_new_config_file": "start a switch with the other program",
    "swap_configs": "start a switch with the other program",
    "write_config_to_file": "`python -m p4 compile PROGRAM -o FILE` writes the program's JSON",
    "serialize_state": "keep the commands that led here in a file, for --entries",
    "table_set_timeout": "entries do not age; table_delete removes one",
    "shell": "use another terminal",
}


class Console:
    """Carries out commands on a switch; methods called `do_<command>` are the commands.

    A command that fails leaves everything as it was.
    """

    def __init__(self, switch: Switch) -> None:
        self.switch = switch
        self._commands: dict[str, Callable[..., str]] = {}
        self._replication = Replication(switch)
        self._value_sets = ValueSetCommands(switch)
        profiles = ProfileCommands(switch)
        for owner in (
            self,
            TableCommands(switch),
            profiles,
            ArrayCommands(switch),
            HashCommands(switch),
            self._value_sets,
            self._replication,
        ):
            for name, method in inspect.getmembers(owner, inspect.ismethod):
                if name.startswith("do_"):
                    self._commands[name.removeprefix("do_")] = method
        self._commands |= profiles.by_table()

    @property
    def names(self) -> list[str]:
        """Return the commands' names."""
        return sorted(self._commands)

    def add_command(self, name: str, command: Callable[..., str]) -> None:
        """Add a command that the surroundings of the switch offer."""
        self._commands[name] = command

    def execute(self, line: str) -> str:
        """Carry out a line and return what to print; ConsoleError says what is wrong with it."""
        try:
            words = shlex.split(line, comments=True)
        except ValueError as error:
            raise ConsoleError(str(error)) from None
        if not words:
            return ""
        command = self._command(words[0])
        try:
            inspect.signature(command).bind(*words[1:])
        except TypeError:
            raise ConsoleError(f"usage: {_usage(command)}") from None
        try:
            return command(*words[1:])
        except EngineError as error:
            raise ConsoleError(str(error)) from None
        except OverflowError:
            raise ConsoleError(f"{words[0]}: a number is negative or too large") from None

    def _command(self, name: str) -> Callable[..., str]:
        if name in REFUSED:
            raise ConsoleError(f"`{name}` is not supported: {REFUSED[name]}")
        if name not in self._commands:
            raise ConsoleError(f"unknown command `{name}`; try `help`")
        return self._commands[name]

    def do_help(self, *names: str) -> str:
        """Usage: help [COMMAND ...]."""
        commands = [self._command(name) for name in names or self.names]
        return "\n".join(dict.fromkeys(_usage(command) for command in commands))

    def do_switch_info(self) -> str:
        """Usage: switch_info."""
        symbols = self.switch.program.symbols
        tables = sum(bool(table.keys) for table in symbols.tables)
        return f"program {self.switch.program.name}, {tables} tables with keys"

    def do_faults(self) -> str:
        """Usage: faults."""
        faults = self.switch.faults()
        names = ("dropped", "register_range", "header_room", "recursion", "assertions")
        return "\n".join(f"{name}: {getattr(faults, name)}" for name in names)

    def do_reset_state(self) -> str:
        """Usage: reset_state."""
        self.switch.reset()
        self._replication.forget()
        self._value_sets.forget()
        return ""


def _usage(command: Callable[..., str]) -> str:
    text = (inspect.getdoc(command) or command.__name__).splitlines()[0]
    return text.removeprefix("Usage: ").removesuffix(".")
