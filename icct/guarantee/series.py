"""A tape evaluated over boxes: values, derivatives, and Taylor coefficients in time, all enclosed.

Every place of the tape holds its Taylor coefficients, each with derivatives (`jet.py`). Where the
inputs obey a differential equation, a coefficient of the rates gives the next one of the states.
"""

import math

import numpy as np

from icct.guarantee.jet import Jet, chosen, kinked, of_function, sum_of_products
from icct.guarantee.rounding import EPS, Array, enclosed
from icct.guarantee.tape import Step, Tape

PI = (math.pi, 4 * EPS)


def values(tape: Tape, mid: Array, rad: Array, columns: int) -> Jet:
    """Return the results over boxes, shape (results, boxes, 1 + columns).

    Args:
        tape: The operations.
        mid: Midpoints of the inputs, shape (boxes, inputs).
        rad: Their radii.
        columns: For how many inputs derivatives are wanted; the first ones.
    """
    places = _Series(tape, mid, rad, 1, columns).run(1)
    results = [places[index][0] for index in tape.results]
    return Jet(np.stack([jet.mid for jet in results]), np.stack([jet.rad for jet in results]))


def taylor(tape: Tape, mid: Array, rad: Array, order: int, columns: int) -> Jet:
    """Return the Taylor coefficients of the states whose rates are the tape's results.

    Shape (states, order + 1, boxes, 1 + columns); the other inputs are constant in time. See
    `values` for the arguments.
    """
    places = _Series(tape, mid, rad, order + 1, columns).run(order)
    states = range(len(tape.results))
    return Jet(
        np.stack([places[state].mid for state in states]),
        np.stack([places[state].rad for state in states]),
    )


class _Series:
    def __init__(self, tape: Tape, mid: Array, rad: Array, length: int, columns: int) -> None:
        self.tape, self._length = tape, length
        self._shape = (length, len(mid), 1 + columns)
        self.places: list[Jet] = []
        self._partner: dict[int, Jet] = {}  # what a recurrence needs beside the function itself
        self._which: dict[int, Array] = {}  # of two: which one min and max have chosen
        for index in range(tape.inputs):
            jet = self._empty()
            jet.mid[0, :, 0], jet.rad[0, :, 0] = mid[:, index], rad[:, index]
            if index < columns:
                jet.mid[0, :, 1 + index] = 1.0
            self.places.append(jet)
        self.places += [self._begun(step) for step in tape.steps]

    def run(self, count: int) -> list[Jet]:
        """Return every place, with its first `count` coefficients computed."""
        with np.errstate(all="ignore"):  # what overflows is infinite, and ends as unknown
            for k in range(count):
                for place, step in enumerate(self.tape.steps, self.tape.inputs):
                    if step.places:
                        self._compute(place, step, k)
                if k + 1 < self._length:
                    for state, place in enumerate(self.tape.results):
                        rate = self.places[place][k]
                        self.places[state][k + 1] = rate.scaled(1 / (k + 1), EPS)
        return self.places

    def _empty(self) -> Jet:
        return Jet(np.zeros(self._shape), np.zeros(self._shape))

    def _begun(self, step: Step) -> Jet:
        jet = self._empty()
        if not step.places:
            value, radius = PI if step.operation == "pi" else enclosed(step.constant)
            jet.mid[0, :, 0], jet.rad[0, :, 0] = value, radius
        return jet

    def _compute(self, place: int, step: Step, k: int) -> None:
        own, (first, *others) = self.places[place], [self.places[index] for index in step.places]
        match step.operation:
            case "add":
                own[k] = first[k] + others[0][k]
            case "scale":
                own[k] = first[k].scaled(*enclosed(step.constant))
            case "shift":
                own[k] = first[k] if k else first[0].shifted(*enclosed(step.constant))
            case "multiply":
                own[k] = sum_of_products(first[: k + 1], _backwards(others[0], k))
            case "min" | "max":
                own[k] = self._kinked(place, step.operation, first[k], others[0][k], k)
            case "abs":
                own[k] = self._kinked(place, "max", first[k], -first[k], k)
            case "atan" if k:  # y' = v' / (1 + v^2)
                own[k] = _weighted(first[1 : k + 1], others[0], k)
            case _:
                own[k] = self._smooth(place, step.operation, first, own, k)

    def _kinked(self, place: int, name: str, one: Jet, other: Jet, k: int) -> Jet:
        if k == 0:
            found, self._which[place] = kinked(name, one, other)
            return found
        nowhere = Jet(np.zeros_like(one.mid), np.full_like(one.rad, np.inf))
        return chosen(self._which[place], one, other, nowhere)

    def _smooth(self, place: int, name: str, argument: Jet, own: Jet, k: int) -> Jet:
        if k == 0:
            first = of_function(name, argument[0])
            if name not in ("exp", "reciprocal", "atan"):
                self._partner[place] = self._empty()
                self._partner[place][0] = _first_partner(name, argument[0], first)
            return first
        past = argument[1 : k + 1]
        if name == "exp":  # y' = y v'
            return _weighted(past, own, k)
        if name == "reciprocal":  # y v = 1
            return -sum_of_products(past, _backwards(own, k - 1)) * own[0]
        partner = self._partner[place]
        if name == "sqrt":  # y y = v
            rest = argument[k]
            if k > 1:
                rest = rest - sum_of_products(own[1:k], _backwards(own, k - 1)[: k - 1])
            return rest * partner[0]
        found = _weighted(past, partner, k)
        partner[k] = _next_partner(name, past, own, found, partner, k)
        return found


def _first_partner(name: str, argument: Jet, own: Jet) -> Jet:
    if name == "sin":
        return of_function("cos", argument)
    if name == "cos":
        return -of_function("sin", argument)
    if name == "tanh":
        return (-(own * own)).shifted(1.0)
    if name == "log":
        return of_function("reciprocal", argument)
    return of_function("reciprocal", own.scaled(2.0))  # sqrt


def _next_partner(name: str, past: Jet, own: Jet, found: Jet, partner: Jet, k: int) -> Jet:
    if name in ("sin", "cos"):  # y' = p v' and p' = -y v'
        return -_weighted(past, own, k)
    if name == "log":  # p v = 1
        return -sum_of_products(past, _backwards(partner, k - 1)) * partner[0]
    own[k] = found  # tanh: p = 1 - y y
    return -sum_of_products(own[: k + 1], _backwards(own, k))


def _backwards(jet: Jet, last: int) -> Jet:
    """Return the coefficients from `last` down to 0."""
    return Jet(jet.mid[last::-1], jet.rad[last::-1])


def _weighted(past: Jet, other: Jet, k: int) -> Jet:
    """Return the k-th coefficient of y where y' = other times v', and `past` is v from 1 to k."""
    weights = np.arange(1.0, k + 1.0)[:, None, None]
    summed = sum_of_products(Jet(past.mid * weights, past.rad * weights), _backwards(other, k - 1))
    return summed.scaled(1 / k, EPS)
