"""Policy → source text or model file, one module per target; each is the same controller."""

from icct.export.c import CFiles, export_c
from icct.export.dot import export_dot
from icct.export.json_schema import export_json_schema
from icct.export.latex import export_latex
from icct.export.onnx import export_onnx
from icct.export.python import export_python

__all__ = [
    "CFiles",
    "export_c",
    "export_dot",
    "export_json_schema",
    "export_latex",
    "export_onnx",
    "export_python",
]
