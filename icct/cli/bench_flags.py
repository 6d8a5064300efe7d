"""Flags that several kinds of `icct bench` share."""

import argparse
import os
from pathlib import Path


def add_run(parser: argparse.ArgumentParser) -> None:
    """Declare the run folder that is read."""
    parser.add_argument("run", type=Path, help="the folder of a finished run")


def add_results(parser: argparse.ArgumentParser) -> None:
    """Declare where records are."""
    parser.add_argument(
        "--results", type=Path, default=Path("results"), help="folder of the records (results)"
    )


def add_workers(parser: argparse.ArgumentParser) -> None:
    """Declare how many processes play."""
    parser.add_argument(
        "--workers",
        type=int,
        default=len(os.sched_getaffinity(0)),
        help="processes that play episodes (default: as many as there are cores)",
    )
