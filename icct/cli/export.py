"""`icct export POLICY --to TARGET -o FILE`: the same controller as code, model or figure."""

import argparse
from pathlib import Path

from icct.cli.inputs import keep_inputs
from icct.errors import ConfigError
from icct.files import Files, write_together
from icct.policy import Policy
from icct.zoo import load_policy

TARGETS = ("c", "python", "onnx", "dot", "latex", "json-schema")
WITH_PRECISION = ("c", "onnx")

EXAMPLES = """examples:
  icct export zoo:ring-cruiser --to c -o cruiser.c              also writes cruiser.h
  icct export zoo:ring-cruiser --to c --precision float --main -o cruiser.c
  icct export zoo:ring-cruiser --to python -o cruiser.py        needs nothing but Python
  icct export zoo:ring-cruiser --to onnx -o cruiser.onnx        opset 17, any batch size
  icct export zoo:ring-cruiser --to dot -o cruiser.dot
  icct export zoo:ring-cruiser --to latex -o cruiser.tex
  icct export zoo:ring-cruiser --to json-schema -o cruiser.schema.json
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of this verb."""
    parser.add_argument("policy", help="a policy file, or zoo:NAME")
    parser.add_argument("--to", required=True, choices=TARGETS, help="what to write")
    parser.add_argument(
        "--precision",
        choices=("double", "float"),
        help="of the numbers in C and ONNX (default double)",
    )
    parser.add_argument(
        "--main", action="store_true", help="with C: also a program that reads observations"
    )
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help="the new file")


def run(options: argparse.Namespace) -> int:
    """Export, write, and print the names of the files."""
    if options.precision and options.to not in WITH_PRECISION:
        raise ConfigError(f"--precision is for {' and '.join(WITH_PRECISION)}, not {options.to}.")
    if options.main and options.to != "c":
        raise ConfigError(f"--main is for c, not {options.to}.")
    keep_inputs(options.output, options.policy, force=None)
    policy = load_policy(options.policy)
    files = exported(policy, Path(options.output), options)
    write_together(files)
    print(*files, sep="\n")
    return 0


def exported(policy: Policy, path: Path, options: argparse.Namespace) -> Files:
    """Return the files to write."""
    from icct import export
    from icct.export.precision import Precision

    precision: Precision = options.precision or "double"
    if options.to == "c":
        if path.suffix != ".c":
            raise ConfigError(f"{path}: expected a file that ends in .c; the .h is put beside it.")
        files = export.export_c(policy, path.stem, precision)
        if files.name != path.stem:
            raise ConfigError(
                f"{path.name}: the file's name becomes a name in C; try {files.name}.c."
            )
        written: Files = {
            path.with_suffix(".h"): files.header,
            path: files.source,
        }
        if options.main:
            written[path.with_name(f"{path.stem}_main.c")] = files.main
        return written
    if options.to == "onnx":
        return {path: export.export_onnx(policy, precision)}
    function = {
        "python": export.export_python,
        "dot": export.export_dot,
        "latex": export.export_latex,
        "json-schema": export.export_json_schema,
    }[options.to]
    return {path: function(policy)}
