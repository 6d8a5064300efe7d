"""The whole text of small exports: a change of a letter is meant, or a mistake."""

from icct import __version__
from icct.export import export_c, export_dot, export_latex, export_python
from icct.policy import Action, Controller, Feature, Leaf, Policy, Provenance, Split
from icct.policy.file import policy_digest

SMALL = Policy(
    "brake-early",
    (Feature("gap", "m", 0, 50), Feature("speed", "m/s", 0, 30)),
    (Action("acceleration", "m/s^2", -3, 2),),
    (
        Split(0, 12.5, below=1, above=2),
        Leaf((Controller(bias=-3.0),)),
        Leaf((Controller(((0, 0.05), (1, -0.1)), 0.5),)),
    ),
    "clip",
    Provenance(task="single-lane-ring", history=("written by hand",)),
)

HEADER = r"""/*
 * brake-early: 2 leaves, depth 1, 7 parameters, 2 features, 1 action
 * task single-lane-ring
 * - written by hand
 *
 * Written by icct <version> from the policy file with SHA-256
 * <digest>
 *
 * observation[0]  gap, m, from 0.00 to 50.00
 * observation[1]  speed, m/s, from 0.00 to 30.00
 *
 * action[0]  acceleration, m/s^2, from -3.00 to 2.00
 */
#ifndef BRAKE_EARLY_H
#define BRAKE_EARLY_H

/*
 * Write the action for an observation and return the number of the leaf that acted.
 * Return -1 and leave the action as it was when a number of the observation is not
 * finite, or too large for the leaf's rule.
 */
int brake_early_act(const double observation[2], double action[1]);

#endif
"""

SOURCE = r"""/*
 * brake-early: 2 leaves, depth 1, 7 parameters, 2 features, 1 action
 * task single-lane-ring
 * - written by hand
 *
 * Written by icct <version> from the policy file with SHA-256
 * <digest>
 */
#include "brake_early.h"

#include <float.h>

#ifdef __FAST_MATH__
#error "-ffast-math changes what the controller does"
#endif

/* A fused multiply-add rounds once instead of twice: the last digit would differ.
 * gcc 12 also fuses where it joins two actions into one vector, whatever it is told. */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize ("fp-contract=off", "no-tree-slp-vectorize")
#endif

static int brake_early_finite(const double numbers[], int count)
{
    int finite = 1;
    int i;

    for (i = 0; i < count; ++i) {
        if (!((numbers[i] >= -DBL_MAX) && (numbers[i] <= DBL_MAX))) {
            finite = 0;
        }
    }
    return finite;
}

static int brake_early_decide(const double observation[], double value[])
{
    int leaf;

    if (observation[0] <= 12.5) {  /* gap <= 12.50 m */
        leaf = 1;
        value[0] = -3.0;  /* acceleration */
    } else {
        leaf = 2;
        value[0] = 0.5;  /* acceleration */
        value[0] += 0.05 * observation[0];  /* gap */
        value[0] += -0.1 * observation[1];  /* speed */
    }
    return leaf;
}

int brake_early_act(const double observation[2], double action[1])
{
    int leaf = -1;

    if (brake_early_finite(observation, 2) != 0) {
        double value[1];

        leaf = brake_early_decide(observation, value);
        if (value[0] < -3.0) {
            value[0] = -3.0;
        }
        if (value[0] > 2.0) {
            value[0] = 2.0;
        }
        if (brake_early_finite(value, 1) != 0) {
            action[0] = value[0];  /* acceleration m/s^2 */
        } else {
            leaf = -1;
        }
    }
    return leaf;
}
"""

MAIN = r"""/*
 * Tries brake_early.c: reads observations from the standard input, 2 numbers each,
 * and prints for each the leaf and the action.
 */
#include "brake_early.h"

#include <stdio.h>

int main(void)
{
    double observation[2];
    double action[1] = {0.0};
    int i = 0;

    while (scanf("%lf", &observation[i]) == 1) {
        ++i;
        if (i == 2) {
            (void)printf("%d", brake_early_act(observation, action));
            for (i = 0; i < 1; ++i) {
                (void)printf(" %.17g", (double)action[i]);
            }
            (void)printf("\n");
            i = 0;
        }
    }
    return 0;
}
"""

PYTHON = r'''# -*- coding: utf-8 -*-
# brake-early: 2 leaves, depth 1, 7 parameters, 2 features, 1 action
# task single-lane-ring
# - written by hand
#
# Written by icct <version> from the policy file with SHA-256
# <digest>
#
# observation[0]  gap, m, from 0.00 to 50.00
# observation[1]  speed, m/s, from 0.00 to 30.00
#
# action[0]  acceleration, m/s^2, from -3.00 to 2.00

from math import isfinite


def act(observation):
    """Return the action for one observation, a list of 1."""
    return leaf_and_action(observation)[1]


def leaf_and_action(observation):
    """Return the number of the leaf that an observation reaches, and the action."""
    observation = [float(number) for number in observation]
    if len(observation) != 2:
        raise ValueError("an observation has 2 numbers")
    if not all(map(isfinite, observation)):
        raise ValueError("a number of the observation is not finite")
    if observation[0] <= 12.5:  # gap <= 12.50 m
        leaf = 1
        value_0 = -3.0  # acceleration
    else:
        leaf = 2
        value_0 = 0.5  # acceleration
        value_0 += 0.05 * observation[0]  # gap
        value_0 += -0.1 * observation[1]  # speed
    action = [
        min(max(value_0, -3.0), 2.0),  # acceleration m/s^2
    ]
    if not all(map(isfinite, action)):
        raise ValueError("the observation is too large for the rule of its leaf")
    return leaf, action
'''

DOT = r"""digraph policy {
  rankdir=LR;
  node [shape=box, style="rounded,filled", fontname="Helvetica", fontsize=10];
  edge [fontname="Helvetica", fontsize=8, color="#8a8f98", arrowsize=0.6];
  n0 [label="[0] gap\n≤ 12.50 m", fillcolor="#dbe8f7", color="#2f6db3"];
  n0 -> n1 [label="yes"];
  n0 -> n2 [label="no"];
  n1 [label="[1]\lacceleration = −3.00 m/s²\l", fillcolor="#fbdedb", color="#c23b33"];
  n2 [label="[2]\lacceleration = clip(0.05 gap − 0.10 speed\l   + 0.50, −3.00, 2.00) m/s²\l", fillcolor="#fbdedb", color="#c23b33"];
}
"""

LATEX = r"""% brake-early: 2 leaves, depth 1, 7 parameters, 2 features, 1 action
% task single-lane-ring
% - written by hand
%
% Written by icct <version> from the policy file with SHA-256
% <digest>
\documentclass[tikz,border=4pt]{standalone}
\definecolor{splitfill}{HTML}{DBE8F7}
\definecolor{splitedge}{HTML}{2F6DB3}
\definecolor{leaffill}{HTML}{FBDEDB}
\definecolor{leafedge}{HTML}{C23B33}
\definecolor{quiet}{HTML}{8A8F98}
\begin{document}
\sffamily\small
\begin{tikzpicture}[x=1em, y=-1em,
  box/.style={rounded corners=0.4em, line width=0.6pt},
  split/.style={box, draw=splitedge, fill=splitfill},
  leaf/.style={box, draw=leafedge, fill=leaffill},
  unreached/.style={box, draw=quiet, fill=white, text=quiet},
  edge/.style={draw=quiet, line width=0.6pt},
  answer/.style={inner sep=0, font=\sffamily\scriptsize},
  tag/.style={inner sep=1.5pt, fill=white, font=\sffamily\tiny}]
\draw[edge] (16.09, 3.70) .. controls (16.09, 5.30) and (7.93, 5.30) .. (7.93, 6.90);
\node[answer, anchor=east] at (7.53, 5.75) {yes};
\draw[edge] (16.09, 3.70) .. controls (16.09, 5.30) and (24.26, 5.30) .. (24.26, 6.90);
\node[answer, anchor=west] at (24.66, 5.75) {no};
\draw[split] (12.79, 0.00) rectangle (19.39, 3.70);
\node[align=center, inner sep=0] at (16.09, 1.85) {\textbf{gap} \\ $\le$ 12.50 m};
\node[split, tag] at (13.74, -0.20) {0};
\draw[leaf] (0.00, 6.90) rectangle (15.85, 9.30);
\node[align=left, anchor=west, inner sep=0] at (0.55, 8.10) {acceleration = $-$3.00 m/s$^2$};
\node[leaf, tag] at (0.95, 6.70) {1};
\draw[leaf] (17.25, 6.90) rectangle (31.27, 13.20);
\node[align=left, anchor=west, inner sep=0] at (17.80, 10.05) {acceleration = \\ \quad clip(0.05 gap \\ \quad $-$ 0.10 speed + 0.50, \\ \quad $-$3.00, 2.00) m/s$^2$};
\node[leaf, tag] at (18.20, 6.70) {2};
\end{tikzpicture}
\end{document}
"""


def anonymous(text: str) -> str:
    return text.replace(policy_digest(SMALL), "<digest>").replace(__version__, "<version>")


def test_c() -> None:
    files = export_c(SMALL)
    assert files.name == "brake_early"
    assert anonymous(files.header) == HEADER
    assert anonymous(files.source) == SOURCE
    assert files.main == MAIN


def test_c_in_float_has_float_numbers_only() -> None:
    source = export_c(SMALL, precision="float").source
    assert "double" not in source
    assert "observation[0] <= 12.5f" in source
    assert "value[0] += 0.05f * observation[0];  /* gap */" in source
    assert "FLT_MAX" in source


def test_python() -> None:
    assert anonymous(export_python(SMALL)) == PYTHON


def test_dot() -> None:
    assert export_dot(SMALL) == DOT


def test_latex() -> None:
    assert anonymous(export_latex(SMALL)) == LATEX
