"""Work that takes long: pieces of it, each a run folder and commands, and who does them here."""
