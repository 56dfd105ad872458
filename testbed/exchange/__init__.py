"""Networks of others as input, and ours as theirs: p4lang tutorials in, p4-utils out."""
