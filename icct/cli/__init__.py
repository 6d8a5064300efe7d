"""The command line: `main.py` chooses the verb, then one thin file per verb."""
