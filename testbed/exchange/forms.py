"""The form of an exercise's two files: which members they have, and of which kind each is."""

from __future__ import annotations

import difflib
import ipaddress
import json
import re
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from errors import UserError
from testbed.exchange.document import read_json

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from pydantic_core import ErrorDetails

LARGEST_PORT = 510
HIGHEST_PRIORITY = (1 << 31) - 1
LONGEST_FILE_NAME = 255  # bytes
SHOWN = 60  # characters of a wrong value in an error
MAC = re.compile(r"([0-9a-fA-F]{2}:){5}[0-9a-fA-F]{2}")
_KINDS = {
    "bool_type": "true or false",
    "dict_type": "a JSON object",
    "int_type": "a whole number",
    "list_type": "a list",
    "model_type": "a JSON object",
    "string_type": "a string",
}


def _wanted(what: str) -> PydanticCustomError:
    return PydanticCustomError("wanted", "it should be {what}", {"what": what})


class Form(BaseModel):
    """A JSON object without members that nobody knows."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False, frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _know_all_members(cls, raw: Any) -> Any:
        for name in raw if isinstance(raw, dict) else ():
            if name not in cls.model_fields:
                near = difflib.get_close_matches(name, cls.model_fields, 1)
                hint = f'did you mean "{near[0]}"?' if near else f"there are {_quoted(cls)}"
                raise PydanticCustomError(
                    "unknown",
                    "there is no member {name}; {hint}",
                    {"name": shown(name), "hint": hint},
                )
        return raw


def _quoted(form: type[Form]) -> str:
    return ", ".join(f'"{name}"' for name in form.model_fields)


def _line(text: str) -> str:
    if "\0" in text or "\n" in text:
        raise _wanted("one line of text")
    return text


def _file(text: str) -> str:
    if not text or max(map(len, text.encode().split(b"/"))) > LONGEST_FILE_NAME:
        raise _wanted("the name of a file")
    return _line(text)


def _address(text: str) -> str:
    try:
        address = ipaddress.IPv4Interface(text)
    except ValueError:
        raise _wanted("an IPv4 address with its prefix, such as 10.0.1.1/24") from None
    if address.ip.is_multicast or address.ip.is_unspecified or address.ip.is_loopback:
        raise _wanted("the address of a host")
    return text


def _mac(text: str) -> str:
    if not MAC.fullmatch(text):
        raise _wanted("an Ethernet address, such as 08:00:00:00:01:11")
    if int(text[:2], 16) & 1 or not int(text.replace(":", ""), 16):
        raise _wanted("the Ethernet address of a host, which is no group's and not 0")
    return text


def _from_to(low: int, high: int) -> Callable[[int], int]:
    def check(value: int) -> int:
        if not low <= value <= high:
            raise _wanted(f"a whole number from {low} to {high}")
        return value

    return check


def _port(value: Any) -> Any:
    if isinstance(value, bool) or not re.fullmatch(r"\d{1,3}", str(value)):
        raise _wanted("a port number")
    return value


def _value(value: Any) -> Any:
    if not isinstance(value, int | str):
        raise _wanted("a number or a string")
    return value


def _match(value: Any) -> Any:
    parts = value if isinstance(value, list) else [value]
    if not 1 <= len(parts) <= 2 or not all(isinstance(part, int | str) for part in parts):
        raise _wanted("a value, or a list of one or two: [prefix, length], [value, mask]")
    return value


def _whole(value: int) -> int:
    if value:
        raise PydanticCustomError("wanted", "copies are whole here: leave it out")
    return value


Line = Annotated[str, AfterValidator(_line)]
FileName = Annotated[str, AfterValidator(_file)]
Priority = Annotated[int, AfterValidator(_from_to(0, HIGHEST_PRIORITY))]
EgressPort = Annotated[int, AfterValidator(_from_to(0, LARGEST_PORT))]
Instance = Annotated[int, AfterValidator(_from_to(0, (1 << 16) - 1))]
GroupNumber = Annotated[int, AfterValidator(_from_to(1, (1 << 16) - 1))]
SessionNumber = Annotated[int, AfterValidator(_from_to(1, (1 << 15) - 1))]


class Host(Form):
    """A host; `commands` run in its shell after the start."""

    ip: Annotated[str, AfterValidator(_address)]
    mac: Annotated[str, AfterValidator(_mac)]
    commands: list[Line] = []


class Switch(Form):
    """A switch, and the files that it names."""

    program: FileName | None = None
    runtime_json: FileName | None = None
    cpu_port: Annotated[Any, AfterValidator(_port)] = None


class Topology(Form):
    """A topology.json. A link is [node, node, delay, Mb/s], the last two of which may be absent."""

    hosts: dict[str, Host]
    switches: dict[str, Switch]
    links: list[list[Any]]


class TableEntry(Form):
    """A table's entry, or its default action."""

    table: Line
    match: dict[str, Annotated[Any, AfterValidator(_match)]] | None = None
    default_action: bool = False
    action_name: Line
    action_params: dict[str, Annotated[Any, AfterValidator(_value)]] = {}
    priority: Priority | None = None

    @model_validator(mode="after")
    def _default_matches_nothing(self) -> Self:
        if self.default_action and (self.match or self.priority):
            raise PydanticCustomError("wanted", "a default action has no match and no priority")
        return self


class Replica(Form):
    """A copy that a multicast group or clone session sends to `egress_port`."""

    egress_port: EgressPort
    instance: Instance = 0


class MulticastGroup(Form):
    """A multicast group's copies."""

    multicast_group_id: GroupNumber
    replicas: list[Replica]


class CloneSession(Form):
    """A clone session's copies."""

    clone_session_id: SessionNumber
    replicas: list[Replica]
    packet_length_bytes: Annotated[int, AfterValidator(_whole)] = 0


class Runtime(Form):
    """An sN-runtime.json."""

    target: Literal["bmv2"] = "bmv2"
    p4info: Line | None = None
    bmv2_json: FileName | None = None
    table_entries: list[TableEntry] = []
    multicast_group_entries: list[MulticastGroup] = []
    clone_session_entries: list[CloneSession] = []


F = TypeVar("F", bound=Form)


def read(path: Path, form: type[F]) -> F:
    """Read a file of that form; UserError names file, member, value and what was wanted."""
    document = read_json(path)
    try:
        return form.model_validate(document)
    except ValidationError as error:
        found = error.errors(include_url=False)
        more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        raise UserError(f"{path}: {_told(found[0])}{more}") from None


def place(*parts: str | int) -> str:
    """Name a member of a JSON document as JavaScript would: table_entries[2].priority."""
    said = ""
    for part in parts:
        if isinstance(part, int):
            said += f"[{part}]"
        elif re.fullmatch(r"\w+", part):
            said += f".{part}" if said else part
        else:
            said += f"[{json.dumps(part)}]"
    return said


def shown(value: object) -> str:
    """Write a value as JSON, cut to what fits a line."""
    text = json.dumps(value, default=str)
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 3]}..."


def _told(error: ErrorDetails) -> str:
    where = place(*error["loc"])
    if error["type"] == "missing":
        return f"{where} is missing"
    if error["type"] == "unknown":
        return f"{where}: {error['msg']}" if where else error["msg"]
    kind = _KINDS.get(error["type"])
    wanted = f"it should be {kind}" if kind else error["msg"].replace("Input should", "it should")
    return f"{where} is {shown(error['input'])}; {wanted}" if where else wanted


def wrong(path: Path, parts: Sequence[str | int], value: object, wanted: str) -> UserError:
    """Return the error of a member whose form is right, but whose value cannot be used."""
    return UserError(f"{path}: {place(*parts)} is {shown(value)}; {wanted}")
