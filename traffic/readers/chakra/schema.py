"""The messages of a Chakra trace, as far as they are read here: protobuf skips all else."""

from __future__ import annotations

import functools
from typing import Any

from errors import UserError

PACKAGE = "ofan.chakra"
ONE_OF = "_val"  # an attribute has one of these fields
FIELDS: dict[str, tuple[tuple[str, int, str, bool], ...]] = {
    "GlobalMetadata": (("version", 1, "STRING", False),),
    "Attribute": (
        ("name", 1, "STRING", False),
        ("double_val", 3, "DOUBLE", False),
        ("float_val", 5, "FLOAT", False),
        ("int32_val", 7, "INT32", False),
        ("int64_val", 9, "INT64", False),
        ("uint32_val", 11, "UINT32", False),
        ("uint64_val", 13, "UINT64", False),
        ("sint32_val", 15, "SINT32", False),
        ("sint64_val", 17, "SINT64", False),
        ("fixed32_val", 19, "FIXED32", False),
        ("fixed64_val", 21, "FIXED64", False),
        ("sfixed32_val", 23, "SFIXED32", False),
        ("sfixed64_val", 25, "SFIXED64", False),
        ("bool_val", 27, "BOOL", False),
        ("string_val", 29, "STRING", False),
    ),
    "Node": (
        ("id", 1, "UINT64", False),
        ("name", 2, "STRING", False),
        ("type", 3, "INT32", False),
        ("ctrl_deps", 4, "UINT64", True),
        ("data_deps", 5, "UINT64", True),
        ("duration_micros", 7, "UINT64", False),
        ("attr", 10, "Attribute", True),
    ),
}
"""Names, numbers and types of fields, and whether they are repeated: those of et_def.proto."""


@functools.cache
def messages() -> dict[str, Any]:
    """Return the message classes by name; raises UserError without the protobuf library."""
    try:
        from google.protobuf import (  # noqa: PLC0415 - an optional extra
            descriptor_pb2,
            descriptor_pool,
            message_factory,
        )
    except ImportError:
        raise UserError(
            "Chakra traces need the protobuf library: .venv/bin/python -m pip install protobuf"
        ) from None
    file = descriptor_pb2.FileDescriptorProto(
        name="ofan/chakra.proto", package=PACKAGE, syntax="proto3"
    )
    kinds = descriptor_pb2.FieldDescriptorProto
    for name, fields in FIELDS.items():
        message = file.message_type.add(name=name)
        for field, number, kind, repeated in fields:
            added = message.field.add(name=field, number=number)
            added.label = kinds.LABEL_REPEATED if repeated else kinds.LABEL_OPTIONAL
            if kind in FIELDS:
                added.type, added.type_name = kinds.TYPE_MESSAGE, f".{PACKAGE}.{kind}"
            else:
                added.type = kinds.Type.Value(f"TYPE_{kind}")
            if field.endswith(ONE_OF):
                added.oneof_index = 0
        if any(field.endswith(ONE_OF) for field, *_ in fields):
            message.oneof_decl.add(name="value")
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return {
        name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{PACKAGE}.{name}"))
        for name in FIELDS
    }
