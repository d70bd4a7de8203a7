"""Kernels in Triton for the tests."""

import triton
import triton.language as tl


@triton.jit
def softmax(out, rows, columns, stride, BLOCK: tl.constexpr):
    """Each block makes the softmax of a row."""
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    inside = column < columns
    x = tl.load(rows + row * stride + column, mask=inside, other=-float("inf"))
    x = tl.exp(x - tl.max(x, axis=0))
    tl.store(out + row * stride + column, x / tl.sum(x, axis=0), mask=inside)


@triton.jit
def scale(out, x, n, factor, BLOCK: tl.constexpr, TURNS: tl.constexpr):
    """Each block multiplies TURNS pieces."""
    for turn in range(TURNS):
        i = (tl.program_id(0) * TURNS + turn) * BLOCK + tl.arange(0, BLOCK)
        tl.store(out + i, tl.load(x + i, mask=i < n) * factor, mask=i < n)


@triton.jit
def gather(out, x, index, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    at = tl.load(index + i, mask=i < n)
    tl.store(out + i, tl.load(x + at, mask=i < n), mask=i < n)
