#!/usr/bin/env python3
"""The operations of the suite `hopper`: Triton kernels of this folder, and what PyTorch calls of cuBLAS and cuDNN.

    python3 kernels/hopper/operations.py list               names, one a line
    python3 kernels/hopper/operations.py counts FILE.json   runs each once and writes how many kernels it launches
    python3 kernels/hopper/operations.py bracket [N]        runs each N times between cudaProfilerStart and -Stop
    python3 kernels/hopper/operations.py once               runs each once, for `gputomo capture`

Names behind the command choose operations. Inputs repeat 64 KiB of random numbers, so that captures stay small. Set
PYTORCH_NO_CUDA_MEMORY_CACHING=1 for captures: then each tensor is an allocation of its own. Needs PyTorch, Triton and
a GPU of compute capability 9.0.
"""
import fcntl
import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

PERIOD = 1 << 16  # bytes after which inputs repeat
HALF_TILES = {"M": 128, "N": 128, "K": 64, "num_warps": 8, "num_stages": 3}


class Maker:
    """Makes operations: functions without parameters whose inputs are on the GPU."""

    def __init__(self):
        import torch
        import triton
        import triton_kernels
        self.torch, self.triton, self.kernels = torch, triton, triton_kernels
        torch.manual_seed(0)
        self.numbers = torch.randn(PERIOD)
        triton.set_allocator(lambda size, alignment, stream: torch.empty(size, device="cuda", dtype=torch.int8))

    def random(self, *shape, dtype=None, scale=1.0, add=0.0):
        """PERIOD bytes of random numbers again and again."""
        torch = self.torch
        dtype = dtype or torch.float16
        page = (self.numbers * scale + add).to(dtype)
        page = page[:PERIOD // page.element_size()]
        elements = 1
        for length in shape:
            elements *= length
        whole = page.view(torch.uint8).repeat((elements * page.element_size() + PERIOD - 1) // PERIOD)
        return whole[:elements * page.element_size()].cuda().view(dtype).view(*shape)

    def empty(self, *shape, dtype=None):
        return self.torch.empty(*shape, dtype=dtype or self.torch.float16, device="cuda")

    def boxes(self, tensor, *block):
        from triton.tools.tensor_descriptor import TensorDescriptor
        return TensorDescriptor.from_tensor(tensor, list(block))

    def gemm(self, kernel, m, n, k, dtype=None, out=None, blocks=None, transposed=False, **options):
        """A product by one of the kernels with the parameters of gemm_pointers."""
        options = {**HALF_TILES, "GROUP": 4, **options}
        a = self.random(m, k, dtype=dtype)
        b = self.random(*((n, k) if transposed else (k, n)), dtype=dtype, scale=0.5)
        c = self.empty(m, n, dtype=out or self.torch.float16)
        tiles = m // options["M"] * (n // options["N"])
        grid = (min(blocks, tiles) if blocks else tiles,)
        return lambda: getattr(self.kernels, kernel)[grid](a, b, c, m, n, k, **options)

    def gemm_boxes(self, m, n, k, dtype=None, blocks=None, **options):
        options = {**HALF_TILES, "GROUP": 4, "FLAT": False, **options}
        tile_m, tile_n, tile_k = options["M"], options["N"], options["K"]
        a = self.boxes(self.random(m, k, dtype=dtype), tile_m, tile_k)
        b = self.boxes(self.random(n, k, dtype=dtype, scale=0.5), tile_n, tile_k)
        c = self.boxes(self.empty(m, n), tile_m, tile_n)
        tiles = m // tile_m * (n // tile_n)
        grid = (min(blocks, tiles) if blocks else tiles,)
        return lambda: self.kernels.gemm_boxes[grid](a, b, c, m, n, k, **options)

    def gemm_split(self, counted, m, n, k, parts, **options):
        options = {**HALF_TILES, **options}
        torch = self.torch
        a, b = self.random(m, k), self.random(k, n, scale=0.5)
        c = self.torch.zeros(m, n, dtype=torch.float32).cuda()
        tiles = m // options["M"] * (n // options["N"])
        if not counted:
            return lambda: self.kernels.gemm_split_added[tiles, parts](a, b, c, m, n, k, **options)
        sums = self.empty(tiles * parts, options["M"], options["N"], dtype=torch.float32)
        counters = torch.zeros(tiles, dtype=torch.int32).cuda()

        def run():
            counters.zero_()
            self.kernels.gemm_split_counted[tiles, parts](a, b, c, sums, counters, m, n, k, PARTS=parts, **options)
        return run

    def gemm_group(self, sizes, **options):
        torch = self.torch
        options = {**HALF_TILES, **options}
        tensors = [(self.random(m, k), self.random(k, n, scale=0.5), self.empty(m, n)) for m, n, k in sizes]
        pointers = torch.tensor([t.data_ptr() for three in tensors for t in three], dtype=torch.int64).cuda()
        shape = torch.tensor([length for three in sizes for length in three], dtype=torch.int32).cuda()

        def run(kept=tensors):
            self.kernels.gemm_group[(132,)](pointers, shape, len(sizes), **options)
        return run

    def gemm_fused(self, kind, m, n, k, **options):
        torch, kernels = self.torch, self.kernels
        options = {**HALF_TILES, **options}
        grid = (m // options["M"] * (n // options["N"]),)
        c = self.empty(m, n, dtype=torch.bfloat16)
        if kind == "scaled":
            eight = torch.float8_e4m3fn
            a, b = self.random(m, k, dtype=eight), self.random(n, k, dtype=eight)
            a_scale = self.random(m, k // 128, dtype=torch.float32)
            b_scale = self.random(n // 128, k // 128, dtype=torch.float32)
            return lambda: kernels.gemm_scaled[grid](a, b, a_scale, b_scale, c, m, n, k, **options)
        a, b = self.random(m, k, dtype=torch.bfloat16), self.random(k, n, dtype=torch.bfloat16, scale=0.1)
        if kind == "gated":
            up = self.random(k, n, dtype=torch.bfloat16, scale=0.1)
            return lambda: kernels.gemm_gated[grid](a, b, up, c, m, n, k, **options)
        bias = self.random(n, dtype=torch.bfloat16)
        return lambda: kernels.gemm_bias_activation[grid](a, b, bias, c, m, n, k, **options)

    def heads(self, heads, length, depth, dtype=None):
        return [self.random(heads * length, depth, dtype=dtype, scale=scale) for scale in (1.0, 0.7, 0.5)]

    def attend(self, heads, length, depth, causal=False, dtype=None, boxes=False, M=128, N=64, **options):
        torch = self.torch
        options = {"num_warps": 8, "num_stages": 3, **options}
        q, k, v = self.heads(heads, length, depth, dtype)
        out, logs = torch.empty_like(q), self.empty(heads * length, dtype=torch.float32)
        grid, scale = (length // M, heads), depth ** -0.5
        if boxes:
            q, out = (self.boxes(tensor, M, depth) for tensor in (q, out))
            k, v = (self.boxes(tensor, N, depth) for tensor in (k, v))
            return lambda: self.kernels.attend_boxes[grid](q, k, v, out, logs, scale, length, M=M, N=N, D=depth,
                                                           **options)
        return lambda: self.kernels.attend[grid](q, k, v, out, logs, scale, length, CAUSAL=causal, M=M, N=N, D=depth,
                                                 **options)

    def attend_back(self, of_keys, heads, length, depth, M=64, N=128, **options):
        torch = self.torch
        options = {"num_warps": 8, "num_stages": 2, **options}
        q, k, v = self.heads(heads, length, depth)
        gradient = self.random(heads * length, depth, scale=0.3)
        logs = self.random(heads * length, dtype=torch.float32, add=12.0)
        deltas = self.random(heads * length, dtype=torch.float32)
        first, second = torch.empty_like(q), torch.empty_like(q)
        scale = depth ** -0.5
        if of_keys:
            return lambda: self.kernels.attend_keys_back[length // N, heads](
                q, k, v, gradient, logs, deltas, first, second, scale, length, M=M, N=N, D=depth, **options)
        return lambda: self.kernels.attend_queries_back[length // N, heads](
            q, k, v, gradient, logs, deltas, first, scale, length, M=N, N=M, D=depth, **options)

    def rows(self, kind, rows, columns, warps):
        torch, kernels = self.torch, self.kernels
        x, y, weight, bias = self.random(rows, columns), self.empty(rows, columns), self.random(columns), self.random(
            columns)
        width = self.triton.next_power_of_2(columns)
        if kind == "shares":
            return lambda: kernels.row_shares[(rows,)](x, y, columns, WIDTH=width, num_warps=warps)
        means, scales = (self.random(rows, dtype=torch.float32) for _ in range(2))
        if kind == "norm":
            return lambda: kernels.row_norm[(rows,)](x, weight, bias, y, means, scales, columns, WIDTH=width,
                                                     num_warps=warps)
        gradient, sums = self.random(rows, columns), torch.zeros(columns).cuda()
        return lambda: kernels.row_norm_back[(rows,)](x, weight, gradient, y, sums, means, scales, columns,
                                                      WIDTH=width, num_warps=warps)

    def drop(self, elements):
        x = self.random(elements, dtype=self.torch.float32)
        y = self.torch.empty_like(x)
        return lambda: self.kernels.drop[(elements // 1024,)](x, y, elements, 0.3, 123, WIDTH=1024)

    def rotate(self, heads, length, depth):
        x, angles = self.random(heads * length, depth), self.random(length, depth // 2, dtype=self.torch.float32)
        y = self.torch.empty_like(x)
        return lambda: self.kernels.rotate[(heads * length // 32,)](x, angles, y, length, D=depth, ROWS=32)

    def mm(self, m, n, k, dtype=None, transposed=True, tf32=False):
        torch = self.torch
        a = self.random(m, k, dtype=dtype)
        b = self.random(n, k, dtype=dtype).t() if transposed else self.random(k, n, dtype=dtype)
        c = self.empty(m, n, dtype=dtype)

        def run():
            torch.backends.cuda.matmul.allow_tf32 = tf32
            torch.mm(a, b, out=c)
        return run

    def bmm(self, batches, m, n, k):
        a, b = self.random(batches, m, k), self.random(batches, k, n)
        c = self.empty(batches, m, n)
        return lambda: self.torch.bmm(a, b, out=c)

    def eight_bits(self, m, n, k, rows=False):
        torch = self.torch
        a = self.random(m, k, dtype=torch.float8_e4m3fn)
        b = self.random(n, k, dtype=torch.float8_e4m3fn).t()
        scales = (self.random(m, 1, dtype=torch.float32), self.random(1, n, dtype=torch.float32)) if rows else (
            self.random(1, dtype=torch.float32)[0], self.random(1, dtype=torch.float32)[0])
        return lambda: torch._scaled_mm(a, b, *scales, out_dtype=torch.bfloat16)

    def linear(self, m, n, k, activation=False):
        torch = self.torch
        x, weight, bias = (self.random(*shape, dtype=torch.bfloat16) for shape in ((m, k), (n, k), (n,)))
        if activation:
            return lambda: torch._addmm_activation(bias, x, weight.t(), use_gelu=True)
        return lambda: torch.addmm(bias, x, weight.t())

    def sdpa(self, backend, batches, heads, length, depth, causal=False, back=False, dtype=None):
        torch = self.torch
        from torch.nn.attention import SDPBackend, sdpa_kernel
        chosen = {"flash": SDPBackend.FLASH_ATTENTION, "efficient": SDPBackend.EFFICIENT_ATTENTION,
                  "cudnn": SDPBackend.CUDNN_ATTENTION}[backend]
        q, k, v = (self.random(batches, heads, length, depth, dtype=dtype or torch.bfloat16).requires_grad_(back)
                   for _ in range(3))
        gradient = self.random(batches, heads, length, depth, dtype=dtype or torch.bfloat16)

        def forward():
            with sdpa_kernel(chosen):
                return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)
        if not back:
            return forward
        return lambda: torch.autograd.grad(forward(), (q, k, v), gradient)


def table():
    """Operations by name, each a function that takes a Maker and returns a function without parameters."""
    eight = {"dtype": "float8_e4m3fn", "transposed": True, "K": 128}
    found = {}

    def add(name, method, *arguments, **options):
        def make(maker):
            for key in ("dtype", "out"):
                if key in options:
                    options[key] = getattr(maker.torch, str(options[key]).removeprefix("torch."))
            return getattr(maker, method)(*arguments, **options)
        found[name] = make

    brain = {"dtype": "bfloat16", "out": "bfloat16"}
    add("triton-gemm-fp16-1024", "gemm", "gemm_pointers", 1024, 1024, 1024)
    add("triton-gemm-fp16-2048", "gemm", "gemm_pointers", 2048, 2048, 2048)
    add("triton-gemm-bf16-wide", "gemm", "gemm_pointers", 1024, 4096, 512, N=256, **brain)
    add("triton-gemm-bf16-small-tiles", "gemm", "gemm_pointers", 1024, 1024, 1024, M=64, N=64, num_warps=4,
        num_stages=4, **brain)
    add("triton-gemm-fp16-two-stages", "gemm", "gemm_pointers", 1024, 2048, 1024, num_stages=2, num_warps=4)
    add("triton-gemm-tf32-1024", "gemm", "gemm_pointers", 1024, 1024, 1024, dtype="float32", out="float32", K=32)
    add("triton-gemm-fp8-1024", "gemm", "gemm_transposed", 1024, 1024, 1024, **eight)
    add("triton-gemm-fp8-2048", "gemm", "gemm_transposed", 2048, 2048, 2048, **eight)
    add("triton-persistent-fp16-2048", "gemm", "gemm_persistent", 2048, 2048, 1024, blocks=132)
    add("triton-persistent-bf16-small", "gemm", "gemm_persistent", 1536, 1536, 512, M=64, N=128, num_warps=4,
        blocks=132, **brain)
    add("triton-boxes-fp16-1024", "gemm_boxes", 1024, 1024, 1024)
    add("triton-boxes-fp16-2048", "gemm_boxes", 2048, 2048, 2048, N=256, num_stages=3)
    add("triton-boxes-bf16-persistent", "gemm_boxes", 2048, 2048, 1024, dtype="bfloat16", blocks=132, FLAT=True)
    add("triton-boxes-fp16-four-stages", "gemm_boxes", 2048, 1024, 2048, num_stages=4, num_warps=4)
    add("triton-boxes-fp8-1024", "gemm_boxes", 1024, 1024, 2048, dtype="float8_e4m3fn", K=128)
    add("triton-boxes-fp8-persistent", "gemm_boxes", 2048, 2048, 2048, dtype="float8_e4m3fn", K=128, blocks=132,
        FLAT=True)
    add("triton-made-boxes-fp16", "gemm", "gemm_made_boxes", 1024, 1024, 1024, transposed=True)
    add("triton-split-added", "gemm_split", False, 512, 512, 4096, 8)
    add("triton-split-counted", "gemm_split", True, 512, 512, 4096, 8)
    add("triton-grouped", "gemm_group", [(1024, 1024, 512), (512, 512, 1024), (256, 256, 2048), (128, 1024, 256)])
    add("triton-bias-activation", "gemm_fused", "bias", 1024, 2048, 512)
    add("triton-gated", "gemm_fused", "gated", 1024, 1024, 1024, N=64)
    add("triton-scaled-fp8", "gemm_fused", "scaled", 1024, 1024, 1024, K=128)
    add("triton-attend-64", "attend", 16, 1024, 64)
    add("triton-attend-128", "attend", 16, 1024, 128)
    add("triton-attend-causal-64", "attend", 16, 1024, 64, causal=True, num_warps=4)
    add("triton-attend-causal-128", "attend", 8, 2048, 128, causal=True, N=128, num_stages=2)
    add("triton-attend-boxes-64", "attend", 16, 1024, 64, boxes=True)
    add("triton-attend-boxes-128", "attend", 16, 1024, 128, boxes=True, N=128, num_stages=2, dtype="bfloat16")
    add("triton-attend-keys-back", "attend_back", True, 16, 1024, 64)
    add("triton-attend-queries-back", "attend_back", False, 16, 1024, 64)
    add("triton-row-norm", "rows", "norm", 4096, 2048, 8)
    add("triton-row-norm-odd", "rows", "norm", 8192, 1000, 4)
    add("triton-row-norm-back", "rows", "back", 2048, 1024, 4)
    add("triton-row-shares", "rows", "shares", 4096, 4096, 8)
    add("triton-row-shares-odd", "rows", "shares", 8192, 781, 4)
    add("triton-drop", "drop", 1 << 22)
    add("triton-rotate", "rotate", 32, 2048, 128)
    for m, n, k in ((64, 64, 64), (256, 256, 256), (512, 512, 512), (1024, 1024, 1024), (2048, 2048, 2048),
                    (16, 4096, 1024), (4096, 512, 1024), (1000, 776, 520)):
        add(f"cublas-fp16-{m}-{n}-{k}", "mm", m, n, k)
    for m, n, k in ((512, 512, 512), (1024, 1024, 1024), (8, 4096, 4096), (2048, 2048, 512)):
        add(f"cublas-bf16-{m}-{n}-{k}", "mm", m, n, k, dtype="bfloat16", transposed=False)
    for m, n, k in ((512, 512, 512), (1024, 1024, 1024), (2048, 1024, 1024)):
        add(f"cublas-tf32-{m}-{n}-{k}", "mm", m, n, k, dtype="float32", tf32=True)
    for m, n, k in ((128, 128, 128), (512, 512, 512), (1024, 1024, 512)):
        add(f"cublas-fp32-{m}-{n}-{k}", "mm", m, n, k, dtype="float32")
    for m, n, k in ((512, 512, 512), (1024, 1024, 1024), (2048, 2048, 2048), (16, 4096, 1024)):
        add(f"cublas-fp8-{m}-{n}-{k}", "eight_bits", m, n, k)
    add("cublas-fp8-rows", "eight_bits", 1024, 1024, 1024, rows=True)
    add("cublas-batched", "bmm", 16, 512, 512, 64)
    add("cublas-bias", "linear", 1024, 2048, 1024)
    add("cublas-bias-gelu", "linear", 1024, 2048, 1024, activation=True)
    for backend in ("flash", "efficient", "cudnn"):
        add(f"{backend}-64", "sdpa", backend, 2, 8, 1024, 64)
        add(f"{backend}-causal-128", "sdpa", backend, 2, 8, 1024, 128, causal=True)
        add(f"{backend}-back-64", "sdpa", backend, 1, 8, 1024, 64, back=True)
    add("cudnn-fp16-128", "sdpa", "cudnn", 1, 8, 2048, 128, dtype="float16")
    return found


def run_all(names):
    """The operations that work on this GPU, each after it ran once: Triton compiles then, and libraries load."""
    maker = Maker()
    for name in names:
        try:
            operation = table()[name](maker)
            yield name, operation
        except Exception as error:  # not every version of the libraries has every operation
            print(f"{name} failed: {error!r}"[:600], flush=True)


def prepared(names, torch):
    working = []
    for name, operation in run_all(names):
        try:
            operation()
            torch.cuda.synchronize()
            working.append((name, operation))
        except Exception as error:
            print(f"{name} failed: {error!r}"[:600], flush=True)
    return working


def counts(path, names):
    import torch
    from torch.profiler import ProfilerActivity, profile
    found = {}
    for name, operation in prepared(names, torch):
        with profile(activities=[ProfilerActivity.CUDA]) as profiler:
            operation()
            torch.cuda.synchronize()
        found[name] = [event.name for event in profiler.events() if event.device_type.name == "CUDA"
                       and not event.name.startswith(("Memset", "Memcpy"))]
    Path(path).write_text(json.dumps(found, indent=1) + "\n")


def bracket(repetitions, names):
    import torch
    torch.cuda.synchronize()
    if os.environ.get("GPUTOMO_LOCK"):
        lock = open(os.environ["GPUTOMO_LOCK"], "a")  # held until the process ends
        fcntl.flock(lock, fcntl.LOCK_EX)
    working = prepared(names, torch)
    for _ in range(repetitions):
        for name, operation in working:
            torch.cuda.cudart().cudaProfilerStart()
            operation()
            torch.cuda.synchronize()
            torch.cuda.cudart().cudaProfilerStop()
    print(f"{len(working)} operations", flush=True)


def main():
    arguments = sys.argv[1:]
    if not arguments or arguments[0] not in ("list", "counts", "bracket", "once"):
        sys.exit(__doc__)
    command, *rest = arguments
    if command == "list":
        print("\n".join(table()))
    elif command == "counts":
        counts(rest[0], rest[1:] or list(table()))
    elif command == "bracket":
        bracket(int(rest[0]) if rest else 1, rest[1:] or list(table()))
    else:
        import torch
        print("\n".join(name for name, _ in prepared(rest or list(table()), torch)), flush=True)


if __name__ == "__main__":
    main()
