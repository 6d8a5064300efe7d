"""Execute the tutorials in a clean folder, with a real kernel, and keep their output.

python docs/site/notebooks.py [NAME ...]       default: all; prints how long each took
python docs/site/notebooks.py --dry-run        execute, but leave the files as they are
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).parents[1] / "tutorials"
LONGEST_S = 300


def main() -> int:
    """Execute what was asked for; return 1 where one takes too long."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="of tutorials (default: all)")
    parser.add_argument("--dry-run", action="store_true", help="do not write the files")
    options = parser.parse_args()
    late = 0
    for file in sorted(FOLDER.glob("*.ipynb")):
        if options.names and file.stem not in options.names:
            continue
        notebook, seconds = executed(file)
        late += seconds > LONGEST_S
        print(f"{file.stem}: {seconds:.0f} s", flush=True)
        if not options.dry_run:
            nbformat.write(notebook, file)
    return 1 if late else 0


def executed(file: Path) -> tuple[nbformat.NotebookNode, float]:
    """Return a notebook with its output, and the seconds that took; an error in it is raised."""
    notebook = nbformat.read(file, as_version=4)
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as place:
        client = NotebookClient(
            notebook, timeout=2 * LONGEST_S, resources={"metadata": {"path": place}}
        )
        client.execute()
    for cell in notebook.cells:  # not when and where
        cell.metadata.pop("execution", None)
    return notebook, time.monotonic() - began


if __name__ == "__main__":
    sys.exit(main())
