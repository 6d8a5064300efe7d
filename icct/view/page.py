"""Policy and findings → one HTML file that needs nothing else: no network, no other file.

The page is complete without its script, so that it prints; a policy of the browser forbids it to
fetch anything.
"""

from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING

from icct.policy import Action, Feature, Policy, Split
from icct.policy.caption import pretty
from icct.policy.file import policy_digest
from icct.policy.layout import Layout
from icct.policy.reach import Why, folds, unreached
from icct.policy.svg import tree_svg
from icct.policy.text import leaf_rules, limit_text, number, reached_when
from icct.policy.usage import leaf_shares, share_text
from icct.view.charts import bar
from icct.view.curve import Curve
from icct.view.explore import explore_data, outline_html
from icct.view.findings import (
    curves_html,
    evaluation_html,
    measures_html,
    properties_html,
    table,
)
from icct.view.guarantees import Drawn, guarantees_html
from icct.view.shell import SAFE_FILE, as_json_in_html, import_map, static_text
from icct.view.tree import regions, tree_layout

if TYPE_CHECKING:
    from icct.evaluate import Evaluation
    from icct.verify import Answer, Measures


TRY = (
    '<aside id="try" data-scripted hidden><p id="acts" aria-live="polite"></p>'
    '<h3>Move an observation</h3><div id="sliders"></div>'
    '<h3>Why this leaf</h3><div id="path"></div>'
    '<h3 id="rule-title">What it does</h3><div id="rules"></div></aside>'
)


def page(
    policy: Policy,
    measures: "Measures",
    *,
    evaluation: "Evaluation | None" = None,
    answers: "Sequence[Answer]" = (),
    curves: Sequence[Curve] = (),
    recording: str | None = None,
    guarantees: Sequence[Drawn] = (),
) -> str:
    """Return the report on a policy as the text of an HTML file.

    Args:
        policy: The policy.
        measures: Ranges, slopes and jumps of its actions.
        evaluation: Episodes, where some were played.
        answers: Properties with their answers.
        curves: How training went.
        recording: A page that plays an episode, to be shown inside this one.
        guarantees: Answers about a plant under the policy, with pictures of their tubes.
    """
    visits = evaluation.leaf_visits if evaluation else None
    shares, away = leaf_shares(policy, visits), unreached(policy, visits)
    plan = tree_layout(policy, shares, away)
    sections = (
        ("The tree", _tree(policy, plan, shares, away)),
        *((("One episode", _recording(recording)),) if recording else ()),
        ("Rules in words", _rules(policy, shares, measures.dead)),
        ("Evaluation", evaluation_html(evaluation)),
        ("Action ranges and measures", measures_html(policy, measures)),
        ("Properties", properties_html(answers)),
        *((("Guarantees in closed loop", guarantees_html(guarantees)),) if guarantees else ()),
        ("Training", curves_html(curves)),
        ("Features and actions", _parts(policy)),
        ("Provenance", _provenance(policy)),
    )
    body = "".join(f"<section><h2>{title}</h2>{content}</section>" for title, content in sections)
    style = static_text("tree.css") + static_text("report.css")
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{SAFE_FILE}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(policy.name)}</title><style>{style}</style>"
        f"<script type='importmap'>{import_map(None, 'report.js')}</script></head>\n"
        f"<body>{_header(policy, evaluation)}{body}"
        f'<script type="application/json" id="policy-data">'
        f"{as_json_in_html(explore_data(policy, plan, folds(policy, away)))}</script>"
        "<script type='module'>import 'icct/report.js';</script></body></html>\n"
    )


def _header(policy: Policy, evaluation: "Evaluation | None") -> str:
    facts = [
        ("leaves", str(len(policy.leaves))),
        ("depth", str(policy.depth)),
        ("parameters", str(policy.parameter_count)),
        ("features used", f"{len(policy.used_features)} of {len(policy.features)}"),
        ("actions", str(len(policy.actions))),
    ]
    if evaluation is not None:
        facts.append(
            (f"mean return, {len(evaluation.episodes)} episodes", f"{evaluation.mean:.2f}")
        )
    task = policy.provenance.task
    listed = "".join(f"<li><b>{escape(value)}</b>{escape(name)}</li>" for name, value in facts)
    return (
        f"<header><h1>{escape(policy.name)}</h1>"
        f'<p class="quiet">{escape(f"A controller for {task}") if task else "A controller"}: '
        "questions in blue, one linear rule for each action in red.</p>"
        f'<ul class="facts">{listed}</ul></header>'
    )


def _tree(policy: Policy, plan: Layout, shares: dict[int, float], away: Mapping[int, Why]) -> str:
    buttons = "".join(
        f'<button id="{name}" type="button">{label}</button>'
        for name, label in (
            ("zoom-in", "Zoom in"),
            ("zoom-out", "Zoom out"),
            ("fit", "Fit"),
            ("unfold", "Unfold all"),
        )
    )
    grey = " Nobody reaches what is grey." if away else ""
    return (
        f'<div class="toolbar">{buttons}<span class="quiet">Click a blue box to fold what follows '
        f"it, a red one to go there; drag to move; Ctrl and wheel to zoom.{grey}</span></div>"
        '<div class="explore"><div><div id="tree-place">'
        f"{tree_svg(policy, plan, shares, regions(policy), away)}</div>"
        '<p id="region" aria-live="polite">Point at a box to see which observations reach it.</p>'
        f"{outline_html(policy, shares, folds(policy, away))}</div>{TRY}</div>"
    )


def _recording(text: str) -> str:
    """Return a page inside the page, with its own styles and modules."""
    return f'<iframe class="recording" title="One episode" srcdoc="{escape(text)}"></iframe>'


def _rules(policy: Policy, shares: dict[int, float], dead: Sequence[int]) -> str:
    rows = []
    for index, words in reached_when(policy).items():
        node = policy.nodes[index]
        if isinstance(node, Split):
            continue
        rules = "<br>".join(escape(pretty(rule)) for rule in leaf_rules(policy, node))
        used = ""
        if shares:
            used = f"<td>{bar(shares[index])}<br>{share_text(shares[index])}</td>"
        never = '<br><span class="quiet">never inside the bounds</span>' if index in dead else ""
        rows.append(
            f'<tr><td class="n">{index}</td><td>{escape(pretty(words)) or "always"}{never}</td>'
            f"<td>{rules}</td>{used}</tr>"
        )
    use = "<th>use</th>" if shares else ""
    return (
        '<div class="wide"><table class="stacked">'
        f'<tr><th class="n">leaf</th><th>when</th><th>then</th>{use}</tr>'
        f"{''.join(rows)}</table></div>"
    )


def _parts(policy: Policy) -> str:
    used = [policy.features[index] for index in policy.used_features]
    unused = [feature for feature in policy.features if feature not in used]
    actions = table(
        ("action", "from", "to", "raw numbers"),
        ((a.name, *_limits(a)) for a in policy.actions),
    )
    more = (
        f"<details><summary>Features that it does not look at: {len(unused)}</summary>"
        f"{_features(unused)}</details>"
        if unused
        else ""
    )
    return f"{_features(used)}{more}{actions}"


def _features(features: Sequence[Feature]) -> str:
    return table(
        ("feature", "from", "to", "raw numbers", "bounds are"),
        ((f.name, *_limits(f), f.origin) for f in features),
    )


def _limits(part: Feature | Action) -> tuple[str, str, str]:
    raw = "the same" if part.scale == 1.0 else f"{number(part.low)} to {number(part.high)}"
    return limit_text(part.low, part.unit), limit_text(part.high, part.unit), raw


def _provenance(policy: Policy) -> str:
    p = policy.provenance
    known = [
        ("task", p.task),
        ("method", p.method),
        ("seed", p.seed),
        ("commit", p.commit),
        *p.versions,
        ("squash", policy.squash),
        ("SHA-256 of the policy file", policy_digest(policy)),
    ]
    rows = [(key, str(value)) for key, value in known if value is not None]
    history = "".join(f"<li>{escape(sentence)}</li>" for sentence in p.history)
    config = table(("option", "value"), ((key, str(value)) for key, value in p.config))
    return (
        f"{table(('', ''), rows)}"
        + (f"<p>History</p><ol>{history}</ol>" if history else "")
        + (f"<details><summary>Configuration</summary>{config}</details>" if p.config else "")
    )
