"""How a tree is trained. Needs torch; nothing outside this folder does."""
