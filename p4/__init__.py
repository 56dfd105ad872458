"""P4 programs, their compiler to BMv2 JSON, and their engine in C."""
