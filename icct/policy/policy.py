"""The value at the centre of the package: observation → Split → … → Leaf → action.

A `Policy` is complete (raw observation in, raw action out), immutable and made of tuples, so two
policies are equal when they say the same. Nothing here trains, reads files or draws.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from icct.errors import ObservationError, PolicyError
from icct.policy.parameters import SPLIT_PARAMETERS, controller_parameters
from icct.policy.parts import Action, Feature, Leaf, Node, Provenance, Split, Squash, squash
from icct.policy.sound import check_policy, index_of, listed_names

Observation = ArrayLike | Mapping[str, float | str]  # numbers in order, or by name
BLOCK_ROWS = 8192  # act_batch works on blocks that stay in the cache; 4096 to 16384 measure alike


@dataclass(frozen=True)
class Policy:
    """A controller tree over named features; node 0 is the root.

    >>> from icct.policy import Action, Controller, Feature, Leaf, Policy, Split
    >>> policy = Policy(
    ...     name="cruiser",
    ...     features=(Feature("gap_m", "m", 0, 100), Feature("speed_mps", "m/s", 0, 30)),
    ...     actions=(Action("acceleration", "m/s^2", -3, 3),),
    ...     nodes=(
    ...         Split(feature=0, threshold=10.0, below=1, above=2),
    ...         Leaf((Controller(bias=-1.0),)),
    ...         Leaf((Controller(weights=((1, -0.1),), bias=1.0),)),
    ...     ),
    ...     squash="clip",
    ... )
    >>> policy.act([25.0, 4.0])
    array([0.6])
    >>> policy.act({"gap_m": 25.0, "speed_mps": "4 m/s"})
    array([0.6])
    >>> policy.path([25.0, 4.0])
    (0, 2)
    """

    name: str
    features: tuple[Feature, ...]
    actions: tuple[Action, ...]
    nodes: tuple[Node, ...]
    squash: Squash = "tanh"
    provenance: Provenance = field(default_factory=Provenance)

    def __post_init__(self) -> None:
        for name in ("features", "actions", "nodes"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        check_policy(self)

    def leaf(self, index: int) -> Leaf:
        """Return the leaf with this index; an index of `leaves`, or of what reaches one."""
        node = self.nodes[index]
        if not isinstance(node, Leaf):
            raise PolicyError(f"node {index} is a split, expected a leaf.")
        return node

    def split(self, index: int) -> Split:
        """Return the split with this index; an index of `splits`."""
        node = self.nodes[index]
        if not isinstance(node, Split):
            raise PolicyError(f"node {index} is a leaf, expected a split.")
        return node

    # -- acting -------------------------------------------------------------------------------

    def act(self, observation: Observation) -> NDArray[np.float64]:
        """Return the action for one observation, shape (n_actions,).

        An observation is a number for each feature in order, or a mapping by name, in which the
        features that the policy never looks at may be missing, and a text such as `"3.5 m/s"` is
        a number with its unit.
        """
        values = self._checked(observation)
        leaf = self.leaf(self._leaf_of(values))
        acted = [
            squash(controller.value(values), action, self.squash)
            for controller, action in zip(leaf.controllers, self.actions, strict=True)
        ]
        if not math.isfinite(sum(acted)):
            self._refuse_overflow(np.array([acted]))
        return np.array(acted)

    def act_batch(self, observations: ArrayLike) -> NDArray[np.float64]:
        """Return the actions for observations of shape (n, n_features), shape (n, n_actions).

        Equal to `act` on every row, to the last bit.
        """
        table = self._checked_table(observations)
        out = np.empty((len(table), len(self.actions)))
        with np.errstate(over="ignore", invalid="ignore"):  # _refuse_overflow says it in words
            for start in range(0, len(table), BLOCK_ROWS):
                self._act_block(table[start : start + BLOCK_ROWS], out[start : start + BLOCK_ROWS])
            if not math.isfinite(out.sum()):
                self._refuse_overflow(out)
        return out

    def path(self, observation: Observation) -> tuple[int, ...]:
        """Return the indexes of the nodes an observation passes, from the root to its leaf."""
        values, index, passed = self._checked(observation), 0, [0]
        while isinstance(node := self.nodes[index], Split):
            index = node.above if values[node.feature] > node.threshold else node.below
            passed.append(index)
        return tuple(passed)

    def leaf_of(self, observation: Observation) -> int:
        """Return the index of the leaf that an observation reaches."""
        return self._leaf_of(self._checked(observation))

    def leaves_of(self, observations: ArrayLike) -> NDArray[np.intp]:
        """Return the leaf index of each row of observations, shape (n,)."""
        table = self._checked_table(observations)
        out = np.empty(len(table), dtype=np.intp)
        for start in range(0, len(table), BLOCK_ROWS):
            block = table[start : start + BLOCK_ROWS]
            for index, rows in self._route(block, self._columns(block)):
                out[start + rows] = index
        return out

    # -- describing ---------------------------------------------------------------------------

    @property
    def splits(self) -> tuple[int, ...]:
        """The indexes of the splits."""
        return tuple(i for i, node in enumerate(self.nodes) if isinstance(node, Split))

    @property
    def leaves(self) -> tuple[int, ...]:
        """The indexes of the leaves."""
        return tuple(i for i, node in enumerate(self.nodes) if isinstance(node, Leaf))

    @property
    def depth(self) -> int:
        """The largest number of splits on a path from the root to a leaf."""
        return max(level for level, _ in self.levels())

    @cached_property
    def used_features(self) -> tuple[int, ...]:
        """The indexes of the features that some split or leaf looks at."""
        used = {node.feature for node in self.nodes if isinstance(node, Split)}
        for node in self.nodes:
            if isinstance(node, Leaf):
                used |= {f for controller in node.controllers for f, _ in controller.weights}
        return tuple(sorted(used))

    def levels(self) -> Iterator[tuple[int, int]]:
        """Yield (depth, index) of every node, parents before their children."""
        waiting = [(0, 0)]
        while waiting:
            level, index = waiting.pop()
            yield level, index
            if isinstance(node := self.nodes[index], Split):
                waiting += [(level + 1, node.above), (level + 1, node.below)]

    @property
    def parameter_count(self) -> int:
        """The number of active parameters by the paper's formula for trees trained with SAC."""
        total = 0
        for node in self.nodes:
            if isinstance(node, Split):
                total += SPLIT_PARAMETERS
            else:
                for controller in node.controllers:
                    total += controller_parameters(len(controller.weights), len(self.features))
        return total

    def feature_index(self, name: str) -> int:
        """Return the position of the feature called `name`."""
        return index_of(name, self.features, "feature", self.name)

    def action_index(self, name: str) -> int:
        """Return the position of the action called `name`."""
        return index_of(name, self.actions, "action", self.name)

    def __str__(self) -> str:
        """Return the rules in words, as `icct show` prints them."""
        from icct.policy.text import describe, tree_text

        return f"{describe(self)}\n\n{tree_text(self)}"

    def _repr_html_(self) -> str:
        """Return the tree as a picture (SVG), which notebooks show."""
        from icct.policy.svg import tree_image

        return tree_image(self)

    def noted(self, sentence: str) -> "Policy":
        """Return the same policy with one more sentence in its history."""
        history = (*self.provenance.history, sentence)
        return replace(self, provenance=replace(self.provenance, history=history))

    # -- inside -------------------------------------------------------------------------------

    def _act_block(self, block: NDArray[np.float64], out: NDArray[np.float64]) -> None:
        columns = self._columns(block)
        for index, rows in self._route(block, columns):
            leaf = self.leaf(index)
            for position, controller in enumerate(leaf.controllers):
                total = np.full(len(rows), controller.bias)
                for feature, weight in controller.weights:
                    total += weight * columns[feature][rows]
                out[rows, position] = squash(total, self.actions[position], self.squash)

    def _leaf_of(self, values: Sequence[float]) -> int:
        index = 0
        while isinstance(node := self.nodes[index], Split):
            index = node.above if values[node.feature] > node.threshold else node.below
        return index

    def _route(
        self, block: NDArray[np.float64], columns: dict[int, NDArray[np.float64]]
    ) -> Iterator[tuple[int, NDArray[np.intp]]]:
        """Yield (leaf index, rows of the block that reach it)."""
        waiting = [(0, np.arange(len(block)))]
        while waiting:
            index, rows = waiting.pop()
            node = self.nodes[index]
            if isinstance(node, Leaf):
                yield index, rows
                continue
            above = columns[node.feature][rows] > node.threshold
            waiting.append((node.below, rows[~above]))
            waiting.append((node.above, rows[above]))

    def _columns(self, block: NDArray[np.float64]) -> dict[int, NDArray[np.float64]]:
        """Return the used features of a block, each as one contiguous array."""
        return {f: np.ascontiguousarray(block[:, f], dtype=np.float64) for f in self.used_features}

    def _checked(self, observation: Observation) -> list[float]:
        if isinstance(observation, Mapping):
            from icct.policy.named import observation_of

            observation = observation_of(self, observation)
        try:
            values = np.asarray(observation, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise ObservationError(
                f"{self.name}: the observation is not a list of numbers ({error})."
            ) from None
        if values.shape != (len(self.features),):
            raise ObservationError(
                f"{self.name}: the observation has shape {values.shape}, expected "
                f"({len(self.features)},): one number for each of {listed_names(self.features)}."
            )
        listed: list[float] = values.tolist()
        if not math.isfinite(sum(listed)):  # a cheap sum first, names only when it fails
            self._refuse_unfinite(values[None])
        return listed

    def _checked_table(self, observations: ArrayLike) -> NDArray[np.float64]:
        try:
            table = np.asarray(observations)
            if table.dtype not in (np.float64, np.float32):
                table = table.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise ObservationError(
                f"{self.name}: the observations are not a table of numbers ({error})."
            ) from None
        if table.ndim != 2 or table.shape[1] != len(self.features):
            raise ObservationError(
                f"{self.name}: the observations have shape {table.shape}, expected "
                f"(n, {len(self.features)}): one column for each of {listed_names(self.features)}."
            )
        with np.errstate(over="ignore", invalid="ignore"):
            finite = math.isfinite(table.sum(dtype=np.float64))
        if not finite:
            self._refuse_unfinite(table)
        return table

    def _refuse_overflow(self, acted: NDArray[np.float64]) -> None:
        wrong = np.argwhere(~np.isfinite(acted))
        if len(wrong):  # else only the sum overflowed
            row, column = wrong[0]
            raise ObservationError(
                f"{self.name}: {self.actions[column].name} is {acted[row, column]} for observation "
                f"{row}: the terms of its rule overflow. Keep observations inside the bounds."
            )

    def _refuse_unfinite(self, table: NDArray[np.float64]) -> None:
        wrong = np.argwhere(~np.isfinite(table))
        if len(wrong):  # else the sum overflowed, and each number alone is fine
            row, column = wrong[0]
            raise ObservationError(
                f"{self.name}: {self.features[column].name} is {table[row, column]} in "
                f"observation {row}; every number of an observation must be finite."
            )
