from icct.policy import Action, Controller, Feature, Leaf, Policy, Provenance, Split
from icct.policy.text import describe, rules_text, tree_text

LANDER = Policy(
    "lander",
    (
        Feature("velocity_x", "m/s"),
        Feature("angle", "rad"),
        Feature("left_leg_contact", "", 0, 1, "physical"),
    ),
    (Action("main_engine"), Action("gimbal", "deg", -10, 30)),
    (
        Split(2, 0.0, 1, 4),
        Split(0, -0.0713, 2, 3),
        Leaf((Controller(((1, 2.1),), 0.2), Controller(((0, -1.0), (1, 9.8)), -0.5))),
        Leaf((Controller(((0, -0.00123),), 0.0), Controller((), 100.0))),
        Leaf((Controller(), Controller())),
    ),
    provenance=Provenance(task="lunar-lander", seed=3, history=("written for a test",)),
)


def test_tree() -> None:
    assert (
        tree_text(LANDER)
        == """\
if left_leg_contact <= 0.00:   [0]
    if velocity_x <= -0.0713 m/s:   [1]
        main_engine = tanh(2.10 angle + 0.20)
        gimbal = 10.00 + 20.00 tanh(-1.00 velocity_x + 9.80 angle - 0.50) deg   [2]
    else:
        main_engine = tanh(-0.00123 velocity_x)
        gimbal = 30.00 deg   [3]
else:
    main_engine = 0.00
    gimbal = 10.00 deg   [4]"""
    )


def test_a_path_is_marked() -> None:
    path = LANDER.path([0.0, 0.0, 0.0])
    assert (
        tree_text(LANDER, path, numbered=False)
        == """\
> if left_leg_contact <= 0.00:
>     if velocity_x <= -0.0713 m/s:
          main_engine = tanh(2.10 angle + 0.20)
          gimbal = 10.00 + 20.00 tanh(-1.00 velocity_x + 9.80 angle - 0.50) deg
>     else:
>         main_engine = tanh(-0.00123 velocity_x)
>         gimbal = 30.00 deg
  else:
      main_engine = 0.00
      gimbal = 10.00 deg"""
    )


def test_rules() -> None:
    twice = Policy(
        "twice",
        (Feature("gap", "m"),),
        (Action("push", "N", -3, 3),),
        (
            Split(0, 2.0, 1, 2),
            Leaf((Controller(((0, 1.0),)),)),
            Split(0, 4.0, 3, 4),
            Leaf((Controller(bias=1.0),)),
            Leaf((Controller(bias=9.0),)),
        ),
        "clip",
    )
    assert (
        rules_text(twice)
        == """\
if gap <= 2.00 m: push = clip(1.00 gap, -3.00, 3.00) N
if 2.00 < gap <= 4.00 m: push = 1.00 N
if gap > 4.00 m: push = 3.00 N"""
    )
    assert rules_text(LANDER).splitlines()[-1] == (
        "if left_leg_contact > 0.00: main_engine = 0.00; gimbal = 10.00 deg"
    )


def test_description() -> None:
    assert (
        describe(LANDER)
        == """\
lander: 3 leaves, depth 2, 20 parameters, 3 features, 2 actions
task lunar-lander, seed 3
- written for a test"""
    )
