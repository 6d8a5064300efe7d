"""The kernels of fused.py, in Triton: a critic from the observations to the value, and back.

A block computes ROWS rows of one of a member's two critics; members and critics are the second axis
of the grid. The first hidden layer is made CHUNK units at a time, and what they add to the second
at once: only the second is kept whole. Weights are laid out so that a product's inner index is the
fastest in memory: the units that TF32 is multiplied by want them so, and else they are loaded four
bytes at a time. SIZE is the number of inputs with the zeros behind them, a power of two.
"""

import triton
import triton.language as tl

# fmt: off


@triton.jit
def _rows_of(inputs, pair, rows, batch, SIZE: tl.constexpr):
    """Return some rows of a critic's inputs, (ROWS, SIZE)."""
    places = ((pair // 2) * batch + rows) * SIZE + tl.arange(0, SIZE)[None, :]
    return tl.load(inputs + places, mask=rows < batch, other=0.0)


@triton.jit
def _some_units(
    x, w1, b1, pair, start,
    SIZE: tl.constexpr, HIDDEN: tl.constexpr, CHUNK: tl.constexpr, PRECISION: tl.constexpr,
):
    """Return CHUNK units of the first hidden layer, (ROWS, CHUNK)."""
    units = pair * HIDDEN + start + tl.arange(0, CHUNK)[None, :]
    weights = tl.load(w1 + units * SIZE + tl.arange(0, SIZE)[:, None])
    values = tl.dot(x, weights, input_precision=PRECISION) + tl.load(b1 + units)
    return tl.maximum(values, 0.0)


@triton.jit
def _into(
    total, units, w2, pair, start,
    HIDDEN: tl.constexpr, CHUNK: tl.constexpr, PRECISION: tl.constexpr,
):
    """Return what CHUNK units add to the layer that they enter, (ROWS, HIDDEN)."""
    outputs = (pair * HIDDEN + tl.arange(0, HIDDEN)[None, :]) * HIDDEN
    weights = tl.load(w2 + outputs + start + tl.arange(0, CHUNK)[:, None])
    return tl.dot(units, weights, total, input_precision=PRECISION)


@triton.jit
def forward_kernel(
    inputs, w1, b1, w2, b2, w3, b3, values, first, second, batch, KEEP: tl.constexpr,
    ROWS: tl.constexpr,
    SIZE: tl.constexpr, HIDDEN: tl.constexpr, CHUNK: tl.constexpr, PRECISION: tl.constexpr,
):
    """Values of some rows; with KEEP what enters the second and the last layer, too."""
    pair = tl.program_id(1).to(tl.int64)
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None]
    inside = rows < batch
    every = tl.arange(0, HIDDEN)[None, :]
    kept = (pair * batch + rows) * HIDDEN
    x = _rows_of(inputs, pair, rows, batch, SIZE)
    total = tl.zeros((ROWS, HIDDEN), tl.float32)
    for start in range(0, HIDDEN, CHUNK):
        units = _some_units(x, w1, b1, pair, start, SIZE, HIDDEN, CHUNK, PRECISION)
        if KEEP:
            tl.store(first + kept + start + tl.arange(0, CHUNK)[None, :], units, mask=inside)
        total = _into(total, units, w2, pair, start, HIDDEN, CHUNK, PRECISION)
    total = tl.maximum(total + tl.load(b2 + pair * HIDDEN + every), 0.0)
    if KEEP:
        tl.store(second + kept + every, total, mask=inside)
    weighted = total * tl.load(w3 + pair * HIDDEN + every)
    value = tl.sum(weighted, 1, keep_dims=True) + tl.load(b3 + pair)
    tl.store(values + pair * batch + rows, value, mask=inside)


@triton.jit
def backward_kernel(
    slopes, w2, w3, first, second, leaving_first, leaving_second, batch, ROWS: tl.constexpr,
    HIDDEN: tl.constexpr, CHUNK: tl.constexpr, PRECISION: tl.constexpr,
):
    """Derivatives in what leaves both hidden layers before their ReLU, from those in the values."""
    pair = tl.program_id(1).to(tl.int64)
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None]
    inside = rows < batch
    kept = (pair * batch + rows) * HIDDEN
    slope = tl.load(slopes + pair * batch + rows, mask=inside, other=0.0)
    total = tl.zeros((ROWS, HIDDEN), tl.float32)
    for start in range(0, HIDDEN, CHUNK):
        some = start + tl.arange(0, CHUNK)[None, :]
        units = tl.load(second + kept + some, mask=inside, other=0.0)
        leaving = tl.where(units > 0.0, slope * tl.load(w3 + pair * HIDDEN + some), 0.0)
        tl.store(leaving_second + kept + some, leaving, mask=inside)
        total = _into(total, leaving, w2, pair, start, HIDDEN, CHUNK, PRECISION)
    every = kept + tl.arange(0, HIDDEN)[None, :]
    entered = tl.load(first + every, mask=inside, other=0.0)
    tl.store(leaving_first + every, tl.where(entered > 0.0, total, 0.0), mask=inside)
