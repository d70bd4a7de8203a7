"""kernel_tuner without a GPU: predicted times in a cache file, which all its strategies search.

    gputomo.kernel_tuner.write_cache("cache.json", "add", source, n, args, tune_params, "h200")
    kernel_tuner.tune_kernel("add", source, n, args, tune_params, cache="cache.json", simulation_mode=True)
"""

from __future__ import annotations

import itertools
import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Union

from . import _nvrtc
from ._tuning import PredictionWarning, milliseconds_of, warn
from .arguments import HostCopies
from .errors import InputError
from .kernels import kernel
from .launches import Launch
from .machines import MachineLike, load

__all__ = ["PredictionWarning", "write_cache"]

_BLOCK = ("block_size_x", "block_size_y", "block_size_z")
_DIRECTIONS = ("x", "y", "z")

Divisors = Union[Sequence[Union[str, int]], Callable[[Mapping[str, Any]], int], None]


def _divisor(divisors: Divisors, config: Mapping[str, Any], default: str) -> int:
    if callable(divisors):
        return int(divisors(config))
    product = 1
    for each in divisors if divisors is not None else [default] if default in config else []:
        # An expression is one of the tuned parameters, as kernel_tuner takes it.
        value = eval(each, {"__builtins__": {}}, dict(config)) if isinstance(each, str) else each  # noqa: S307
        product *= int(value)
    return product


def _grid(problem: Any, config: Mapping[str, Any], divisors: Sequence[Divisors]) -> list[int]:
    if callable(problem):
        problem = problem(config)
    sizes = [problem] if isinstance(problem, (int, str)) else list(problem)
    made = []
    for i, size in enumerate(sizes):
        count = int(eval(size, {"__builtins__": {}}, dict(config))) if isinstance(size, str) else int(size)  # noqa: S307
        # By default x is divided by the block, and y and z are where there are such sizes.
        made.append(-(-count // _divisor(divisors[i], config, _BLOCK[i])))
    return made


def _allowed(config: Mapping[str, Any], restrictions: Any) -> bool:
    if restrictions is None:
        return True
    if callable(restrictions):
        return bool(restrictions(dict(config)))
    return all(
        bool(one(dict(config))) if callable(one) else bool(eval(one, {"__builtins__": {}}, dict(config)))  # noqa: S307
        for one in restrictions
    )


def write_cache(
    cache: str | os.PathLike[str],
    kernel_name: str,
    kernel_source: str | os.PathLike[str],
    problem_size: Any,
    arguments: Sequence[Any],
    tune_params: Mapping[str, Sequence[Any]],
    machine: MachineLike,
    *,
    grid_div_x: Divisors = None,
    grid_div_y: Divisors = None,
    grid_div_z: Divisors = None,
    restrictions: Any = None,
    compiler_options: Sequence[str] = (),
    **options: Any,
) -> list[float | None]:
    """Predicts all configurations for a described GPU and writes a cache file of kernel_tuner.

    The first arguments are those of `kernel_tuner.tune_kernel()`. The source is CUDA C++, as text or a file, and NVRTC
    compiles it with the parameters as macros. `options` are those of `predict_many()`.

    Returns milliseconds in the order of the file. A configuration that cannot be compiled or predicted, which a
    PredictionWarning says, has None. It is left out of the file: in its simulation mode kernel_tuner stops there and
    says so, and without it times the configuration on a GPU, and keeps the others' predictions.

    Raises InputError where an argument is wrong.
    """
    described = load(machine)
    source = _text(kernel_source)
    copies = HostCopies()
    keys = list(tune_params)
    configs = [dict(zip(keys, values)) for values in itertools.product(*(tune_params[key] for key in keys))]
    configs = [config for config in configs if _allowed(config, restrictions)]
    if not configs:
        raise InputError("tune_params: no configuration is allowed; expected at least one")
    launches: list[Launch | None] = []
    names: list[str] = []
    for config in configs:
        names.append(f"{kernel_name}({', '.join(f'{k}={v}' for k, v in config.items())})")
        try:
            grid = _grid(problem_size, config, (grid_div_x, grid_div_y, grid_div_z))
            blocks = "".join(f"#define grid_size_{d} {n}\n" for d, n in zip(_DIRECTIONS, grid))
            macros = "".join(f"#define {key} {_value(value)}\n" for key, value in config.items())
            text = "#define kernel_tuner 1\n" + blocks + macros + _with_c_linkage(source, kernel_name)
            code = _nvrtc.compile(text, list(compiler_options), described.compute_capability, kernel_name)
            block = [int(config.get(one, default)) for one, default in zip(_BLOCK, (256, 1, 1))]
            launches.append(kernel(code, kernel_name)._launch(grid, list(arguments), block, None, copies))
        except InputError as error:
            warn(names[-1], error)
            launches.append(None)
    times = milliseconds_of(launches, names, described, options)
    rows = {}
    for config, time in zip(configs, times):
        if time is not None:
            zeros = {"compile_time": 0, "verification_time": 0, "benchmark_time": 0, "strategy_time": 0}
            rows[",".join(str(value) for value in config.values())] = {
                **config, "time": time, "times": [time], **zeros, "framework_time": 0,
            }  # fmt: skip
    header = {
        "device_name": f"{described.name} (predicted by gputomo)",
        "kernel_name": kernel_name,
        "problem_size": problem_size if not callable(problem_size) else "callable",
        "tune_params_keys": keys,
        "tune_params": {key: list(values) for key, values in tune_params.items()},
        "objective": "time",
    }
    # In the lines of kernel_tuner, which appends to this file.
    lines = ",\n".join(json.dumps({key: row}, default=_plain)[1:-1] for key, row in rows.items())
    Path(cache).write_text(json.dumps(header, default=_plain, indent="")[:-2] + ',\n"cache": {\n' + lines + "}\n}")
    return times


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else str(value)


def _value(value: Any) -> str:
    return str(int(value)) if isinstance(value, bool) else str(value)


def _text(source: str | os.PathLike[str]) -> str:
    if isinstance(source, str) and ("\n" in source or "{" in source):
        return source
    try:
        return Path(source).read_text()
    except OSError as error:
        raise InputError(f"kernel_source {source}: cannot be read: {error.strerror}; expected CUDA C++") from error


def _with_c_linkage(source: str, name: str) -> str:
    """The kernel keeps its name, as kernel_tuner has it."""
    if re.search(r'extern\s*"C"', source):
        return source
    found = re.search(r"__global__\s[^;{]*?\b" + re.escape(name) + r"\s*\(", source)
    if found is None:
        raise InputError(f"kernel_source: has no __global__ function {name}")
    return source[: found.start()] + 'extern "C" ' + source[found.start() :]
