"""The three traffic tasks on SUMO, run inside this process by libsumo."""
