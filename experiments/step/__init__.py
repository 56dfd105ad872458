"""`run.py step`: what schemes add to a training step."""
