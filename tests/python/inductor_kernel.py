"""A kernel as PyTorch's Inductor writes them, for the tests."""

import triton
import triton.language as tl


@triton.jit
def triton_doubled(in_ptr0, out_ptr0, xnumel, XBLOCK: tl.constexpr):
    x = tl.program_id(0) * XBLOCK + tl.arange(0, XBLOCK)
    inside = x < xnumel
    tl.store(out_ptr0 + x, 2 * tl.load(in_ptr0 + x, inside), inside)
