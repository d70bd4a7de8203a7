"""Kernels of Warp for the tests."""

import warp

FACTORS = warp.vec3(1.0, 2.0, 3.0)


@warp.kernel
def scale(out: warp.array(dtype=float), x: warp.array(dtype=float), factor: float):
    i = warp.tid()
    out[i] = factor * x[i]


@warp.kernel
def scale_pairs(
    out: warp.array(dtype=warp.vec3, ndim=2), x: warp.array(dtype=warp.vec3, ndim=2), factors: warp.vec3
):
    i, j = warp.tid()
    out[i, j] = warp.cw_mul(x[i, j], factors)
