"""A switch's prompt, in the style of simple_switch_CLI."""
