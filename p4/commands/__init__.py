"""The subcommands of `python -m p4`: one module each, loaded when it is called.

A module has `add_arguments(parser)` and `run(arguments)`, which returns the exit code.
"""

COMMANDS = {
    "compile": "compile a P4 program to BMv2 JSON",
}
