"""Collectives and patterns, one file each: what is asked for in, flows out."""
