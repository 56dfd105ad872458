"""The fifth pass: a checked program to what BMv2 has names for.

Controls, parsers, functions and actions are inlined, structs taken apart, generics bound, loops
unrolled, and constants folded. What remains is in `flat`.
"""

from pathlib import Path

from p4.compiler import flat, fold, places, tree
from p4.compiler import types as t
from p4.compiler.diagnostics import Diagnostics, Position
from p4.compiler.lower_base import Frame
from p4.compiler.lower_parsers import ParserLowering
from p4.compiler.model import Checked
from p4.compiler.storage import Storage

STANDARD_METADATA = "standard_metadata"
USER_METADATA = "userMetadata"


def lower(checked: Checked, diagnostics: Diagnostics, path: Path) -> flat.Program:
    """Lower a checked program; what v1model or BMv2 does not have goes to `diagnostics`."""
    return Lowering(checked, diagnostics, path).lower()


class Lowering(ParserLowering):
    """A whole program: the blocks of v1model's package."""

    def __init__(self, checked: Checked, diagnostics: Diagnostics, path: Path) -> None:
        super().__init__(checked, diagnostics, path)
        self._globals = self._frame
        self._arrays = {}
        self._profiles = {}
        self._metadata: places.Place | None = None

    def lower(self) -> flat.Program:
        """Lower the six blocks in the order in which a packet meets them."""
        main = self._checked.main
        if main is None:
            raise self._diagnostics.fail(
                self._checked.program.at,
                "there is no package named main",
                "end the program with V1Switch(…) main;",
            )
        self._global_instances()
        blocks = self._blocks(main)
        self.program.errors = dict(self._checked.errors)
        self._enums()
        arguments = self._allocate(blocks[0])
        self._attempt(lambda: self._parser_block(blocks[0], arguments))
        self._attempt(lambda: self._checksums(blocks[1], arguments[:2], "checksum verification"))
        self._attempt(lambda: self._pipeline(blocks[2], arguments, "ingress"))
        self._attempt(lambda: self._pipeline(blocks[3], arguments, "egress"))
        self._attempt(lambda: self._checksums(blocks[4], arguments[:2], "checksum update"))
        self._attempt(lambda: self._deparser(blocks[5], arguments[0]))
        self._check_headers()
        return self.program

    # The package

    def _blocks(self, main: tree.Instance) -> list[places.Object]:
        call = self._checked.calls[main]  # type: ignore[index]
        if call.name != "V1Switch":
            raise self._unsupported(main.at, f"package {call.name}", "only v1model's V1Switch is")
        blocks: list[places.Object] = []
        for _, value in call.arguments:
            place = self._place(value) if value is not None else None
            if not isinstance(place, places.Object):
                raise self._unsupported(main.at, "this argument of V1Switch")
            blocks.append(place)
        wanted = (tree.Parser, *(tree.Control,) * 5)
        declarations = [block.type.declaration for block in blocks]
        if len(declarations) != len(wanted) or not all(map(isinstance, declarations, wanted)):
            raise self._unsupported(main.at, "a V1Switch of other blocks than v1model's")
        return blocks

    def _global_instances(self) -> None:
        for declaration in self._checked.program.declarations:
            if isinstance(declaration, tree.Instance) and declaration is not self._checked.main:
                self._instance(declaration)

    def _enums(self) -> None:
        for type_ in self._checked.declared.values():
            if isinstance(type_, t.Enumeration) and type_.underlying is None:
                entries = tuple((member, index) for index, member in enumerate(type_.members))
                if (type_.name, entries) not in self.program.enums:
                    self.program.enums.append((type_.name, entries))

    def _allocate(self, block: places.Object) -> list[places.Place]:
        """Make room for the headers, the user's metadata and the standard metadata."""
        declaration = block.type.declaration
        assert isinstance(declaration, tree.Parser)
        types = [self._checked.declared[parameter] for parameter in declaration.arguments]
        if len(types) != 4:
            raise self._diagnostics.fail(block.at, "V1Switch's parser takes four parameters")
        bindings = dict(zip(declaration.parameters, block.type.arguments, strict=True))
        headers, metadata, standard = (t.substitute(type_, bindings) for type_ in types[1:])
        storage = self._storage
        standard_place = self._allocate_standard(standard, storage)
        headers_place: places.Place
        if isinstance(headers, t.Record) and headers.kind == "struct":
            parts = {name: storage.allocate(part, name) for name, part in headers.fields}
            headers_place = places.Struct(headers, parts)
        else:
            headers_place = storage.allocate(headers, "hdr")
        self._metadata = storage.allocate(metadata, USER_METADATA)
        return [headers_place, self._metadata, standard_place]

    def _allocate_standard(self, type_: t.Type, storage: Storage) -> places.Place:
        assert isinstance(type_, t.Record)
        shape = storage.header_type(type_)
        self.program.header_types[STANDARD_METADATA] = self.program.header_types.pop(shape)
        self.program.header_types[STANDARD_METADATA].name = STANDARD_METADATA
        name = storage.unique(STANDARD_METADATA)
        self.program.headers.append(flat.Instance(name, STANDARD_METADATA, metadata=True))
        fields: dict[str, places.Place] = {
            field: flat.Field(name, field, t.base(part)) for field, part in type_.fields
        }
        self._aliases(type_, fields)
        return places.Struct(type_, fields)

    def _aliases(self, type_: t.Record, fields: dict[str, places.Place]) -> None:
        declaration = self._composite(type_.name)
        for field in declaration.fields if declaration else ():
            alias = tree.annotation(field, "alias")
            place = fields[field.name]
            if alias and isinstance(place, flat.Field):
                self.program.aliases.append((str(alias.arguments[0]), place))

    def _composite(self, name: str) -> tree.Composite | None:
        for declaration in self._checked.program.declarations:
            if isinstance(declaration, tree.Composite) and declaration.name == name:
                return declaration
        return None

    def _tagged(self, index: int) -> list[flat.Value]:
        found: list[flat.Value] = []
        if isinstance(self._metadata, places.Struct):
            self._tagged_in(self._metadata, index, found)
        return found

    def _tagged_in(self, place: places.Struct, index: int, found: list[flat.Value]) -> None:
        name = place.type.name if isinstance(place.type, t.Record) else ""
        declaration = self._composite(name)
        for field in declaration.fields if declaration else ():
            part = place.parts[field.name]
            tag = tree.annotation(field, "field_list")
            if tag and index in self._annotation_numbers(tag):
                found.extend(self._flatten(part, field.at))
            elif isinstance(part, places.Struct):
                self._tagged_in(part, index, found)

    def _annotation_numbers(self, tag: tree.Annotation) -> set[int]:
        """Return the numbers in an annotation, written as such or as members of enums."""
        text = ",".join(str(each) for each in tag.arguments).replace(",.,", ".")
        found: set[int] = set()
        for word in text.split(","):
            owner, _, member = word.partition(".")
            declarations = self._checked.declared.items()
            types = [type_ for key, type_ in declarations if key.name == owner]
            if word.isdigit():
                found.add(int(word))
            for type_ in types:
                if isinstance(type_, t.Enumeration) and member in type_.members:
                    place = type_.members.index(member)
                    found.add(type_.values[place] if type_.values else place)
            constants = [
                key.value
                for key, _ in declarations
                if key.name == word and isinstance(key, tree.Constant)
            ]
            found.update(
                self._checked.constants[value]
                for value in constants
                if value in self._checked.constants
            )
        return found

    # Blocks

    def _run(self, block: places.Object, arguments: list[places.Place]) -> flat.Code:
        """Return the code of a block that is given these arguments."""
        declaration = block.type.declaration
        assert isinstance(declaration, tree.Parser | tree.Control)
        frame = Frame(
            self._globals,
            block.name,
            dict(zip(declaration.parameters, block.type.arguments, strict=True)),
            owner=declaration,
        )
        frame.bindings.update(block.bindings)
        given = arguments
        if len(declaration.arguments) > len(arguments):
            packet = places.Object(self._packet_type(declaration), "packet", block.at)
            given = [packet, *arguments]
        if len(given) != len(declaration.arguments):
            raise self._diagnostics.fail(
                declaration.at, f"{declaration.name} does not have the parameters of its block"
            )
        frame.bindings.update(zip(declaration.arguments, given, strict=True))
        self._pipeline_exit = self._label()
        self._frame = Frame(self._globals, "", exit=self._pipeline_exit)
        code = self._capture(lambda: self._run_in(frame, declaration, declaration.at))
        whole = self._capture(lambda: self._labelled(self._pipeline_exit, code))
        self._frame = self._globals
        return whole

    def _run_in(self, frame: Frame, declaration: tree.Parser | tree.Control, at: Position) -> None:
        if isinstance(declaration, tree.Control):
            self._inline(frame, lambda: self._control_body(declaration), [], at)
        else:
            self._inline(frame, lambda: self._apply_parser(frame, declaration, at), [], at)

    def _packet_type(self, declaration: tree.Parser | tree.Control) -> t.Object:
        type_ = self._checked.declared[declaration.arguments[0]]
        assert isinstance(type_, t.Object)
        return type_

    def _parser_block(self, block: places.Object, arguments: list[places.Place]) -> None:
        self._region = "parser"
        code = self._run(block, arguments)
        self.program.parser_at = block.type.declaration.at
        self.program.parser = (flat.State("", code, (), (flat.Case(None, None, None, "accept"),)),)

    def _pipeline(self, block: places.Object, arguments: list[places.Place], name: str) -> None:
        self._region = name
        code = self._run(block, arguments)
        self.program.pipelines.append(flat.Pipeline(name, code, block.type.declaration.at))

    def _checksums(self, block: places.Object, arguments: list[places.Place], name: str) -> None:
        self._region = name
        self._conditions(self._run(block, arguments), fold.TRUE, name)

    def _conditions(self, code: flat.Code, condition: flat.Value, name: str) -> None:
        """Give each checksum the condition under which the block reaches it."""
        for statement in code:
            match statement:
                case flat.Do(primitive="checksum", parameters=(flat.Text(text=text),)):
                    self._add_condition(text, condition)
                case flat.If():
                    yes = fold.join([condition, statement.condition])
                    no = fold.join([condition, fold.unary("!", statement.condition)])
                    self._conditions(statement.yes, yes, name)
                    self._conditions(statement.no, no, name)
                case flat.Labelled():
                    self._conditions(statement.body, condition, name)
                case _:
                    at = statement.at
                    self._diagnostics.error(
                        at, f"unsupported: anything but checksums in the {name}"
                    )

    def _add_condition(self, name: str, condition: flat.Value) -> None:
        for index, checksum in enumerate(self.program.checksums):
            if checksum.name == name:
                both = fold.join([condition, checksum.condition])
                self.program.checksums[index] = flat.Checksum(
                    name,
                    checksum.target,
                    checksum.calculation,
                    checksum.update,
                    both,
                    checksum.at,
                )

    def _deparser(self, block: places.Object, headers: places.Place) -> None:
        self._region = "deparser"
        declaration = block.type.declaration
        self.program.deparser_at = declaration.at
        order: list[str] = []
        for statement in self._run(block, [headers]):
            match statement:
                case flat.Do(primitive="emit", parameters=(flat.Reference(name=name),)):
                    order.append(name)
                case flat.Assign() if statement.target.header == flat.SCALARS:
                    continue
                case _:
                    at = (
                        statement.at if not isinstance(statement, flat.Labelled) else declaration.at
                    )
                    self._diagnostics.error(
                        at,
                        "unsupported: anything but emit in a deparser",
                        "set the headers valid or invalid in egress instead",
                    )
        self.program.deparser = tuple(order)

    def _check_headers(self) -> None:
        """Refuse headers that do not end on a byte."""
        for instance in self.program.headers:
            shape = self.program.header_types[instance.type]
            bits = sum(t.width(type_, greatest=True) or 0 for _, type_ in shape.fields)
            if not instance.metadata and bits % 8:
                declaration = self._composite(shape.name)
                at = declaration.at if declaration else self._checked.program.at
                self._diagnostics.error(
                    at,
                    f"unsupported: header {shape.name} has {bits} bits",
                    "a header's fields add up to whole bytes",
                )
