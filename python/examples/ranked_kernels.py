"""Six kernels in Triton with 50 configurations each, for rank_configurations.py."""

import random

import triton
import triton.language as tl

COUNT_OF_CONFIGS = 50
ROWS, COLUMNS = 4096, 3000
HEIGHT, WIDTH = 4096, 4096
NORM_ROWS, NORM_COLUMNS = 8192, 2200
TALL_ROWS, TALL_COLUMNS = 6000, 4000
PRODUCT = 2048  # rows, columns and depth
HEADS, TOKENS, HEAD = 32, 2048, 64

_SHARED_BYTES = 220 * 1024
"""Of tiles that are in flight, so that a block of an H200 holds them."""
_LARGEST_TILE = 1024
"""Numbers of an accumulator per warp's thread, times 4: larger ones do not fit the registers."""


@triton.jit
def softmax(out, rows, count, columns, GROUP: tl.constexpr, CHUNK: tl.constexpr):
    """Each block makes the softmax of GROUP rows. It walks along them twice, CHUNK columns at a time: for the largest
    value and the sum, then for the results."""
    row = tl.program_id(0) * GROUP + tl.arange(0, GROUP)
    begin = row[:, None] * columns
    inside_rows = row[:, None] < count
    column = tl.arange(0, CHUNK)[None, :]
    largest = tl.full((GROUP,), -1e30, tl.float32)
    total = tl.zeros((GROUP,), tl.float32)
    for first in range(0, columns, CHUNK):
        at = first + column
        x = tl.load(rows + begin + at, mask=inside_rows & (at < columns), other=-1e30)
        higher = tl.maximum(largest, tl.max(x, axis=1))
        total = total * tl.exp(largest - higher) + tl.sum(tl.exp(x - higher[:, None]), axis=1)
        largest = higher
    for first in range(0, columns, CHUNK):
        at = first + column
        inside = inside_rows & (at < columns)
        x = tl.load(rows + begin + at, mask=inside, other=0.0)
        tl.store(out + begin + at, tl.exp(x - largest[:, None]) / total[:, None], mask=inside)


@triton.jit
def stencil(out, field, height, width, center, side, TALL: tl.constexpr, WIDE: tl.constexpr):
    """Each block weighs the points of a tile and their four neighbours."""
    y = tl.program_id(1) * TALL + tl.arange(0, TALL)[:, None]
    x = tl.program_id(0) * WIDE + tl.arange(0, WIDE)[None, :]
    inside = (y < height) & (x < width)
    at = field + y * width + x
    sum = tl.load(at - width, mask=inside & (y > 0), other=0.0)
    sum += tl.load(at + width, mask=inside & (y + 1 < height), other=0.0)
    sum += tl.load(at - 1, mask=inside & (x > 0), other=0.0)
    sum += tl.load(at + 1, mask=inside & (x + 1 < width), other=0.0)
    here = tl.load(at, mask=inside, other=0.0)
    tl.store(out + y * width + x, center * here + side * sum, mask=inside)


@triton.jit
def layer_norm(out, rows, weight, bias, count, columns, epsilon, GROUP: tl.constexpr, CHUNK: tl.constexpr):
    """Each block normalizes GROUP rows of halves. It walks along them twice: for the sums of numbers and of squares,
    then for the results."""
    row = tl.program_id(0) * GROUP + tl.arange(0, GROUP)
    begin = row[:, None] * columns
    inside_rows = row[:, None] < count
    column = tl.arange(0, CHUNK)[None, :]
    sums = tl.zeros((GROUP, CHUNK), tl.float32)
    squares = tl.zeros((GROUP, CHUNK), tl.float32)
    for first in range(0, columns, CHUNK):
        at = first + column
        x = tl.load(rows + begin + at, mask=inside_rows & (at < columns), other=0.0).to(tl.float32)
        sums += x
        squares += x * x
    mean = tl.sum(sums, axis=1) / columns
    variance = tl.sum(squares, axis=1) / columns - mean * mean
    scale = 1 / tl.sqrt(variance + epsilon)
    for first in range(0, columns, CHUNK):
        at = first + column
        inside = inside_rows & (at < columns)
        x = tl.load(rows + begin + at, mask=inside, other=0.0).to(tl.float32)
        w = tl.load(weight + at, mask=at < columns, other=0.0).to(tl.float32)
        b = tl.load(bias + at, mask=at < columns, other=0.0).to(tl.float32)
        tl.store(out + begin + at, ((x - mean[:, None]) * scale[:, None] * w + b).to(tl.float16), mask=inside)


@triton.jit
def transposition(out, field, height, width, TALL: tl.constexpr, WIDE: tl.constexpr):
    """Each block moves a tile of TALL rows of WIDE numbers."""
    y = tl.program_id(1) * TALL + tl.arange(0, TALL)[:, None]
    x = tl.program_id(0) * WIDE + tl.arange(0, WIDE)[None, :]
    inside = (y < height) & (x < width)
    tile = tl.load(field + y * width + x, mask=inside)
    tl.store(out + x * height + y, tile, mask=inside)


@triton.jit
def product(out, a, b, m, n, k, TALL: tl.constexpr, WIDE: tl.constexpr, DEEP: tl.constexpr, GROUP: tl.constexpr):
    """Each block makes a tile of the product of two matrices of halves, DEEP columns of `a` at a time. Blocks that
    follow one another work on GROUP rows of tiles."""
    tiles_of_row = tl.cdiv(n, WIDE)
    block = tl.program_id(0)
    band = block // (GROUP * tiles_of_row)
    rows_of_band = tl.minimum(tl.cdiv(m, TALL) - band * GROUP, GROUP)
    within = block % (GROUP * tiles_of_row)
    y = (band * GROUP + within % rows_of_band) * TALL + tl.arange(0, TALL)
    x = within // rows_of_band * WIDE + tl.arange(0, WIDE)
    z = tl.arange(0, DEEP)
    at_a = a + y[:, None] * k + z[None, :]
    at_b = b + z[:, None] * n + x[None, :]
    sum = tl.zeros((TALL, WIDE), tl.float32)
    for _ in range(0, k, DEEP):
        sum = tl.dot(tl.load(at_a), tl.load(at_b), sum)
        at_a += DEEP
        at_b += DEEP * n
    tl.store(out + y[:, None] * n + x[None, :], sum.to(tl.float16))


@triton.jit
def attention(out, q, k, v, tokens, scale, HEAD: tl.constexpr, TALL: tl.constexpr, WIDE: tl.constexpr):
    """Each block makes TALL rows of the attention of one head, WIDE keys at a time."""
    head = tl.program_id(1).to(tl.int64) * tokens * HEAD
    row = tl.program_id(0) * TALL + tl.arange(0, TALL)
    d = tl.arange(0, HEAD)
    key = tl.arange(0, WIDE)
    query = tl.load(q + head + row[:, None] * HEAD + d[None, :])
    largest = tl.full((TALL,), -1e30, tl.float32)
    total = tl.zeros((TALL,), tl.float32)
    sum = tl.zeros((TALL, HEAD), tl.float32)
    for first in range(0, tokens, WIDE):
        keys = tl.load(k + head + (first + key)[None, :] * HEAD + d[:, None])
        score = tl.dot(query, keys) * scale
        higher = tl.maximum(largest, tl.max(score, axis=1))
        weight = tl.exp2(score - higher[:, None])
        shrink = tl.exp2(largest - higher)
        total = total * shrink + tl.sum(weight, axis=1)
        values = tl.load(v + head + (first + key)[:, None] * HEAD + d[None, :])
        sum = tl.dot(weight.to(tl.float16), values, sum * shrink[:, None])
        largest = higher
    tl.store(out + head + row[:, None] * HEAD + d[None, :], (sum / total[:, None]).to(tl.float16))


def softmax_configs():
    """Tiles of 128 to 8192 numbers."""
    return [
        {"GROUP": group, "CHUNK": chunk, "num_warps": warps}
        for group in (1, 2, 8)
        for chunk in (128, 512, 1024, 4096)
        for warps in (1, 2, 4, 8, 16)
        if group * chunk <= 8192
    ][:COUNT_OF_CONFIGS]


def stencil_configs():
    """Tiles of 32 to 8192 numbers, TALL rows of WIDE numbers each."""
    return [
        {"TALL": tall, "WIDE": wide, "num_warps": warps}
        for tall in (1, 2, 8, 32)
        for wide in (16, 64, 256, 1024)
        for warps in (1, 2, 4, 8)
        if 32 <= tall * wide <= 8192
    ][:COUNT_OF_CONFIGS]


def _drawn(configs):
    """Fifty of them, always the same."""
    return random.Random(1).sample(configs, COUNT_OF_CONFIGS)


def layer_norm_configs():
    """Tiles of 64 to 8192 numbers."""
    return _drawn(
        [
            {"GROUP": group, "CHUNK": chunk, "num_warps": warps}
            for group in (1, 2, 4, 16)
            for chunk in (64, 256, 512, 1024, 4096)
            for warps in (1, 2, 4, 8, 16)
            if group * chunk <= 8192
        ]
    )


def transposition_configs():
    """Tiles of 128 to 8192 numbers, TALL rows of WIDE numbers each."""
    return _drawn(
        [
            {"TALL": tall, "WIDE": wide, "num_warps": warps}
            for tall in (1, 4, 8, 16, 32, 64, 128)
            for wide in (1, 4, 8, 16, 32, 64, 128)
            for warps in (1, 2, 4, 8)
            if 128 <= tall * wide <= 8192
        ]
    )


def product_configs():
    """Tiles whose accumulators and buffers fit registers and shared memory."""
    return _drawn(
        [
            {"TALL": tall, "WIDE": wide, "DEEP": deep, "GROUP": group, "num_warps": warps, "num_stages": stages}
            for tall in (32, 64, 128, 256)
            for wide in (32, 64, 128, 256)
            for deep in (32, 64, 128)
            for group in (1, 8)
            for warps in (4, 8)
            for stages in (2, 3, 4)
            if tall * wide <= _LARGEST_TILE * 8 * warps and (tall + wide) * deep * 2 * stages <= _SHARED_BYTES
        ]
    )


def attention_configs():
    """Tiles of TALL queries and WIDE keys."""
    return _drawn(
        [
            {"HEAD": HEAD, "TALL": tall, "WIDE": wide, "num_warps": warps, "num_stages": stages}
            for tall in (16, 32, 64, 128, 256)
            for wide in (16, 32, 64, 128)
            for warps in (2, 4, 8)
            for stages in (1, 2, 3, 4)
            if tall * max(wide, HEAD) <= _LARGEST_TILE * 4 * warps and wide * HEAD * 4 * stages <= _SHARED_BYTES
        ]
    )


def cases(arrays):
    """Name, kernel, configurations, grid and arguments of each kernel. `arrays(count, is_half)` makes an array of that
    many numbers from 0 to 1."""
    cdiv = triton.cdiv
    args = [arrays(ROWS * COLUMNS, False), arrays(ROWS * COLUMNS, False), ROWS, COLUMNS]
    yield "softmax", softmax, softmax_configs(), lambda c: (cdiv(ROWS, c["GROUP"]),), args
    args = [arrays(HEIGHT * WIDTH, False), arrays(HEIGHT * WIDTH, False), HEIGHT, WIDTH, 0.5, 0.125]
    grid = lambda c: (cdiv(WIDTH, c["WIDE"]), cdiv(HEIGHT, c["TALL"]))  # noqa: E731
    yield "stencil", stencil, stencil_configs(), grid, args
    args = [arrays(NORM_ROWS * NORM_COLUMNS, True), arrays(NORM_ROWS * NORM_COLUMNS, True)]
    args += [arrays(NORM_COLUMNS, True), arrays(NORM_COLUMNS, True), NORM_ROWS, NORM_COLUMNS, 1e-5]
    yield "layer_norm", layer_norm, layer_norm_configs(), lambda c: (cdiv(NORM_ROWS, c["GROUP"]),), args
    args = [arrays(TALL_ROWS * TALL_COLUMNS, False), arrays(TALL_ROWS * TALL_COLUMNS, False), TALL_ROWS, TALL_COLUMNS]
    grid = lambda c: (cdiv(TALL_COLUMNS, c["WIDE"]), cdiv(TALL_ROWS, c["TALL"]))  # noqa: E731
    yield "transposition", transposition, transposition_configs(), grid, args
    args = [arrays(PRODUCT**2, True), arrays(PRODUCT**2, True), arrays(PRODUCT**2, True), PRODUCT, PRODUCT, PRODUCT]
    grid = lambda c: (cdiv(PRODUCT, c["TALL"]) * cdiv(PRODUCT, c["WIDE"]),)  # noqa: E731
    yield "product", product, product_configs(), grid, args
    count = HEADS * TOKENS * HEAD
    args = [*(arrays(count, True) for _ in range(4)), TOKENS, 1.4427 / HEAD**0.5]
    yield "attention", attention, attention_configs(), lambda c: (cdiv(TOKENS, c["TALL"]), HEADS), args
