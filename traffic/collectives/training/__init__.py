"""A training step: forward and backward passes of one or several jobs on one network."""
