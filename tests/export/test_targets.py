"""What each target promises beside acting alike: strict compilers, MISRA, opsets, schemas."""

import json
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from icct.errors import ExportError, PolicyError
from icct.export import export_c, export_json_schema, export_onnx, export_python
from icct.export.c import c_name
from icct.policy import Action, Controller, Feature, Leaf, Policy, Split
from icct.policy.file import policy_from_json, policy_to_json
from icct.zoo import zoo_policy
from tests.export.compiled import STRICT, needs, run_onnx, write_c
from tests.random_policies import random_policy


def chain(depth: int) -> Policy:
    """Return a tree that is one path with a leaf at each step."""
    nodes: list[Split | Leaf] = []
    for level in range(depth):
        nodes += [Split(0, float(level), 2 * level + 1, 2 * level + 2), Leaf((Controller(),))]
    nodes.append(Leaf((Controller(bias=1.0),)))
    return Policy("chain", (Feature("x"),), (Action("u"),), tuple(nodes))


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("precision", ["double", "float"])
def test_strict_compilers_are_content(compiler: str, precision: str, tmp_path: Path) -> None:
    for squash in ("tanh", "clip", "none"):
        policy = replace(random_policy(4, features=4, leaves=8), squash=squash)
        write_c(export_c(policy, "strict", precision), tmp_path)
        command = [needs(compiler), *STRICT, "-c", "strict.c", "strict_main.c"]
        subprocess.run(command, cwd=tmp_path, check=True)


def test_a_policy_that_looks_at_nothing_compiles(tmp_path: Path) -> None:
    policy = Policy("still", (Feature("x"),), (Action("u"),), (Leaf((Controller(),)),))
    write_c(export_c(policy), tmp_path)
    subprocess.run([needs("gcc"), *STRICT, "-c", "still.c"], cwd=tmp_path, check=True)


def test_no_library_is_needed(tmp_path: Path) -> None:
    policy = replace(random_policy(4), squash="tanh")
    write_c(export_c(policy, "alone"), tmp_path)
    subprocess.run([needs("gcc"), *STRICT, "-O2", "-c", "alone.c"], cwd=tmp_path, check=True)
    listed = subprocess.run(
        [needs("nm"), "alone.o"], cwd=tmp_path, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    symbols = {line.split()[-1]: line.split()[-2] for line in listed}
    assert "U" not in symbols.values()  # nothing from elsewhere: no libm, no malloc
    assert {kind for kind in symbols.values() if kind in "dDbBC"} == set()  # and no globals
    assert [name for name, kind in symbols.items() if kind == "T"] == ["alone_act"]


def test_misra_has_nothing_to_say(tmp_path: Path) -> None:
    cppcheck = needs("cppcheck")
    for squash in ("tanh", "clip", "none"):
        policy = replace(random_policy(4, features=4, leaves=8), squash=squash)
        write_c(export_c(policy, f"with_{squash}"), tmp_path)
    command = [cppcheck, "--addon=misra", "--enable=all", "--std=c99", "--quiet"]
    command += ["--suppress=missingIncludeSystem", "--suppress=unusedFunction"]
    command += ["with_tanh.c", "with_clip.c", "with_none.c"]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert result.stderr == ""


def test_fast_math_is_refused(tmp_path: Path) -> None:
    write_c(export_c(zoo_policy("lane-keeper")), tmp_path)
    command = [needs("gcc"), "-ffast-math", "-c", "lane_keeper.c"]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert result.returncode != 0
    assert "-ffast-math changes what the controller does" in result.stderr


def test_names_in_c() -> None:
    assert c_name("x" * 500) == "x" * 60
    assert [c_name(text) for text in ("int", "", "__a__", "é", "9")] == [
        "int",
        "policy",
        "a",
        "policy",
        "policy_9",
    ]


def test_deep_trees() -> None:
    assert "} else {" in export_c(chain(120)).source
    with pytest.raises(ExportError, match="121 splits deep"):
        export_c(chain(121))
    compile(export_python(chain(90)), "deep.py", "exec")
    with pytest.raises(ExportError, match="91 splits deep"):
        export_python(chain(91))


def test_numbers_that_no_float_holds_are_refused() -> None:
    policy = Policy(
        "big", (Feature("x"),), (Action("u"),), (Leaf((Controller(((0, 1e39),)),)),), "none"
    )
    for export in (export_c, export_onnx):
        with pytest.raises(ExportError, match=r"node 0 has the number 1e\+39"):
            export(policy, precision="float")
    with pytest.raises(ExportError, match="expected one of double, float"):
        export_c(policy, precision="half")


def test_onnx_states_its_opsets_and_leaves_the_batch_free() -> None:
    onnx = pytest.importorskip("onnx")
    model = onnx.load_from_string(export_onnx(zoo_policy("lane-weaver")))
    assert {entry.domain: entry.version for entry in model.opset_import} == {
        "": 17,
        "ai.onnx.ml": 3,
    }
    assert model.graph.input[0].type.tensor_type.shape.dim[0].dim_param == "n"
    policy = zoo_policy("lane-weaver")
    for rows in (0, 1, 7):
        leaves, actions = run_onnx(export_onnx(policy), np.zeros((rows, len(policy.features))))
        assert leaves.shape == (rows,)
        assert actions.shape == (rows, 2)


def test_the_schema_takes_its_policy_and_refuses_mistakes() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    policy = random_policy(3, features=3, actions=2, leaves=5)
    schema = json.loads(export_json_schema(policy))
    jsonschema.Draft202012Validator.check_schema(schema)
    content = json.loads(policy_to_json(policy))
    jsonschema.validate(content, schema)
    split = next(node for node in content["nodes"] if "split" in node)
    leaf = next(node for node in content["nodes"] if "leaf" in node)
    for place, key, value in (
        (split, "split", "no_such_feature"),
        (split, "threshold", "high"),
        (leaf["leaf"], "a9", {"weights": {}, "bias": 0}),
        (content, "squash", "sigmoid"),
        (content, "extra", 1),
        (content["features"][0], "name", "other"),
    ):
        before = dict(place)
        place[key] = value
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(content, schema)
        with pytest.raises(PolicyError):  # the reader agrees
            policy_from_json(json.dumps(content))
        place.clear()
        place.update(before)
    jsonschema.validate(content, schema)
