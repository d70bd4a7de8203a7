#!/usr/bin/env python3
"""Runs one operation of PyTorch, or those of a Triton tutorial, on fixed shapes, for scripts/measure_suites.py.

    python3 scripts/run_operations.py pytorch cumsum
    cd python/tutorials; python3 .../scripts/run_operations.py triton-tutorials vector-add

Each operation runs once so that Triton compiles its kernels and PyTorch loads its own. Then cudaProfilerStart and
cudaProfilerStop bracket it GPUTOMO_REPETITIONS times (5 by default), and GPUTOMO_LOCK names the file that keeps other
programs off the GPU. The tutorials' own benchmarks are left out. Of a kernel's configurations for autotuning one is
taken, because Triton would choose by measured times, which the profiler changes. Needs PyTorch, Triton and a GPU.
"""
import fcntl
import importlib.util
import os
import sys
from unittest.mock import MagicMock


def load(name):
    """A tutorial as a module. Some check themselves when they are loaded, and may fail there for want of a package."""
    specification = importlib.util.spec_from_file_location("tutorial", name)
    module = importlib.util.module_from_spec(specification)
    sys.modules["tutorial"] = module
    try:
        specification.loader.exec_module(module)
    except Exception as error:  # what comes before the failure is there
        print(f"{name} stopped: {error!r}"[:400], flush=True)
    return module


def one_configuration(configurations):
    """128 x 64 blocks in three stages where there are such, otherwise the first."""
    for configuration in configurations:
        if configuration.kwargs.get("BLOCK_M") == 128 and configuration.kwargs.get("BLOCK_N") == 64 and (
                configuration.num_stages == 3):
            return configuration
    return configurations[0]


def without_benchmarks(triton):
    class NoReport:
        def run(self, *_, **__):
            pass

    autotune = triton.autotune
    triton.testing.perf_report = lambda benchmarks: lambda function: NoReport()
    triton.autotune = lambda configs, key, **options: autotune([one_configuration(list(configs))], key, **options)


def tutorial(name, torch, triton):
    """The operations of a tutorial, each a function without parameters."""
    def half(*shape):
        return torch.randn(*shape, device="cuda", dtype=torch.float16)

    elements = 1 << 23
    if name == "vector-add":
        module = load("01-vector-add.py")
        x, y = (torch.rand(elements, device="cuda") for _ in range(2))
        return [lambda: module.add(x, y)]
    if name == "dropout":
        module = load("04-low-memory-dropout.py")
        x = torch.randn(elements, device="cuda")
        kept = (torch.rand(elements, device="cuda") > 0.5).to(torch.int32)
        return [lambda: module.dropout(x, kept, 0.5), lambda: module.seeded_dropout(x, 0.5, 123)]
    if name == "libdevice":
        module = load("07-extern-functions.py")
        x, y = torch.rand(elements, device="cuda"), torch.zeros(elements, device="cuda")
        return [lambda: module.asin_kernel[(triton.cdiv(elements, 1024),)](x, y, elements, BLOCK_SIZE=1024)]
    if name == "grouped-gemm":
        module = load("08-grouped-gemm.py")
        transposed = [b.T.contiguous() for b in module.group_B]
        return [lambda: module.group_gemm_fn(module.group_A, module.group_B),
                lambda: module.group_gemm_tma_fn(module.group_A, transposed)]
    if name == "persistent-matmul":
        module = load("09-persistent-matmul.py")
        a, b = half(2048, 1024), half(2048, 1024)
        return [lambda: module.matmul(a, b.T), lambda: module.matmul_persistent(a, b.T),
                lambda: module.matmul_tma(a, b, False), lambda: module.matmul_tma_persistent(a, b, False),
                lambda: module.matmul_descriptor_persistent(a, b, False)]
    return []


def of_pytorch(name, torch):
    """An operation whose kernels are in aten/src/ATen/native/cuda."""
    def random(*shape):
        return torch.rand(*shape, device="cuda")

    def indices(bound, *shape):
        return torch.randint(bound, shape, device="cuda")

    elements = 1 << 25
    functional = torch.nn.functional
    make = {
        "add": lambda x, y: lambda: x + y,
        "tanh": lambda x, y: lambda: torch.tanh(x),
        "sum": lambda x, y: lambda: x.sum(),
        "where": lambda x, y: lambda: torch.where(x > 0.5, x, y),
    }
    if name in make:
        return [make[name](random(elements), random(elements))]
    if name in ("sum-rows", "sum-columns", "argmax", "cumsum", "transposed-copy", "sort", "topk"):
        x = random(8192, 4096)
        return [{"sum-rows": lambda: x.sum(1), "sum-columns": lambda: x.sum(0), "argmax": lambda: x.argmax(1),
                 "cumsum": lambda: x.cumsum(0), "transposed-copy": lambda: x.t().contiguous(),
                 "sort": lambda: x[:2048, :1024].sort(1), "topk": lambda: x[:1024].topk(16, 1)}[name]]
    if name in ("index-select", "index-add", "embedding", "gather", "scatter-add"):
        table, rows = random(1 << 18, 64), indices(1 << 18, 1 << 18)
        cells = indices(64, 1 << 18, 64)
        return [{"index-select": lambda: table.index_select(0, rows),
                 "index-add": lambda: torch.zeros_like(table).index_add_(0, rows, table),
                 "embedding": lambda: functional.embedding(rows, table), "gather": lambda: table.gather(1, cells),
                 "scatter-add": lambda: torch.zeros_like(table).scatter_add_(1, cells, table)}[name]]
    if name in ("max-pool", "average-pool", "upsample-bilinear", "grid-sample", "batch-statistics"):
        image = random(16, 32, 256, 256)
        grid = 2 * random(16, 256, 256, 2) - 1
        return [{"max-pool": lambda: functional.max_pool2d(image, 3, 2),
                 "average-pool": lambda: functional.avg_pool2d(image, 3, 2),
                 "upsample-bilinear": lambda: functional.interpolate(image[:4], scale_factor=2, mode="bilinear"),
                 "grid-sample": lambda: functional.grid_sample(image, grid, align_corners=False),
                 "batch-statistics": lambda: torch.batch_norm_stats(image, 1e-5)}[name]]
    return []


def operations(suite, name, torch, triton):
    found = of_pytorch(name, torch) if suite == "pytorch" else tutorial(name, torch, triton)
    return found or sys.exit(f"run_operations.py: no {suite} {name}; the names are in suites/programs.json")


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    for package in ("pytest", "tabulate", "matplotlib", "matplotlib.pyplot", "pandas"):
        try:
            __import__(package)
        except ImportError:  # the tutorials import them for their benchmarks and tests only
            sys.modules[package] = MagicMock()
    import torch
    import triton
    import triton.testing

    without_benchmarks(triton)
    torch.manual_seed(0)
    torch.cuda.synchronize()  # makes the context, which takes a second and disturbs no measurement
    if os.environ.get("GPUTOMO_LOCK"):
        lock = open(os.environ["GPUTOMO_LOCK"], "a")  # held until the process ends
        fcntl.flock(lock, fcntl.LOCK_EX)
    working = []
    for operation in operations(*sys.argv[1:], torch, triton):
        try:
            operation()
            torch.cuda.synchronize()
            working.append(operation)
        except Exception as error:  # not every GPU has what every operation needs
            print(f"an operation failed: {error!r}"[:400], flush=True)
    profiler = torch.cuda.cudart()
    for _ in range(int(os.environ.get("GPUTOMO_REPETITIONS", "5"))):
        for operation in working:
            profiler.cudaProfilerStart()
            operation()
            torch.cuda.synchronize()
            profiler.cudaProfilerStop()
    print(f"{len(working)} operations measured", flush=True)
    if not working:
        sys.exit(1)


if __name__ == "__main__":
    main()
