"""The emulated world: a plan run in real time on a Mininet network."""
