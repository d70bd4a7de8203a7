#!/usr/bin/env python3
"""Ranks 50 configurations each of a softmax and a stencil in Triton, without a GPU, and compares with times of a GPU.

    rank_configurations.py predict h200 predicted.json     # needs gputomo, Triton and NumPy
    rank_configurations.py time timed.json                 # needs a GPU, Triton and PyTorch
    rank_configurations.py compare predicted.json timed.json

The arrays are in memory and the caches cold in both: before each run that is timed, other data fill the L2.
"""

import json
import statistics
import sys
import time

import triton
import triton.language as tl

ROWS, COLUMNS = 4096, 3000
HEIGHT, WIDTH = 4096, 4096


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


def softmax_configs():
    """Tiles of 128 to 8192 numbers."""
    return [
        {"GROUP": group, "CHUNK": chunk, "num_warps": warps}
        for group in (1, 2, 8)
        for chunk in (128, 512, 1024, 4096)
        for warps in (1, 2, 4, 8, 16)
        if group * chunk <= 8192
    ][:50]


def stencil_configs():
    """Tiles of 32 to 8192 numbers, TALL rows of WIDE numbers each."""
    return [
        {"TALL": tall, "WIDE": wide, "num_warps": warps}
        for tall in (1, 2, 8, 32)
        for wide in (16, 64, 256, 1024)
        for warps in (1, 2, 4, 8)
        if 32 <= tall * wide <= 8192
    ][:50]


def cases(arrays):
    """Name, kernel, configurations, grid and arguments of each kernel; `arrays` makes one with so many numbers."""
    a, b = arrays(ROWS * COLUMNS), arrays(ROWS * COLUMNS)
    yield "softmax", softmax, softmax_configs(), lambda c: (triton.cdiv(ROWS, c["GROUP"]),), [b, a, ROWS, COLUMNS]
    f, g = arrays(HEIGHT * WIDTH), arrays(HEIGHT * WIDTH)
    grid = lambda c: (triton.cdiv(WIDTH, c["WIDE"]), triton.cdiv(HEIGHT, c["TALL"]))  # noqa: E731
    yield "stencil", stencil, stencil_configs(), grid, [g, f, HEIGHT, WIDTH, 0.5, 0.125]


def predict(machine, file):
    """Compiles and predicts all configurations for a described GPU, and writes the times into a JSON file."""
    import numpy

    import gputomo

    random = numpy.random.default_rng(1)
    found = {}
    for name, fn, configs, grid, args in cases(lambda n: random.random(n, dtype=numpy.float32)):
        begin = time.monotonic()
        launches = [gputomo.triton.launch(fn, grid, args, machine, **config) for config in configs]
        compiled = time.monotonic()
        processor = time.process_time()
        answers = gputomo.predict_many(launches, machine, caches="cold", return_errors=True)
        ended = time.monotonic()
        found[name] = {
            "configs": configs,
            "microseconds": [None if isinstance(a, gputomo.Error) else a.microseconds for a in answers],
            "errors": [str(a) if isinstance(a, gputomo.Error) else None for a in answers],
            "limiters": [None if isinstance(a, gputomo.Error) else a.limiter.resource for a in answers],
            "compile_seconds": (compiled - begin) / len(configs),
            "predict_seconds": (ended - compiled) / len(configs),
            "predict_processor_seconds": (time.process_time() - processor) / len(configs),
        }
    with open(file, "w") as out:
        json.dump({"triton": triton.__version__, "machine": machine, "kernels": found}, out, indent=1)


def measure(file):
    """Times all configurations on this computer's GPU, and writes the times into a JSON file."""
    import torch
    import triton.testing

    found = {}
    for name, fn, configs, grid, args in cases(lambda n: torch.rand(n, device="cuda")):
        times = []
        for config in configs:
            run = lambda: fn[grid](*args, **config)  # noqa: B023, E731
            times.append(
                [1000 * ms for ms in triton.testing.do_bench(run, warmup=5, rep=40, quantiles=[0.5, 0.2, 0.8])]
            )
        check(name, args)
        found[name] = {"configs": configs, "microseconds": times}
        about = {"triton": triton.__version__, "torch": torch.__version__, "gpu": torch.cuda.get_device_name()}
        with open(file, "w") as out:
            json.dump({**about, "kernels": found}, out, indent=1)


def check(name, args):
    """Raises AssertionError unless the results of the configuration that ran last are right."""
    import torch

    out, x = args[:2]
    if name == "softmax":
        wanted = torch.softmax(x.view(ROWS, COLUMNS), dim=1).flatten()
    else:
        field = torch.nn.functional.pad(x.view(HEIGHT, WIDTH), (1, 1, 1, 1))
        sides = field[:-2, 1:-1] + field[2:, 1:-1] + field[1:-1, :-2] + field[1:-1, 2:]
        wanted = (0.5 * field[1:-1, 1:-1] + 0.125 * sides).flatten()
    torch.testing.assert_close(out, wanted, rtol=1e-4, atol=1e-6)


def compare(predicted_file, timed_file):
    """Prints how far first choices and predicted times are off."""
    with open(predicted_file) as one, open(timed_file) as two:
        predicted, timed = json.load(one), json.load(two)
    for name, guess in predicted["kernels"].items():
        times = [median for median, _, _ in timed["kernels"][name]["microseconds"]]
        assert guess["configs"] == timed["kernels"][name]["configs"]
        guesses = guess["microseconds"]
        known = [i for i, g in enumerate(guesses) if g is not None]
        order = sorted(known, key=lambda i: guesses[i])
        best = min(times)
        errors = [abs(guesses[i] / times[i] - 1) for i in known]
        print(f"{name}: {len(times)} configurations from {best:.1f} to {max(times):.1f} us")
        print(f"  within 10% of the best: {sum(t <= 1.1 * best for t in times)}")
        print(f"  first choice {guess['configs'][order[0]]}: {times[order[0]] / best:.3f} times the best")
        print(f"  best of the first three: {min(times[i] for i in order[:3]) / best:.3f}")
        print(f"  error of times: median {statistics.median(errors):.1%}, largest {max(errors):.1%}")
        print(f"  {guess['compile_seconds']:.2f} s to compile and {guess['predict_seconds']:.2f} s to predict each,")
        print(f"  {guess['predict_processor_seconds']:.2f} s of a processor")


if __name__ == "__main__":
    commands = {"predict": predict, "time": measure, "compare": compare}
    if len(sys.argv) < 2 or sys.argv[1] not in commands:
        sys.exit(__doc__)
    commands[sys.argv[1]](*sys.argv[2:])
