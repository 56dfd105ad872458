"""`run.py collectives`: rings against trees, from 8 B to 1 GB."""
