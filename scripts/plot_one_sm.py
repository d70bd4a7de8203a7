#!/usr/bin/env python3
"""Draws docs/h200-one-sm.svg, docs/h200-one-warp.svg and docs/h200-l1-misses.svg from recordings/.

Needs the standard library only.

    python3 scripts/plot_one_sm.py
"""
import gzip
import json
import math
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 640, 300, 64, 190, 16, 44
COLOURS = ["#1f77b4", "#d62728", "#2ca02c", "#ff7f0e", "#9467bd", "#8c564b"]


def traces(name, run):
    """Columns of each trace of one recording, by the trace's name."""
    with gzip.open(ROOT / "recordings" / f"{name}-{run}.json.gz") as file:
        scan = json.load(file)
    return {t["name"]: {c["name"]: c["values"] for c in t["columns"]} for e in scan["experiments"] for t in e["traces"]}


def ticks(low, high, log):
    if log:
        return [2.0**i for i in range(math.floor(math.log2(low)), math.ceil(math.log2(high)) + 1)]
    step = 10 ** math.floor(math.log10(high - low))
    step = next(s for s in (step / 5, step / 2, step) if (high - low) / s <= 8)
    return [low + i * step for i in range(int((high - low) / step) + 1)]


def draw(file, title, x_name, y_name, series, x_range, y_range, log_x):
    """`series`: (label, points); equal labels share a colour, points of later ones are drawn over earlier ones."""
    x_of = math.log2 if log_x else lambda value: value

    def place(x, y):
        across = (x_of(x) - x_of(x_range[0])) / (x_of(x_range[1]) - x_of(x_range[0]))
        up = (y - y_range[0]) / (y_range[1] - y_range[0])
        return LEFT + across * (WIDTH - LEFT - RIGHT), HEIGHT - BOTTOM - up * (HEIGHT - TOP - BOTTOM)

    out = [f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {WIDTH} {HEIGHT}' role='img' aria-label='{title}'>",
           "<style>svg{font:11px sans-serif;background:#fff}.grid{stroke:#ddd}text{fill:#333}</style>"]
    for x in ticks(*x_range, log_x):
        at, _ = place(x, y_range[0])
        out.append(f"<line class='grid' x1='{at:.1f}' x2='{at:.1f}' y1='{TOP}' y2='{HEIGHT - BOTTOM}'/>"
                   f"<text x='{at:.1f}' y='{HEIGHT - BOTTOM + 14}' text-anchor='middle'>{x:g}</text>")
    for y in ticks(*y_range, False):
        _, at = place(x_range[0], y)
        out.append(f"<line class='grid' x1='{LEFT}' x2='{WIDTH - RIGHT}' y1='{at:.1f}' y2='{at:.1f}'/>"
                   f"<text x='{LEFT - 6}' y='{at + 4:.1f}' text-anchor='end'>{y:g}</text>")
    out.append(f"<text x='{(LEFT + WIDTH - RIGHT) / 2}' y='{HEIGHT - 8}' text-anchor='middle'>{x_name}</text>")
    middle = (TOP + HEIGHT - BOTTOM) / 2
    out.append(f"<text x='14' y='{middle}' text-anchor='middle' transform='rotate(-90 14 {middle})'>{y_name}</text>")
    labels = list(dict.fromkeys(label for label, _ in series))
    for label, points in series:
        colour = COLOURS[labels.index(label)]
        for x, y in points:
            across, up = place(x, y)
            out.append(f"<circle cx='{across:.1f}' cy='{up:.1f}' r='2' fill='none' stroke='{colour}'/>")
    for i, label in enumerate(labels):
        out.append(f"<text x='{WIDTH - RIGHT + 12}' y='{TOP + 14 + 16 * i}' style='fill:{COLOURS[i]}'>{label}</text>")
    (ROOT / "docs" / file).write_text("\n".join(out) + "\n</svg>\n")


def one_sm():
    series = []
    for place, where in (("cached", "L2"), ("memory", "memory")):
        for shape, lines, name in (("one_word", 1, "one line"), ("sectors", 8, "8 lines"), ("unique", 32, "32 lines")):
            for run in (1, 2, 3):
                t = traces("h200-patterns", run)[f"access_patterns/{shape}_{place}"]
                series.append((f"{name} a load, {where}", [(x, y * lines) for x, y in zip(t["in_flight"], t["rate"])]))
    draw("h200-one-sm.svg", "Lines per cycle of one SM of an H200 against loads of its warps in flight",
         "loads in flight", "lines per cycle", series, (1, 2048), (0, 1.2), True)


def one_warp():
    series = []
    for place, where in (("cached", "L2"), ("memory", "memory")):
        for run in (1, 2, 3):
            t = traces("h200-patterns", run)[f"access_patterns/one_word_{place}_few_warps"]
            points = zip(t["warps"], t["loads"], t["rate"])
            series.append((f"from {where}", [(n, n / rate) for warps, n, rate in points if warps == 1]))
    draw("h200-one-warp.svg", "Cycles in which one warp of an H200 gets loads of one line each",
         "loads in flight", "cycles", series, (0, 64), (0, 2000), False)


def l1_misses():
    names = (("many", "each a new line"), ("many_half_the_lines", "two warps a line"),
             ("many_of_one_place", "all the same 32 lines"), ("many_far", "past the L1"))
    series = []
    for name, label in names:
        for run in (1, 2, 3):
            t = traces("h200-many", run)[f"outstanding/{name}"]
            series.append((label, list(zip(t["threads"], t["latency"]))))
    draw("h200-l1-misses.svg", "Cycles in which one SM of an H200 gets 32 loads of each warp, one line each",
         "loads", "cycles", series, (0, 1024), (0, 3000), False)


if __name__ == "__main__":
    one_sm()
    one_warp()
    l1_misses()
