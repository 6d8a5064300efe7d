"""Read a shipped policy, act with it, change a threshold, and see what the change can do."""

from icct import load_policy
from icct.policy.edit import set_threshold

policy = load_policy("zoo:ring-cruiser")

for speed in ("1.0 m/s", "3.45 m/s", "6.0 m/s"):
    observation = {"speed_ego": speed}  # the features that it never looks at may be missing
    acceleration = policy.act(observation)[0]
    path = " -> ".join(map(str, policy.path(observation)))
    print(f"  at {speed} it passes nodes {path} and accelerates by {acceleration:+.2f} m/s^2")

edited, report = set_threshold(policy, node=0, threshold="3.54 m/s")
print("\nAn edit, and its effect on every observation inside the bounds:")
print(f"  {report}")
