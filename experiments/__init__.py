"""The command line, and one short file per figure: the only room that knows all others."""
