"""Readable controllers: small decision trees with a sparse linear rule in each leaf."""
