"""Policy → the one file to submit to the testbed: it needs numpy, and the testbed's own package.

The policy comes in as `icct export --to python` writes it, the rest is the text of the modules that
the demo itself runs: what is tried here is what drives there.
"""

import ast
from importlib import resources

from icct.export import export_python
from icct.policy import Policy
from icct.robot.run import STEPS, check_policy
from icct.robot.simulator import CERTIFICATE

MODULES = ("track", "mapping", "drivers", "crossing", "verifier", "fleet")
OURS = "icct."

MAIN = '''
def main(steps, seed, drive_to_start=True):
    """Drive, and return the testbed with what it has counted."""
    from rps.robotarium import Robotarium
    from rps.utilities.barrier_certificates import create_uni_barrier_certificate

    testbed = Robotarium(
        number_of_robots=ROBOTS,
        show_figure=False,
        initial_conditions=start_poses(),
        sim_in_real_time=False,
        skip_initialization=not drive_to_start,
    )
    fleet = Fleet(seed, create_uni_barrier_certificate({certificate}))
    for _ in range(steps):
        observation = fleet.see(testbed.get_poses())
        velocities = fleet.drive(act(observation)[0])
        testbed.set_velocities(np.arange(ROBOTS), velocities)
        testbed.step()
    return testbed


if __name__ == "__main__":
    main(steps={steps}, seed={seed}).debug()
'''


def submission(policy: Policy, *, steps: int = STEPS, seed: int = 0) -> str:
    """Return the script that drives the ego by a policy on the testbed."""
    check_policy(policy)
    exported = export_python(policy)
    imports, parts = set(), []
    for module in MODULES:
        found, title, code = _taken_apart(module)
        imports |= found
        parts.append(f"# -- {module}: {title}\n\n{code}")
    about, _, rest = exported.partition("\n\n")  # the comment that describes the policy, the code
    certificate = ", ".join(f"{name}={value!r}" for name, value in CERTIFICATE.items())
    main = MAIN.format(steps=steps, seed=seed, certificate=certificate)
    blocks = [about, "\n".join(sorted(imports)), "# -- the policy", rest.strip(), *parts]
    return "\n\n".join(blocks).rstrip() + "\n\n" + main


def _taken_apart(module: str) -> tuple[set[str], str, str]:
    """Return the imports of a module but ours, the first line of its docstring, and its code."""
    text = resources.files("icct.robot").joinpath(f"{module}.py").read_text(encoding="utf-8")
    tree = ast.parse(text)
    statements = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    ends = max(node.end_lineno or 0 for node in statements)
    imports = {
        ast.unparse(node)
        for node in statements
        if not (isinstance(node, ast.ImportFrom) and (node.module or "").startswith(OURS))
    }
    title = (ast.get_docstring(tree) or module).splitlines()[0]
    return imports, title, "\n".join(text.splitlines()[ends:]).strip()
