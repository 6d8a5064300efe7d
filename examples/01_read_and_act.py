"""Read a shipped policy, act with it, change a threshold, and see what the change can do."""

from icct import load_policy
from icct.policy.edit import set_threshold

policy = load_policy("zoo:ring-cruiser")
ego = policy.feature_index("speed_ego")

for speed_mps in (1.0, 3.45, 6.0):
    observation = [0.1] * len(policy.features)
    observation[ego] = speed_mps / 30  # the task divides speeds by 30 m/s
    acceleration = policy.act(observation)[0]
    path = " -> ".join(map(str, policy.path(observation)))
    print(
        f"  at {speed_mps} m/s it passes nodes {path} and accelerates by {acceleration:+.2f} m/s^2"
    )

edited, report = set_threshold(policy, node=0, threshold=0.118)
print("\nAn edit, and its effect on every observation inside the bounds:")
print(f"  {report}")
