"""An answer as a card of HTML, for notebooks."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .answers import Answer

# Colours of the notebook are kept, light or dark.
_STYLE = (
    "border:1px solid #8886;border-radius:6px;padding:0.8em 1em;max-width:46em;font-family:system-ui,sans-serif;"
    "line-height:1.4"
)


def quantity(value: float, unit: str) -> str:
    """`12.3 GB`, `1.23 M`: three digits with a prefix of the SI."""
    for factor, prefix in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= factor:
            return f"{value / factor:.3g} {prefix}{unit}"
    return f"{value:.3g} {unit}".rstrip()


def _rows(answer: Answer) -> list[tuple[str, str]]:
    work, time = answer.work, answer.time
    rows = [("Launch", f"{answer.launch.grid} blocks of {answer.launch.block} threads")]
    if time.warm_cycles is not None:
        rows.append(("With warm caches", f"{time.warm_cycles:,.0f} cycles"))
    if answer.limiter:
        used = (
            ("SM", answer.limiter.used_sm),
            ("L1", answer.limiter.used_l1),
            ("L2", answer.limiter.used_l2),
            ("DRAM", answer.limiter.used_dram),
        )
        rows.append(("Limited by", answer.limiter.resource))
        rows.append(("Used", ", ".join(f"{name} {share:.0%}" for name, share in used)))
    if answer.occupancy:
        most = f" of {answer.occupancy.max_warps_per_sm}" if answer.occupancy.max_warps_per_sm else ""
        rows.append(
            (
                "Warps of an SM",
                f"{answer.occupancy.warps_per_sm:.3g}{most}, limited by "
                f"{answer.occupancy.limited_by}; {answer.occupancy.waves:.3g} waves",
            )
        )
    rows.append(
        ("Work", f"{quantity(work.warp_instructions, '')} warp instructions, {quantity(work.dram_bytes, 'B')} of DRAM")
    )
    for advice in answer.advice or ():
        rows.append((f"{advice.factor:.2f} times faster", advice.change))
    return rows


def _bars(answer: Answer) -> str:
    if not answer.limiter or not answer.limiter.bounds:
        return ""
    longest = max(answer.time.cycles, answer.limiter.bounds[0].cycles)
    lines = [("the launch", answer.time.cycles)] + [(b.resource, b.cycles) for b in answer.limiter.bounds[:5]]
    return (
        "<table style='border-collapse:collapse;margin-top:0.5em'>"
        + "".join(
            f"<tr><td style='padding:1px 0.8em 1px 0;text-align:left'>{escape(name)}</td>"
            f"<td style='width:16em;text-align:left'>"
            f"<div style='background:#4a7fc1;height:0.8em;width:{100 * cycles / longest:.1f}%'></div></td>"
            f"<td style='padding-left:0.8em;text-align:right'>{cycles:,.0f} cycles</td></tr>"
            for name, cycles in lines
        )
        + "</table>"
    )


def card(answer: Answer) -> str:
    """HTML without scripts and outside files."""
    did = {"predict": "predicted", "simulate": "simulated"}.get(answer.method, answer.method)
    rows = "".join(
        f"<tr><th style='text-align:left;padding-right:1em;font-weight:500'>{escape(name)}</th>"
        f"<td style='text-align:left'>{escape(text)}</td></tr>"
        for name, text in _rows(answer)
    )
    warnings = "".join(f"<p style='margin:0.4em 0 0'>⚠ {escape(text)}</p>" for text in answer.warnings)
    assumed = "".join(f"<li>{escape(text)}</li>" for text in answer.assumptions)
    details = f"<details><summary>{len(answer.assumptions)} assumptions</summary><ul>{assumed}</ul></details>"
    return (
        f"<div style='{_STYLE}'><div><b>{escape(answer.launch.kernel)}</b> on {escape(answer.gpu)}</div>"
        f"<div style='font-size:1.6em'>{answer.time.microseconds:,.2f} µs "
        f"<span style='font-size:0.6em'>{answer.time.cycles:,.0f} cycles, {did}, {escape(answer.caches)} caches</span>"
        f"</div><p style='margin:0.3em 0'>{escape(answer.summary)}</p>"
        f"<table style='border-collapse:collapse'>{rows}</table>{_bars(answer)}{warnings}"
        f"{details if assumed else ''}</div>"
    )
