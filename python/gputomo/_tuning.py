"""What all tuners share: which configurations are kept, and what is said of those that cannot be predicted."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any

from .errors import Error, InputError
from .launches import Launch, predict_many
from .machines import Machine

__all__ = ["PredictionWarning", "check_keep", "kept", "milliseconds_of", "warn"]

_EQUAL = 1e-3
"""Predictions that differ by less than this share are equal: they differ by less than measurements do."""


class PredictionWarning(UserWarning):
    """A configuration could not be predicted and is kept. The message says why."""


def warn(what: str, error: Exception, level: int = 3) -> None:
    warnings.warn(f"{what} cannot be predicted and is kept: {error}", PredictionWarning, stacklevel=level + 1)


def check_keep(keep: float | int) -> None:
    if isinstance(keep, bool) or not (keep >= 1 if isinstance(keep, int) else 0 < keep <= 1):
        raise InputError(f"keep {keep!r}: expected a share above 0 and at most 1.0, or a whole number from 1")


def kept(times: Sequence[float | None], keep: float | int) -> list[bool]:
    """Which configurations stay: the fastest, those as fast as the last of these, and those without a prediction."""
    known = sorted(time for time in times if time is not None)
    if not known:
        return [True] * len(times)
    count = min(keep if isinstance(keep, int) else math.ceil(keep * len(times)), len(known))
    limit = known[count - 1] * (1 + _EQUAL)
    return [time is None or time <= limit for time in times]


def milliseconds_of(
    launches: Sequence[Launch | None], names: Sequence[str], machine: Machine, options: dict[str, Any]
) -> list[float | None]:
    """Predicted times, several at a time. None where there is no launch, or with a warning where one fails."""
    made = [one for one in launches if one is not None]
    # Triton's, Helion's and TVM's timers write to other memory before each run.
    options = {"caches": "dirty", "quick": True, **options}
    answers = iter(predict_many(made, machine, return_errors=True, progress=False, **options))
    times: list[float | None] = []
    for name, one in zip(names, launches):
        answer = next(answers) if one is not None else None
        if isinstance(answer, Error):
            warn(name, answer, 4)
            answer = None
        times.append(answer.microseconds / 1000 if answer is not None else None)
    return times
