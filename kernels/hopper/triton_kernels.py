"""Triton kernels of the suite `hopper`: matrix products, attention, normalisations and fused products.

They were written for this suite. Each covers one way in which compilers use Hopper's asynchronous units: products of
warp groups with pointers, with tensor descriptors (TMA), with persistent blocks, with split K and counters, and chains
of two products with a softmax between them. Sizes are multiples of the tiles, so that no kernel needs masks.
"""
import triton
import triton.language as tl


@triton.jit
def tile_of(tile, tiles_m, tiles_n, GROUP: tl.constexpr):
    """Row and column of a tile: GROUP rows of tiles are walked column by column, so that the L2 holds their inputs."""
    of_group = GROUP * tiles_n
    first = tile // of_group * GROUP
    rows = tl.minimum(tiles_m - first, GROUP)
    return first + tile % of_group % rows, tile % of_group // rows


@triton.jit
def product_tile(a, b, row, column, n, k, start, stop, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """A tile of a (m x k) times b (k x n), over [start, stop) of k."""
    rows = row * M + tl.arange(0, M)
    columns = column * N + tl.arange(0, N)
    inner = start + tl.arange(0, K)
    a_at = a + rows[:, None] * k + inner[None, :]
    b_at = b + inner[:, None] * n + columns[None, :]
    sums = tl.zeros((M, N), dtype=tl.float32)
    for _ in range(start, stop, K):
        sums = tl.dot(tl.load(a_at), tl.load(b_at), sums)
        a_at += K
        b_at += K * n
    return sums


@triton.jit
def store_tile(c, sums, row, column, n, M: tl.constexpr, N: tl.constexpr):
    rows = row * M + tl.arange(0, M)
    columns = column * N + tl.arange(0, N)
    tl.store(c + rows[:, None] * n + columns[None, :], sums.to(c.dtype.element_ty))


@triton.jit
def gemm_pointers(a, b, c, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, GROUP: tl.constexpr):
    row, column = tile_of(tl.program_id(0), m // M, n // N, GROUP)
    store_tile(c, product_tile(a, b, row, column, n, k, 0, k, M, N, K), row, column, n, M, N)


@triton.jit
def gemm_transposed(a, b, c, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, GROUP: tl.constexpr):
    """b is n x k, as products of 8-bit floats need it."""
    row, column = tile_of(tl.program_id(0), m // M, n // N, GROUP)
    rows = row * M + tl.arange(0, M)
    columns = column * N + tl.arange(0, N)
    inner = tl.arange(0, K)
    sums = tl.zeros((M, N), dtype=tl.float32)
    for step in range(0, k, K):
        left = tl.load(a + rows[:, None] * k + (step + inner)[None, :])
        right = tl.load(b + columns[None, :] * k + (step + inner)[:, None])
        sums = tl.dot(left, right, sums)
    store_tile(c, sums, row, column, n, M, N)


@triton.jit
def gemm_persistent(a, b, c, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, GROUP: tl.constexpr):
    for tile in tl.range(tl.program_id(0), (m // M) * (n // N), tl.num_programs(0)):
        row, column = tile_of(tile, m // M, n // N, GROUP)
        store_tile(c, product_tile(a, b, row, column, n, k, 0, k, M, N, K), row, column, n, M, N)


@triton.jit
def gemm_boxes(a, b, c, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, GROUP: tl.constexpr,
               FLAT: tl.constexpr):
    """a, b (n x k) and c are tensor descriptors. With as many blocks as tiles each has one tile, else some."""
    for tile in tl.range(tl.program_id(0), (m // M) * (n // N), tl.num_programs(0), flatten=FLAT):
        row, column = tile_of(tile, m // M, n // N, GROUP)
        sums = tl.zeros((M, N), dtype=tl.float32)
        for step in range(0, k, K):
            left = a.load([row * M, step])
            right = b.load([column * N, step])
            sums = tl.dot(left, right.T, sums)
        c.store([row * M, column * N], sums.to(c.dtype))


@triton.jit
def gemm_made_boxes(a, b, c, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, GROUP: tl.constexpr):
    """As gemm_boxes, with descriptors that the kernel makes in global memory."""
    a_boxes = tl.make_tensor_descriptor(a, [m, k], [k, 1], [M, K])
    b_boxes = tl.make_tensor_descriptor(b, [n, k], [k, 1], [N, K])
    c_boxes = tl.make_tensor_descriptor(c, [m, n], [n, 1], [M, N])
    row, column = tile_of(tl.program_id(0), m // M, n // N, GROUP)
    sums = tl.zeros((M, N), dtype=tl.float32)
    for step in range(0, k, K):
        sums = tl.dot(a_boxes.load([row * M, step]), b_boxes.load([column * N, step]).T, sums)
    c_boxes.store([row * M, column * N], sums.to(c.dtype.element_ty))


@triton.jit
def gemm_split_added(a, b, c, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """Parts of k are added to c by atomics."""
    tile, part, parts = tl.program_id(0), tl.program_id(1), tl.num_programs(1)
    row, column = tile_of(tile, m // M, n // N, 4)
    sums = product_tile(a, b, row, column, n, k, part * (k // parts), (part + 1) * (k // parts), M, N, K)
    rows = row * M + tl.arange(0, M)
    columns = column * N + tl.arange(0, N)
    tl.atomic_add(c + rows[:, None] * n + columns[None, :], sums, sem="relaxed")


@triton.jit
def gemm_split_counted(a, b, c, sums_of, counters, m, n, k, PARTS: tl.constexpr, M: tl.constexpr, N: tl.constexpr,
                       K: tl.constexpr):
    """Each part of k writes its sums, and the block that counts last adds them."""
    tile, part = tl.program_id(0), tl.program_id(1)
    row, column = tile_of(tile, m // M, n // N, 4)
    sums = product_tile(a, b, row, column, n, k, part * (k // PARTS), (part + 1) * (k // PARTS), M, N, K)
    cells = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(sums_of + (tile * PARTS + part) * M * N + cells, sums)
    tl.debug_barrier()
    if tl.atomic_add(counters + tile, 1) == PARTS - 1:
        total = tl.zeros((M, N), dtype=tl.float32)
        for other in range(PARTS):
            total += tl.load(sums_of + (tile * PARTS + other) * M * N + cells, cache_modifier=".cg")
        store_tile(c, total, row, column, n, M, N)


@triton.jit
def gemm_group(pointers, sizes, groups, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """Products of several sizes: pointers has a, b, c of each, sizes m, n, k. Blocks take tiles in turn."""
    tile = tl.program_id(0)
    before = 0
    for group in range(groups):
        m = tl.load(sizes + 3 * group)
        n = tl.load(sizes + 3 * group + 1)
        k = tl.load(sizes + 3 * group + 2)
        tiles = (m // M) * (n // N)
        a = tl.load(pointers + 3 * group).to(tl.pointer_type(tl.float16))
        b = tl.load(pointers + 3 * group + 1).to(tl.pointer_type(tl.float16))
        c = tl.load(pointers + 3 * group + 2).to(tl.pointer_type(tl.float16))
        while tile < before + tiles:
            inside = tile - before
            row, column = inside // (n // N), inside % (n // N)
            store_tile(c, product_tile(a, b, row, column, n, k, 0, k, M, N, K), row, column, n, M, N)
            tile += tl.num_programs(0)
        before += tiles


@triton.jit
def gemm_bias_activation(a, b, bias, c, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    row, column = tile_of(tl.program_id(0), m // M, n // N, 4)
    sums = product_tile(a, b, row, column, n, k, 0, k, M, N, K)
    sums += tl.load(bias + column * N + tl.arange(0, N)).to(tl.float32)[None, :]
    sums = sums * tl.sigmoid(1.702 * sums)
    store_tile(c, sums, row, column, n, M, N)


@triton.jit
def gemm_gated(a, gate, up, c, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """silu(a x gate) * (a x up) with two accumulators."""
    row, column = tile_of(tl.program_id(0), m // M, n // N, 4)
    rows = row * M + tl.arange(0, M)
    columns = column * N + tl.arange(0, N)
    inner = tl.arange(0, K)
    gates = tl.zeros((M, N), dtype=tl.float32)
    ups = tl.zeros((M, N), dtype=tl.float32)
    for step in range(0, k, K):
        left = tl.load(a + rows[:, None] * k + (step + inner)[None, :])
        at = (step + inner)[:, None] * n + columns[None, :]
        gates = tl.dot(left, tl.load(gate + at), gates)
        ups = tl.dot(left, tl.load(up + at), ups)
    store_tile(c, gates * tl.sigmoid(gates) * ups, row, column, n, M, N)


@triton.jit
def gemm_scaled(a, b, a_scale, b_scale, c, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """8-bit floats with one scale for each row and 128 of k of a, and for each 128 x 128 of b (n x k)."""
    row, column = tile_of(tl.program_id(0), m // M, n // N, 4)
    rows = row * M + tl.arange(0, M)
    columns = column * N + tl.arange(0, N)
    inner = tl.arange(0, K)
    sums = tl.zeros((M, N), dtype=tl.float32)
    for step in range(0, k, K):
        left = tl.load(a + rows[:, None] * k + (step + inner)[None, :])
        right = tl.load(b + columns[None, :] * k + (step + inner)[:, None])
        scale = tl.load(a_scale + rows * (k // 128) + step // 128) * tl.load(
            b_scale + column * N // 128 * (k // 128) + step // 128)
        sums += tl.dot(left, right) * scale[:, None]
    store_tile(c, sums, row, column, n, M, N)


@triton.jit
def attend(q, k, v, out, logs, scale, length, CAUSAL: tl.constexpr, M: tl.constexpr, N: tl.constexpr,
           D: tl.constexpr):
    """Attention of M queries of a head: q, k, v and out are heads x length x D."""
    head = tl.program_id(1) * length
    first = tl.program_id(0) * M
    rows = first + tl.arange(0, M)
    depth = tl.arange(0, D)
    query = tl.load(q + (head + rows)[:, None] * D + depth[None, :])
    largest = tl.full((M,), float("-inf"), dtype=tl.float32)
    weight = tl.zeros((M,), dtype=tl.float32)
    sums = tl.zeros((M, D), dtype=tl.float32)
    stop = first + M if CAUSAL else length
    for start in range(0, stop, N):
        columns = start + tl.arange(0, N)
        keys = tl.load(k + (head + columns)[None, :] * D + depth[:, None])
        scores = tl.dot(query, keys) * (scale * 1.4426950408889634)
        if CAUSAL:
            scores = tl.where(rows[:, None] >= columns[None, :], scores, float("-inf"))
        raised = tl.maximum(largest, tl.max(scores, 1))
        shares = tl.math.exp2(scores - raised[:, None])
        kept = tl.math.exp2(largest - raised)
        weight = weight * kept + tl.sum(shares, 1)
        values = tl.load(v + (head + columns)[:, None] * D + depth[None, :])
        sums = tl.dot(shares.to(values.dtype), values, sums * kept[:, None])
        largest = raised
    tl.store(out + (head + rows)[:, None] * D + depth[None, :], (sums / weight[:, None]).to(out.dtype.element_ty))
    tl.store(logs + head + rows, largest + tl.math.log2(weight))


@triton.jit
def attend_boxes(q, k, v, out, logs, scale, length, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr):
    """As attend, with tensor descriptors of heads * length rows."""
    head = tl.program_id(1) * length
    first = head + tl.program_id(0) * M
    query = q.load([first, 0])
    largest = tl.full((M,), float("-inf"), dtype=tl.float32)
    weight = tl.zeros((M,), dtype=tl.float32)
    sums = tl.zeros((M, D), dtype=tl.float32)
    for start in range(head, head + length, N):
        scores = tl.dot(query, k.load([start, 0]).T) * (scale * 1.4426950408889634)
        raised = tl.maximum(largest, tl.max(scores, 1))
        shares = tl.math.exp2(scores - raised[:, None])
        kept = tl.math.exp2(largest - raised)
        weight = weight * kept + tl.sum(shares, 1)
        values = v.load([start, 0])
        sums = tl.dot(shares.to(values.dtype), values, sums * kept[:, None])
        largest = raised
    out.store([first, 0], (sums / weight[:, None]).to(out.dtype))
    tl.store(logs + first + tl.arange(0, M), largest + tl.math.log2(weight))


@triton.jit
def attend_keys_back(q, k, v, gradient, logs, deltas, dk, dv, scale, length, M: tl.constexpr, N: tl.constexpr,
                     D: tl.constexpr):
    """Gradients of N keys and values of a head."""
    head = tl.program_id(1) * length
    columns = tl.program_id(0) * N + tl.arange(0, N)
    depth = tl.arange(0, D)
    at_columns = (head + columns)[:, None] * D + depth[None, :]
    keys = tl.load(k + at_columns)
    values = tl.load(v + at_columns)
    key_sums = tl.zeros((N, D), dtype=tl.float32)
    value_sums = tl.zeros((N, D), dtype=tl.float32)
    for start in range(0, length, M):
        rows = start + tl.arange(0, M)
        at_rows = (head + rows)[:, None] * D + depth[None, :]
        query = tl.load(q + at_rows)
        scores = tl.dot(keys, query.T) * (scale * 1.4426950408889634)
        shares = tl.math.exp2(scores - tl.load(logs + head + rows)[None, :])
        grads = tl.load(gradient + at_rows)
        value_sums = tl.dot(shares.to(grads.dtype), grads, value_sums)
        back = shares * (tl.dot(values, grads.T) - tl.load(deltas + head + rows)[None, :])
        key_sums = tl.dot(back.to(query.dtype), query, key_sums)
    tl.store(dv + at_columns, value_sums.to(dv.dtype.element_ty))
    tl.store(dk + at_columns, (key_sums * scale).to(dk.dtype.element_ty))


@triton.jit
def attend_queries_back(q, k, v, gradient, logs, deltas, dq, scale, length, M: tl.constexpr, N: tl.constexpr,
                        D: tl.constexpr):
    """Gradients of M queries of a head."""
    head = tl.program_id(1) * length
    rows = tl.program_id(0) * M + tl.arange(0, M)
    depth = tl.arange(0, D)
    at_rows = (head + rows)[:, None] * D + depth[None, :]
    query = tl.load(q + at_rows)
    grads = tl.load(gradient + at_rows)
    log = tl.load(logs + head + rows)
    delta = tl.load(deltas + head + rows)
    sums = tl.zeros((M, D), dtype=tl.float32)
    for start in range(0, length, N):
        columns = start + tl.arange(0, N)
        at_columns = (head + columns)[:, None] * D + depth[None, :]
        keys = tl.load(k + at_columns)
        scores = tl.dot(query, keys.T) * (scale * 1.4426950408889634)
        shares = tl.math.exp2(scores - log[:, None])
        back = shares * (tl.dot(grads, tl.load(v + at_columns).T) - delta[:, None])
        sums = tl.dot(back.to(keys.dtype), keys, sums)
    tl.store(dq + at_rows, (sums * scale).to(dq.dtype.element_ty))


@triton.jit
def row_norm(x, weight, bias, y, means, scales, columns, WIDTH: tl.constexpr):
    """Each row less its mean, over its deviation."""
    row = tl.program_id(0)
    at = tl.arange(0, WIDTH)
    values = tl.load(x + row * columns + at, mask=at < columns, other=0).to(tl.float32)
    mean = tl.sum(values, 0) / columns
    apart = tl.where(at < columns, values - mean, 0)
    scale = tl.rsqrt(tl.sum(apart * apart, 0) / columns + 1e-5)
    tl.store(means + row, mean)
    tl.store(scales + row, scale)
    weights = tl.load(weight + at, mask=at < columns).to(tl.float32)
    biases = tl.load(bias + at, mask=at < columns).to(tl.float32)
    tl.store(y + row * columns + at, (apart * scale * weights + biases).to(y.dtype.element_ty), mask=at < columns)


@triton.jit
def row_norm_back(x, weight, gradient, dx, dw, means, scales, columns, WIDTH: tl.constexpr):
    """Gradients of a row, and its share of those of the weights by atomics."""
    row = tl.program_id(0)
    at = tl.arange(0, WIDTH)
    values = tl.load(x + row * columns + at, mask=at < columns, other=0).to(tl.float32)
    grads = tl.load(gradient + row * columns + at, mask=at < columns, other=0).to(tl.float32)
    weights = tl.load(weight + at, mask=at < columns, other=0).to(tl.float32)
    scale = tl.load(scales + row)
    normal = tl.where(at < columns, (values - tl.load(means + row)) * scale, 0)
    weighted = weights * grads
    first = tl.sum(normal * weighted, 0) / columns
    second = tl.sum(weighted, 0) / columns
    tl.store(dx + row * columns + at, ((weighted - (normal * first + second)) * scale).to(dx.dtype.element_ty),
             mask=at < columns)
    tl.atomic_add(dw + at, grads * normal, mask=at < columns, sem="relaxed")


@triton.jit
def row_shares(x, y, columns, WIDTH: tl.constexpr):
    """exp of each element of a row over the sum of all."""
    row = tl.program_id(0)
    at = tl.arange(0, WIDTH)
    values = tl.load(x + row * columns + at, mask=at < columns, other=float("-inf")).to(tl.float32)
    raised = tl.exp(values - tl.max(values, 0))
    tl.store(y + row * columns + at, (raised / tl.sum(raised, 0)).to(y.dtype.element_ty), mask=at < columns)


@triton.jit
def drop(x, y, elements, share, seed, WIDTH: tl.constexpr):
    at = tl.program_id(0) * WIDTH + tl.arange(0, WIDTH)
    values = tl.load(x + at, mask=at < elements)
    kept = tl.rand(seed, at) > share
    tl.store(y + at, tl.where(kept, values / (1 - share), 0.0), mask=at < elements)


@triton.jit
def rotate(x, angles, y, length, D: tl.constexpr, ROWS: tl.constexpr):
    """Rotates pairs of a head's halves by angles of the position."""
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    half = tl.arange(0, D // 2)
    angle = tl.load(angles + (rows % length)[:, None] * (D // 2) + half[None, :])
    at = rows[:, None] * D + half[None, :]
    left, right = tl.load(x + at).to(tl.float32), tl.load(x + at + D // 2).to(tl.float32)
    cosine, sine = tl.cos(angle), tl.sin(angle)
    tl.store(y + at, (left * cosine - right * sine).to(y.dtype.element_ty))
    tl.store(y + at + D // 2, (left * sine + right * cosine).to(y.dtype.element_ty))
