"""The prompt's commands on registers, counters and meters."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from p4.codegen.symbols import find
from p4.console.values import ConsoleError, parse_number

if TYPE_CHECKING:
    from p4.codegen.symbols import ArrayInfo, MeterInfo
    from p4.engine import Switch


class ArrayCommands:
    """Registers, counters and meters."""

    def __init__(self, switch: Switch) -> None:
        self.switch = switch
        self._symbols = switch.program.symbols

    def _cells(self, array: ArrayInfo | MeterInfo) -> list[int]:
        """Return the indices of an array's cells; those of a direct one are entry handles."""
        if array.table is not None:
            return [entry.handle for entry in self.switch.table_entries(array.table)]
        return list(range(array.size))

    def do_register_read(self, name: str, index: str = "") -> str:
        """Usage: register_read REGISTER [INDEX]."""
        found = find(self._symbols.registers, name, "register")
        if index:
            value = self.switch.register_read(found.name, parse_number(index))
            return f"{found.name}[{index}]= {value}"
        values = self.switch.register_read(found.name)
        return f"{found.name}= {', '.join(map(str, values))}"

    def do_register_write(self, name: str, index: str, value: str) -> str:
        """Usage: register_write REGISTER INDEX VALUE."""
        self.switch.register_write(name, parse_number(index), parse_number(value))
        return ""

    def do_register_reset(self, name: str) -> str:
        """Usage: register_reset REGISTER."""
        self.switch.register_write(name, None, 0)
        return ""

    def do_counter_read(self, name: str, index: str) -> str:
        """Usage: counter_read COUNTER INDEX."""
        packets, size = self.switch.counter_read(name, parse_number(index))
        return f"{name}[{index}]= ({packets} packets, {size} bytes)"

    def do_counter_write(self, name: str, index: str, packets: str, size: str) -> str:
        """Usage: counter_write COUNTER INDEX PACKETS BYTES."""
        self.switch.counter_write(
            name, parse_number(index), parse_number(packets), parse_number(size)
        )
        return ""

    def do_counter_reset(self, name: str) -> str:
        """Usage: counter_reset COUNTER."""
        found = find(self._symbols.counters, name, "counter")
        for index in self._cells(found):
            self.switch.counter_write(found.name, index, 0, 0)
        return ""

    def do_meter_set_rates(self, name: str, index: str, *rates: str) -> str:
        """Usage: meter_set_rates METER INDEX RATE:BURST [RATE:BURST] (per microsecond)."""
        self.switch.meter_set(name, parse_number(index), [_rate(text) for text in rates])
        return ""

    def do_meter_array_set_rates(self, name: str, *rates: str) -> str:
        """Usage: meter_array_set_rates METER RATE:BURST [RATE:BURST]."""
        found = find(self._symbols.meters, name, "meter")
        pairs = [_rate(text) for text in rates]
        for index in self._cells(found):
            self.switch.meter_set(found.name, index, pairs)
        return ""

    def do_meter_get_rates(self, name: str, index: str) -> str:
        """Usage: meter_get_rates METER INDEX."""
        rates = self.switch.meter_rates(name, parse_number(index))
        return "\n".join(f"{rate:g} {burst:g}" for rate, burst in rates) or "not set"


def _rate(text: str) -> tuple[float, float]:
    rate, colon, burst = text.partition(":")
    try:
        numbers = float(rate), float(burst if colon else "")
    except ValueError:
        raise ConsoleError(f"`{text}` is not RATE:BURST") from None
    if not all(math.isfinite(number) and number >= 0 for number in numbers):
        raise ConsoleError(f"`{text}`: rate and burst are numbers from 0")
    return numbers
