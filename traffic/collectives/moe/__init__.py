"""Mixture-of-experts traffic (paper §6.6): who routes tokens where, and the messages it takes."""
