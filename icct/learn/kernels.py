"""The kernels of fused.py, in Triton: a critic from the observations to the value, and back.

A block computes ROWS rows of one of a member's two critics; members and critics are the second axis
of the grid. The first hidden layer is made CHUNK units at a time, and what they add to the second
at once: only the second is kept whole. On the way back the first is made again, which costs less
than to keep it. SIZE is the number of inputs, rounded up to a power of two.
"""

import triton
import triton.language as tl

# fmt: off


@triton.jit
def _rows_of(inputs, pair, rows, batch, size, SIZE: tl.constexpr):
    """Return some rows of a critic's inputs, (ROWS, SIZE), with zeros beyond `size`."""
    columns = tl.arange(0, SIZE)[None, :]
    places = ((pair // 2) * batch + rows[:, None]) * size + columns
    return tl.load(inputs + places, mask=(rows[:, None] < batch) & (columns < size), other=0.0)


@triton.jit
def _some_units(
    x, w1, b1, start, size,
    SIZE: tl.constexpr, HIDDEN: tl.constexpr, CHUNK: tl.constexpr, PRECISION: tl.constexpr,
):
    """Return CHUNK units of the first hidden layer, (ROWS, CHUNK), and their weights."""
    units = start + tl.arange(0, CHUNK)
    columns = tl.arange(0, SIZE)[:, None]
    weights = tl.load(w1 + columns * HIDDEN + units[None, :], mask=columns < size, other=0.0)
    values = tl.dot(x, weights, input_precision=PRECISION) + tl.load(b1 + units)[None, :]
    return tl.maximum(values, 0.0), weights


@triton.jit
def _second_layer(
    x, w1, b1, w2, b2, size, ROWS: tl.constexpr,
    SIZE: tl.constexpr, HIDDEN: tl.constexpr, CHUNK: tl.constexpr, PRECISION: tl.constexpr,
):
    """Return the second hidden layer, (ROWS, HIDDEN)."""
    every = tl.arange(0, HIDDEN)[None, :]
    total = tl.zeros((ROWS, HIDDEN), tl.float32)
    for start in range(0, HIDDEN, CHUNK):
        units, _ = _some_units(x, w1, b1, start, size, SIZE, HIDDEN, CHUNK, PRECISION)
        weights = tl.load(w2 + (start + tl.arange(0, CHUNK))[:, None] * HIDDEN + every)
        total = tl.dot(units, weights, total, input_precision=PRECISION)
    return tl.maximum(total + tl.load(b2 + every), 0.0)


@triton.jit
def _leaving_first(
    leaving_second, units, w2, start,
    HIDDEN: tl.constexpr, CHUNK: tl.constexpr, PRECISION: tl.constexpr,
):
    """Return the derivatives in what leaves CHUNK units of the first layer, before their ReLU."""
    places = (start + tl.arange(0, CHUNK))[None, :] * HIDDEN + tl.arange(0, HIDDEN)[:, None]
    slopes = tl.dot(leaving_second, tl.load(w2 + places), input_precision=PRECISION)
    return tl.where(units > 0.0, slopes, 0.0)


@triton.jit
def value_kernel(
    inputs, w1, b1, w2, b2, w3, b3, values, batch, size, ROWS: tl.constexpr,
    SIZE: tl.constexpr, HIDDEN: tl.constexpr, CHUNK: tl.constexpr, PRECISION: tl.constexpr,
):
    pair = tl.program_id(1).to(tl.int64)
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    x = _rows_of(inputs, pair, rows, batch, size, SIZE)
    w1 += pair * size * HIDDEN
    b1 += pair * HIDDEN
    w2 += pair * HIDDEN * HIDDEN
    b2 += pair * HIDDEN
    second = _second_layer(x, w1, b1, w2, b2, size, ROWS, SIZE, HIDDEN, CHUNK, PRECISION)
    last = tl.load(w3 + pair * HIDDEN + tl.arange(0, HIDDEN))[None, :]
    value = tl.sum(second * last, 1) + tl.load(b3 + pair)
    tl.store(values + pair * batch + rows, value, mask=rows < batch)


@triton.jit
def slope_kernel(
    inputs, w1, b1, w2, b2, w3, b3, values, slopes, batch, size, actions, ROWS: tl.constexpr,
    SIZE: tl.constexpr, HIDDEN: tl.constexpr, CHUNK: tl.constexpr, PRECISION: tl.constexpr,
):
    pair = tl.program_id(1).to(tl.int64)
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    x = _rows_of(inputs, pair, rows, batch, size, SIZE)
    w1 += pair * size * HIDDEN
    b1 += pair * HIDDEN
    w2 += pair * HIDDEN * HIDDEN
    b2 += pair * HIDDEN
    second = _second_layer(x, w1, b1, w2, b2, size, ROWS, SIZE, HIDDEN, CHUNK, PRECISION)
    last = tl.load(w3 + pair * HIDDEN + tl.arange(0, HIDDEN))[None, :]
    value = tl.sum(second * last, 1) + tl.load(b3 + pair)
    tl.store(values + pair * batch + rows, value, mask=rows < batch)

    leaving_second = tl.where(second > 0.0, last, 0.0)
    entering = tl.zeros((ROWS, SIZE), tl.float32)
    for start in range(0, HIDDEN, CHUNK):
        units, weights = _some_units(x, w1, b1, start, size, SIZE, HIDDEN, CHUNK, PRECISION)
        leaving = _leaving_first(leaving_second, units, w2, start, HIDDEN, CHUNK, PRECISION)
        entering = tl.dot(leaving, tl.trans(weights), entering, input_precision=PRECISION)
    action = (tl.arange(0, SIZE) - (size - actions))[None, :]  # the last columns are the actions'
    places = (pair * batch + rows)[:, None] * actions + action
    inside = (rows[:, None] < batch) & (action >= 0) & (action < actions)
    tl.store(slopes + places, entering, mask=inside)


@triton.jit
def error_kernel(
    inputs, w1, b1, w2, b2, w3, b3, first, leaving_second, leaving_first, sums, targets,
    batch, size, scale, width, ROWS: tl.constexpr,
    SIZE: tl.constexpr, HIDDEN: tl.constexpr, CHUNK: tl.constexpr, PRECISION: tl.constexpr,
):
    pair = tl.program_id(1).to(tl.int64)
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    inside = rows < batch
    x = _rows_of(inputs, pair, rows, batch, size, SIZE)
    w1 += pair * size * HIDDEN
    b1 += pair * HIDDEN
    w2 += pair * HIDDEN * HIDDEN
    b2 += pair * HIDDEN
    sums += (pair * tl.num_programs(0) + tl.program_id(0)) * width
    second = _second_layer(x, w1, b1, w2, b2, size, ROWS, SIZE, HIDDEN, CHUNK, PRECISION)
    every = tl.arange(0, HIDDEN)
    last = tl.load(w3 + pair * HIDDEN + every)[None, :]
    value = tl.sum(second * last, 1) + tl.load(b3 + pair)
    target = tl.load(targets + (pair // 2) * batch + rows, mask=inside, other=0.0)
    distance = tl.where(inside, value - target, 0.0)
    slope = 2.0 * scale * distance
    tl.store(sums + every, tl.sum(second * slope[:, None], 0))
    tl.store(sums + 3 * HIDDEN, tl.sum(slope, 0))
    tl.store(sums + 3 * HIDDEN + 1, scale * tl.sum(distance * distance, 0))

    leaving = tl.where(second > 0.0, last * slope[:, None], 0.0)
    tl.store(sums + HIDDEN + every, tl.sum(leaving, 0))
    row = (pair * batch + rows)[:, None] * HIDDEN
    tl.store(leaving_second + row + every[None, :], leaving, mask=inside[:, None])
    for start in range(0, HIDDEN, CHUNK):
        some = start + tl.arange(0, CHUNK)
        units, _ = _some_units(x, w1, b1, start, size, SIZE, HIDDEN, CHUNK, PRECISION)
        tl.store(first + row + some[None, :], units, mask=inside[:, None])
        before = _leaving_first(leaving, units, w2, start, HIDDEN, CHUNK, PRECISION)
        tl.store(leaving_first + row + some[None, :], before, mask=inside[:, None])
        tl.store(sums + 2 * HIDDEN + some, tl.sum(before, 0))
