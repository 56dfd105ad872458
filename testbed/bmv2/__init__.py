"""BMv2's simple_switch: the reference switch, as a world of its own and as a yardstick."""
