"""Figures fit to print: one file for each kind, all in one style."""
