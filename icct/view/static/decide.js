// What a policy does with an observation, in raw numbers: as icct/policy/policy.py decides and acts.

export function pathOf(nodes, observation) {
  const path = [0];
  for (let node = nodes[0]; !node.rules; node = nodes[path.at(-1)]) {
    path.push(observation[node.feature] > node.threshold ? node.above : node.below);
  }
  return path;
}

export function actionOf({ nodes, actions, squash }, leaf, observation) {
  return nodes[leaf].rules.map(({ weights, bias }, position) => {
    const { low, high, centre, half } = actions[position];
    let value = bias;
    for (const [feature, weight] of weights) value += weight * observation[feature];
    if (squash === "tanh") return centre + half * Math.tanh(value);
    if (squash === "none") return value;
    return Math.min(Math.max(value, low ?? -Infinity), high ?? Infinity);
  });
}
