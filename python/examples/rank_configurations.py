#!/usr/bin/env python3
"""Ranks 50 configurations each of six kernels in Triton, without a GPU, and compares with times of a GPU.

    rank_configurations.py predict h200 predicted.json [KERNEL ...]     # needs gputomo, Triton and NumPy
    rank_configurations.py predict-thoroughly h200 predicted.json [KERNEL ...]
    rank_configurations.py time timed.json [KERNEL ...]                 # needs a GPU, Triton and PyTorch
    rank_configurations.py compare predicted.json timed.json            # times: recordings/h200-configurations.json.gz

The arrays are in memory in both, and the L2 is full of other data: before each run that is timed, they are written. KERNEL is
one of softmax, stencil, layer_norm, transposition, product and attention.
"""

import concurrent.futures
import gzip
import hashlib
import json
import multiprocessing
import os
import statistics
import struct
import sys
import time

import ranked_kernels


def chosen_cases(arrays, names):
    return (case for case in ranked_kernels.cases(arrays) if not names or case[0] in names)


def digest_of_code(cubin):
    """SHA-256 of a cubin's instructions, without what differs from computer to computer, such as paths of sources."""
    (sections_at,) = struct.unpack_from("<Q", cubin, 0x28)
    size, count, names_index = struct.unpack_from("<HHH", cubin, 0x3A)
    headers = [struct.unpack_from("<IIQQQQ", cubin, sections_at + i * size) for i in range(count)]
    names_at = headers[names_index][4]
    code = b""
    for name, _, _, _, at, length in headers:
        if cubin[names_at + name : names_at + name + 6] == b".text.":
            code += cubin[at : at + length]
    return hashlib.sha256(code).hexdigest()


def predict_thoroughly(machine, file, *names):
    """As predict(), but not with quick predictions."""
    predict(machine, file, *names, quick=False)


def predict(machine, file, *names, quick=True):
    """Compiles and predicts all configurations for a described GPU, and writes the times into a JSON file."""
    import numpy
    import triton

    import gputomo

    random = numpy.random.default_rng(1)
    found = {}
    for name, fn, configs, grid, args in chosen_cases(
        lambda n, is_half: random.random(n, dtype=numpy.float32).astype(numpy.float16 if is_half else numpy.float32),
        names,
    ):
        begin = time.monotonic()
        launches, digests = [], []
        for config in configs:
            compiled = gputomo.triton.compile(fn, args, machine, **config)
            digests.append(digest_of_code(compiled.code))
            launches.append(gputomo.triton.launch(fn, grid, args, machine, **config))
        compiled = time.monotonic()
        processor = time.process_time()
        answers = gputomo.predict_many(launches, machine, caches="dirty", quick=quick, return_errors=True)
        ended = time.monotonic()
        found[name] = {
            "configs": configs,
            "code": digests,
            "microseconds": [None if isinstance(a, gputomo.Error) else a.microseconds for a in answers],
            "limiters": [None if isinstance(a, gputomo.Error) else a.limiter.resource for a in answers],
            "errors": [str(a) if isinstance(a, gputomo.Error) else None for a in answers],
            "compile_seconds": (compiled - begin) / len(configs),
            "predict_seconds": (ended - compiled) / len(configs),
            "predict_processor_seconds": (time.process_time() - processor) / len(configs),
        }
        with open(file, "w") as out:
            json.dump({"triton": triton.__version__, "machine": machine, "kernels": found}, out, indent=1)


class OnlyType:
    """An aligned tensor without memory, for compilation."""

    def __init__(self, dtype):
        self.dtype = dtype

    @staticmethod
    def data_ptr():
        return 0


def compile_part(part, parts, names):
    """Compiles some of all configurations into Triton's cache."""
    import torch

    all_cases = chosen_cases(lambda n, is_half: OnlyType(torch.float16 if is_half else torch.float32), names)
    for i, (fn, config, args) in enumerate((fn, c, args) for _, fn, configs, _, args in all_cases for c in configs):
        if i % parts == part:
            fn.warmup(*args, grid=(1,), **config)


def measure(file, *names):
    """Times all configurations on this computer's GPU, and writes the times into a JSON file."""
    import torch
    import triton.testing

    parts = max(1, len(os.sched_getaffinity(0)) - 2)
    with concurrent.futures.ProcessPoolExecutor(parts, multiprocessing.get_context("spawn")) as pool:
        list(pool.map(compile_part, range(parts), [parts] * parts, [names] * parts))
    found = {}
    arrays = lambda n, is_half: torch.rand(n, device="cuda", dtype=torch.float16 if is_half else torch.float32)  # noqa: E731
    for name, fn, configs, grid, args in chosen_cases(arrays, names):
        times, digests = [], []
        wanted = result(name, args)
        for config in configs:
            run = lambda: fn[grid](*args, **config)  # noqa: B023, E731
            digests.append(digest_of_code(run().asm["cubin"]))
            tolerance = 2e-3 if args[0].dtype == torch.float16 else 1e-4
            torch.testing.assert_close(args[0], wanted, rtol=tolerance, atol=tolerance / 10)
            times.append(
                [1000 * ms for ms in triton.testing.do_bench(run, warmup=3, rep=20, quantiles=[0.5, 0.2, 0.8])]
            )
        found[name] = {"configs": configs, "code": digests, "microseconds": times}
        about = {"triton": triton.__version__, "torch": torch.__version__, "gpu": torch.cuda.get_device_name()}
        with open(file, "w") as out:
            json.dump({**about, "kernels": found}, out, indent=1)


def result(name, args):
    """What PyTorch computes from the arguments of a kernel."""
    import torch
    from torch.nn import functional

    x = args[1]
    if name == "softmax":
        return torch.softmax(x.view(ranked_kernels.ROWS, -1), dim=1).flatten()
    if name == "stencil":
        field = functional.pad(x.view(ranked_kernels.HEIGHT, -1), (1, 1, 1, 1))
        sides = field[:-2, 1:-1] + field[2:, 1:-1] + field[1:-1, :-2] + field[1:-1, 2:]
        return (0.5 * field[1:-1, 1:-1] + 0.125 * sides).flatten()
    if name == "layer_norm":
        rows = x.view(ranked_kernels.NORM_ROWS, -1)
        return functional.layer_norm(rows, rows.shape[1:], args[2], args[3], args[6]).flatten()
    if name == "transposition":
        return x.view(ranked_kernels.TALL_ROWS, -1).t().flatten()
    if name == "product":
        a, b = (one.view(ranked_kernels.PRODUCT, -1) for one in args[1:3])
        return (a @ b).flatten()
    q, k, v = (one.view(1, ranked_kernels.HEADS, ranked_kernels.TOKENS, -1) for one in args[1:4])
    return functional.scaled_dot_product_attention(q, k, v).flatten()


def ranks_of(values):
    """From 0, with the mean rank of those that are equal."""
    below = sorted(values)
    return [below.index(v) + (below.count(v) - 1) / 2 for v in values]


def read(file):
    with (gzip.open if file.endswith(".gz") else open)(file) as content:
        return json.load(content)


def compare(predicted_file, timed_file):
    """Prints how far first choices and predicted times are off."""
    predicted, timed = read(predicted_file), read(timed_file)
    firsts, thirds = [], []
    for name, guess in predicted["kernels"].items():
        times = [median for median, _, _ in timed["kernels"][name]["microseconds"]]
        assert guess["configs"] == timed["kernels"][name]["configs"]
        same = sum(a == b for a, b in zip(guess["code"], timed["kernels"][name]["code"]))
        guesses = guess["microseconds"]
        known = [i for i, g in enumerate(guesses) if g is not None]
        order = sorted(known, key=lambda i: guesses[i])
        best = min(times)
        errors = [abs(guesses[i] / times[i] - 1) for i in known]
        firsts.append(times[order[0]] / best)
        thirds.append(min(times[i] for i in order[:3]) / best)
        correlation = statistics.correlation(
            ranks_of([guesses[i] for i in known]), ranks_of([times[i] for i in known])
        )
        print(f"{name}: {len(times)} configurations from {best:.1f} to {max(times):.1f} us, {len(known)} predicted")
        print(f"  the same instructions were predicted and timed: {same}")
        print(f"  within 10% of the best: {sum(t <= 1.1 * best for t in times)}")
        print(f"  first choice {guess['configs'][order[0]]}: {firsts[-1]:.3f} times the best")
        print(f"  best of the first three: {thirds[-1]:.3f}")
        print(f"  rank correlation (Spearman): {correlation:.3f}")
        print(f"  error of times: median {statistics.median(errors):.1%}, largest {max(errors):.1%}")
        print(f"  {guess['compile_seconds']:.2f} s to compile and {guess['predict_seconds']:.2f} s to predict each,")
        print(f"  {guess['predict_processor_seconds']:.2f} s of a processor")
    print(f"mean of {len(firsts)} kernels: first choice {statistics.mean(firsts):.3f} times the best,", end=" ")
    print(f"best of three {statistics.mean(thirds):.3f}")


if __name__ == "__main__":
    commands = {"predict": predict, "predict-thoroughly": predict_thoroughly, "time": measure, "compare": compare}
    if len(sys.argv) < 3 or sys.argv[1] not in commands:
        sys.exit(__doc__)
    commands[sys.argv[1]](*sys.argv[2:])
