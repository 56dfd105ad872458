"""Chakra execution traces (MLCommons): a file a rank, `NAME.RANK.et`."""
