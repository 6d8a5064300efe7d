"""A policy whose names, units and provenance try to break out of every format."""

from icct.policy import Action, Controller, Feature, Leaf, Policy, Provenance, Split
from icct.policy.parts import LONGEST_NAME, LONGEST_TEXT

NASTY = (
    "\"; ' */ int x; /* // ??/ </title><script>window.broken = 1</script> <b>&lt;&amp; "
    "\\end{document} \\input{/etc/passwd} $x^2_1$ #1 %d %n ~ {} }{ `id` $(id) 中文 é ☃ 𝔘 \\"
)
KEYWORDS = ("int", "double", "main", "lambda", "class", "None", "tanh", "observation", "leaf")
LONG = "x" * LONGEST_NAME
UNIT = (NASTY * 2)[:LONGEST_NAME]


def hostile_policy(squash: str = "tanh") -> Policy:
    """Return a policy with a hostile text in every place that takes one."""
    features = (
        *(Feature(name, NASTY, -1, 1) for name in KEYWORDS),
        Feature(LONG, UNIT),
    )
    rule = Controller(tuple((i, 0.1 * (i + 1)) for i in range(len(features))), 0.1)
    actions = (
        Action("return", NASTY),
        Action("act", UNIT),
        Action("y" * LONGEST_NAME),
    )
    leaf = Leaf((rule, Controller(bias=0.5), Controller(((0, 1.0),), -0.5)))
    nodes = [
        Split(len(KEYWORDS), 0.25, below=1, above=2),
        leaf,
        Split(0, -0.5, below=3, above=4),
        leaf,
        leaf,
    ]
    provenance = Provenance(
        task=NASTY,
        method="coding: utf-7",
        seed=1,
        commit=NASTY,
        versions=((NASTY, NASTY),),
        config=((NASTY, NASTY),),
        history=(NASTY, "*/", "\\", "x" * LONGEST_TEXT, (NASTY * 100)[:LONGEST_TEXT]),
    )
    return Policy(f"coding: utf-7 {NASTY}", features, actions, tuple(nodes), squash, provenance)
