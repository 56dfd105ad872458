"""The fifth pass, part three: assignments between places of every shape."""

from collections.abc import Callable

from p4.compiler import flat, fold, places
from p4.compiler import types as t
from p4.compiler.diagnostics import Position
from p4.compiler.lower_expressions import ExpressionLowering


class AssignmentLowering(ExpressionLowering):
    """Assignments. Aggregates are copied part by part where BMv2 has no primitive for them."""

    def _assign(  # noqa: C901
        self, target: places.Place, source: places.Place, at: Position
    ) -> None:
        if isinstance(source, places.Choice) and not t.is_scalar(source.type):
            self._by_index(source, lambda each: self._assign(target, each, at), at)
            return
        match target:
            case places.Choice():
                kept = self._kept(source, at) if _is_computed(source) else source
                self._by_index(target, lambda each: self._assign(each, kept, at), at)
            case places.Bits():
                self._assign_bits(target, self._read(source, at), at)
            case places.Struct():
                self._assign_parts(target, source, at)
            case places.Header():
                self._assign_header(target, source, at)
            case places.Union():
                self._assign_union(target, source, at)
            case places.Stack():
                self._assign_stack(target, source, at)
            case places.Varbit():
                self._assign_varbit(target, source, at)
            case flat.Field():
                value = self._read(source, at)
                if value != target:
                    self._emit(flat.Assign(target, value, at))
            case _:
                raise self._unsupported(at, "an assignment to this")

    def _by_index(
        self, choice: places.Choice, each: Callable[[places.Place], None], at: Position
    ) -> None:
        """Emit code for whichever place the index selects; none if it is out of range."""
        code: flat.Code = ()
        for index in range(len(choice.places) - 1, -1, -1):
            place = choice.places[index]
            body = self._capture(lambda place=place: each(place))  # type: ignore[misc]
            here = fold.number(index, choice.index.type)
            condition = fold.binary("==", choice.index, here, t.BOOL)
            code = self._capture(
                lambda condition=condition, body=body, code=code: self._if(  # type: ignore[misc]
                    condition, body, code, at
                )
            )
        self._code.extend(code)

    def _assign_bits(self, target: places.Bits, value: flat.Value, at: Position) -> None:
        """Set a slice: keep the bits around it."""
        place = target.place
        if isinstance(place, places.Choice):
            value = self._save(value, at)
            self._by_index(
                place,
                lambda each: self._assign_bits(
                    places.Bits(each, target.high, target.low), value, at
                ),
                at,
            )
            return
        whole = self._read(place, at)
        bits = t.base(whole.type)
        assert isinstance(bits, t.Bits)
        unsigned = t.Bits(bits.width)
        mask = ((1 << (target.high - target.low + 1)) - 1) << target.low
        around = fold.binary(
            "&", fold.cast(whole, unsigned), fold.number(~mask, unsigned), unsigned
        )
        narrow = fold.cast(value, t.Bits(target.high - target.low + 1))
        amount = fold.number(target.low, t.Bits(32))
        moved = fold.binary("<<", fold.cast(narrow, unsigned), amount, unsigned)
        joined = fold.binary("|", around, moved, unsigned)
        self._assign(place, fold.cast(joined, bits), at)

    def _assign_parts(self, target: places.Struct, source: places.Place, at: Position) -> None:
        if not isinstance(source, places.Struct | places.HeaderLiteral):
            raise self._unsupported(at, "an assignment of this to a struct")
        values = list(source.parts.values())
        targets = list(target.parts.values())
        if self._disturbs(targets, values):
            values = [self._kept(value, at) for value in values]
        for part, value in zip(targets, values, strict=True):
            self._assign(part, value, at)

    @staticmethod
    def _disturbs(targets: list[places.Place], values: list[places.Place]) -> bool:
        """Tell whether assigning in order would change a value before its turn."""
        for index, target in enumerate(targets):
            written = places.storage(target)
            later = values[index + 1 :]
            if written and any(places.overlap(written, places.storage(each)) for each in later):
                return True
        return False

    def _assign_header(self, target: places.Header, source: places.Place, at: Position) -> None:
        reference = flat.Reference("header", target.name)
        match source:
            case places.Header():
                if source.name != target.name:
                    self._do("assign_header", at, reference, flat.Reference("header", source.name))
            case places.HeaderLiteral() if source.valid == fold.FALSE:
                self._do("remove_header", at, reference)
            case places.HeaderLiteral():
                self._assign_header_fields(target, source, at)
            case places.StackEnd():
                fields = {name: self._member_of(source, name, at) for name, _ in target.type.fields}
                literal = places.HeaderLiteral(target.type, fold.TRUE, fields)
                self._assign_header_fields(target, literal, at)
            case _:
                raise self._unsupported(at, "an assignment of this to a header")

    def _assign_header_fields(
        self, target: places.Header, source: places.HeaderLiteral, at: Position
    ) -> None:
        fields = [self._member_of(target, name, at) for name, _ in target.type.fields]
        values = [self._member_of(source, name, at) for name, _ in target.type.fields]
        own = places.storage(target)
        if any(places.overlap(own, places.storage(value)) for value in values):
            values = [self._kept(value, at) for value in values]
        self._do("add_header", at, flat.Reference("header", target.name))
        for place, value in zip(fields, values, strict=True):
            self._assign(place, value, at)

    def _assign_union(self, target: places.Union, source: places.Place, at: Position) -> None:
        match source:
            case places.Union():
                if source.name != target.name:
                    self._do(
                        "assign_union",
                        at,
                        flat.Reference("header_union", target.name),
                        flat.Reference("header_union", source.name),
                    )
            case places.HeaderLiteral():
                for member in target.members:
                    self._do("remove_header", at, flat.Reference("header", member.name))
            case _:
                raise self._unsupported(at, "an assignment of this to a header union")

    def _assign_stack(self, target: places.Stack, source: places.Place, at: Position) -> None:
        match source:
            case places.Stack():
                union = isinstance(target.elements[0], places.Union)
                kind = "header_union_stack" if union else "header_stack"
                primitive = "assign_union_stack" if union else "assign_header_stack"
                if source.name != target.name:
                    self._do(
                        primitive,
                        at,
                        flat.Reference(kind, target.name),
                        flat.Reference(kind, source.name),
                    )
            case places.Struct() | places.HeaderLiteral():
                values = list(source.parts.values())
                if self._disturbs(list(target.elements), values):
                    values = [self._kept(value, at) for value in values]
                for element, value in zip(target.elements, values, strict=True):
                    self._assign(element, value, at)
            case _:
                raise self._unsupported(at, "an assignment of this to a stack")

    def _assign_varbit(self, target: places.Varbit, source: places.Place, at: Position) -> None:
        if not isinstance(source, places.Varbit):
            raise self._unsupported(at, "an assignment of this to a varbit field")
        self._do(
            "assign_VL",
            at,
            flat.Field(target.header, target.name, target.type),
            flat.Field(source.header, source.name, source.type),
        )

    def _invalidate(self, place: places.Place, at: Position) -> None:
        """Make the headers in a new variable invalid."""
        match place:
            case places.Header():
                self._do("remove_header", at, flat.Reference("header", place.name))
            case places.Struct():
                for part in place.parts.values():
                    self._invalidate(part, at)
            case places.Union():
                for member in place.members:
                    self._invalidate(member, at)
            case places.Stack():
                for element in place.elements:
                    self._invalidate(element, at)


def _is_computed(place: places.Place) -> bool:
    return isinstance(place, flat.Operation | places.Choice | places.Bits)
