"""Whatever a policy file calls things, every export stays valid and harmless."""

import json
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

from icct.draw import draw, write_figure
from icct.errors import PolicyError
from icct.export import (
    export_c,
    export_dot,
    export_json_schema,
    export_latex,
    export_onnx,
    export_python,
)
from icct.policy import Feature, Policy
from icct.policy.file import policy_to_json
from tests.export.compiled import needs, run_c, run_onnx, run_python
from tests.export.hostile import KEYWORDS, NASTY, hostile_policy

OBSERVATIONS = np.random.default_rng(0).uniform(-1, 1, size=(50, len(KEYWORDS) + 1))


@pytest.fixture(scope="module")
def policy() -> Policy:
    return hostile_policy()


@pytest.mark.parametrize("text", ["a b", "*/", "x\ny", "é", "", "1a", "a" * 5 + "\x00"])
def test_names_that_no_language_takes_are_refused(text: str) -> None:
    with pytest.raises(PolicyError, match="letters, digits"):
        Feature(text)


def test_text_of_several_lines_is_refused() -> None:
    with pytest.raises(PolicyError, match="one line"):
        Feature("x", unit="m\n*/")


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("precision", ["double", "float"])
def test_c(policy: Policy, compiler: str, precision: str, tmp_path: Path) -> None:
    leaves, _ = run_c(policy, OBSERVATIONS, tmp_path, compiler, precision)
    assert set(leaves) == {1, 3, 4}
    files = export_c(policy, "hostile")
    for text in (files.header, files.source, files.main):
        assert text.isascii()
        assert max(map(len, text.splitlines())) < 4000  # C99 promises 4095
        outside = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
        assert not re.search(r"script|passwd|/\*|\*/", outside)


def test_python(policy: Policy) -> None:
    text = export_python(policy)
    leaves, actions = run_python(text.encode(), OBSERVATIONS)  # bytes: the encoding counts
    assert np.array_equal(leaves, policy.leaves_of(OBSERVATIONS))
    assert np.allclose(actions, policy.act_batch(OBSERVATIONS))


def test_onnx(policy: Policy) -> None:
    leaves, _ = run_onnx(export_onnx(policy), OBSERVATIONS)
    assert np.array_equal(leaves, policy.leaves_of(OBSERVATIONS))


def test_dot(policy: Policy, tmp_path: Path) -> None:
    command = [needs("dot"), "-Tsvg", "-Gfontname=sans"]
    result = subprocess.run(
        command, input=export_dot(policy).encode(), capture_output=True, check=True
    )
    assert b"syntax" not in result.stderr
    assert result.stdout.count(b'class="node"') == 5
    assert b"<script" not in result.stdout


def test_latex(policy: Policy, tmp_path: Path) -> None:
    latex = needs("pdflatex")
    text = export_latex(policy)
    assert text.isascii()
    assert r"\input" not in re.sub("^%.*$", "", text, flags=re.M)
    (tmp_path / "tree.tex").write_text(text, encoding="ascii")
    command = [latex, "-no-shell-escape", "-interaction=nonstopmode", "-halt-on-error", "tree.tex"]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    if "standalone.cls' not found" in result.stdout or "tikz.sty' not found" in result.stdout:
        pytest.skip("the LaTeX packages standalone and tikz are not installed")
    assert result.returncode == 0, result.stdout[-2000:]
    assert "Missing character" not in (tmp_path / "tree.log").read_text(errors="replace")


def test_json_schema(policy: Policy) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads(export_json_schema(policy))
    jsonschema.validate(json.loads(policy_to_json(policy)), schema)


@pytest.mark.parametrize("path", ["tree.svg", "tree.pdf", "tree.png"])
def test_drawing(policy: Policy, path: str) -> None:
    content = write_figure(draw(policy), path)
    assert len(content) > 2000
    assert b"<script" not in content
    assert NASTY.encode() not in content
