"""The subcommands of `python -m p4`: one module each, loaded when it is called.

A module has `add_arguments(parser)` and `run(arguments)`, which returns the exit code.
"""

COMMANDS = {
    "compile": "compile a P4 program to BMv2 JSON",
    "c": "translate a P4 program or its BMv2 JSON to C",
    "stf": "run STF scripts on a P4 program",
    "run": "run a P4 program as a software switch on interfaces",
}
