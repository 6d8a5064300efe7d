"""`python -m icct VERB ...` is `icct VERB ...`, where the command itself is not on the path."""

import sys

from icct.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
