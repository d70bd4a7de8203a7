// Turns each figure of a page into a zoomable plot. A plot is drawn when it comes into view, and again when the colour
// scheme, the page's width or the choice of models has changed. Zooming takes Ctrl + wheel, so that the wheel alone still scrolls the page.
// The data stand as JSON in the script element behind each figure (report/plot/element.cpp writes them).
(() => {
  const dark = matchMedia("(prefers-color-scheme:dark)"),
    drawn = new Set(),
    choices = [...document.querySelectorAll("input[data-model]")];
  const colours = ["#2f6fde", "#d9622b", "#2a9d63", "#a04bc4", "#b08a1e", "#5b6b7b"],
    dashes = [
      [1, 0],
      [7, 3],
      [2, 2],
      [8, 2, 2, 2],
    ];
  const zoom = () => [{ name: "zoom", select: { type: "interval", zoom: "wheel![event.ctrlKey]" }, bind: "scales" }];
  // A Vega expression: sizes with the largest binary unit that is not above them.
  const bytesLabel = [
    "datum.value>=1073741824?format(datum.value/1073741824,'.4~g')+' GiB'",
    "datum.value>=1048576?format(datum.value/1048576,'.4~g')+' MiB'",
    "datum.value>=1024?format(datum.value/1024,'.4~g')+' KiB'",
    "format(datum.value,'.4~g')",
  ].join(":");
  // `c` is a column: its title, unit, kind of ticks and kind of scale.
  const axis = (c, across) => ({
    labelOverlap: "greedy",
    labelSeparation: 6,
    labelFlush: across,
    labelLimit: 90,
    title: c.title,
    titleLimit: 240,
    values: c.values,
    tickMinStep: c.ticks === "whole" ? 1 : undefined,
    labelExpr: c.ticks === "binary" ? bytesLabel : undefined,
  });
  const scale = (c) => (c.log ? { type: "log", base: 2, nice: false } : { zero: c.zero });
  // A line at each value that the title names, with a few words beside it. Labels of standing lines are below each
  // other.
  function markLayers(data, ink, width) {
    const x = { field: "x", type: "quantitative", scale: scale(data.x), axis: axis(data.x, true) },
      y = { field: "y", type: "quantitative", scale: scale(data.y), axis: axis(data.y, false) };
    // The share of an axis at which a value stands; a label near the right end stands left of its line, and one near
    // the top below it.
    const span = (c, values) => {
      const low = Math.min(...values, ...(c.zero && !c.log ? [0] : [])),
        high = Math.max(...values),
        f = c.log ? Math.log : (v) => v;
      return (v) => (f(v) - f(low)) / (f(high) - f(low) || 1);
    };
    const across = span(data.x, [...data.series.flatMap((s) => s.x), ...data.series.flatMap((s) => s.until || [])]),
      up = span(
        data.y,
        data.series.flatMap((s) => s.y),
      );
    const near = (m) => up(m.y) > 0.9;
    let row = data.marks?.some((m) => "y" in m && near(m)) ? 1 : 0;
    return (data.marks || []).flatMap((m) => {
      const along = "x" in m ? { x } : { y },
        values = { values: [{ ...m }] };
      const left = "x" in m && across(m.x) * width + 7 * m.label.length + 8 > width;
      const text =
        "x" in m
          ? { y: { value: 8 + 13 * row++ }, align: left ? "right" : "left", dx: left ? -4 : 4, dy: 0 }
          : { x: { value: 4 }, align: "left", dx: 0, dy: near(m) ? 8 : -6 };
      const place = "x" in m ? { y: text.y } : { x: text.x };
      return [
        {
          data: values,
          mark: { type: "rule", strokeDash: [5, 4], color: "#c0392b", strokeWidth: 1.4, clip: true },
          encoding: along,
        },
        {
          data: values,
          mark: { type: "text", align: text.align, dx: text.dx, dy: text.dy, color: ink, fontSize: 11, fontWeight: 600 },
          encoding: { ...along, ...place, text: { field: "label" } },
        },
      ];
    });
  }
  // The layers of a plot with models: measured points, and a line for each model whose box is checked. A model keeps
  // its colour and dashes whatever else is chosen.
  function overlay(data, ink, width) {
    const lines = data.series.filter((s) => s.as === "line").map((s) => s.name),
      chosen = lines.filter((n) => !choices.length || choices.some((c) => c.checked && c.dataset.model === n)),
      measured = data.series.filter((s) => s.as !== "line").map((s) => s.name);
    const known = data.models.filter((m) => chosen.includes(m)),
      domain = [...measured, ...known],
      look = (n, of) => of(data.models.indexOf(n));
    const colour = {
      field: "series",
      type: "nominal",
      scale: {
        domain,
        range: domain.map((n) => (measured.includes(n) ? ink : look(n, (i) => colours[i % colours.length]))),
      },
      legend: {
        title: null,
        orient: "top",
        columns: Math.max(2, Math.floor(width / 160)),
        symbolType: "stroke",
        symbolStrokeWidth: 2,
      },
    };
    const dash = {
      field: "series",
      type: "nominal",
      scale: {
        domain,
        range: domain.map((n) =>
          measured.includes(n) ? [1, 0] : look(n, (i) => dashes[Math.floor(i / colours.length) % dashes.length]),
        ),
      },
      legend: colour.legend,
    };
    const of = (name) => ({ filter: { field: "series", oneOf: name } });
    return [
      {
        params: zoom(),
        transform: [of(known)],
        mark: { type: "line", strokeWidth: 1.8, clip: true },
        encoding: { color: colour, strokeDash: dash },
      },
      {
        transform: [of(measured)],
        mark: { type: "point", filled: true, size: 24, opacity: 1, clip: true },
        encoding: { color: colour },
      },
    ];
  }
  // The distinct places of a map along one axis, and the edges of the cell around a place. A cell is as wide as the
  // smallest distance between two places, in the logarithm where the axis is logarithmic.
  function cells(values, c, of) {
    const at = [...new Set(values.map(of))].sort((a, b) => a - b),
      f = c.log ? Math.log2 : (v) => v,
      g = c.log ? (v) => 2 ** v : (v) => v;
    const least = Math.min(...at.slice(1).map((v, i) => f(v) - f(at[i])));
    return { count: at.length, edge: (v, side) => g(f(v) + (side * least) / 2) };
  }
  // Draws a map as cells without gaps. It stays one of single squares where fewer than two thirds of the cells have a
  // value.
  function fill(spec, values, data) {
    const x = cells(values, data.x, (v) => v.x),
      y = cells(values, data.y, (v) => v.y);
    if (x.count < 2 || y.count < 2 || x.count * y.count > 1.5 * values.length) return;
    values.forEach((v) =>
      Object.assign(v, { left: x.edge(v.x, -1), right: x.edge(v.x, 1), low: y.edge(v.y, -1), high: y.edge(v.y, 1) }),
    );
    const { encoding: e } = spec;
    spec.mark = { type: "rect", clip: true, strokeWidth: 0.7 };
    e.stroke = e.color;
    e.x = { ...e.x, field: "left", scale: { ...e.x.scale, zero: false, nice: false } };
    e.y = { ...e.y, field: "low", scale: { ...e.y.scale, zero: false, nice: false } };
    e.x2 = { field: "right" };
    e.y2 = { field: "high" };
  }
  // Draws the figure `box` from its data.
  function draw(box) {
    const data = JSON.parse(box.nextElementSibling.textContent),
      ink = getComputedStyle(document.body).color;
    const values = data.series.flatMap((s) =>
      s.x.map((x, i) => ({
        x,
        y: s.y[i],
        series: s.name,
        ...(s.shade ? { shade: s.shade[i] } : {}),
        ...(s.until ? { until: s.until[i] } : {}),
      })),
    );
    if (data.series.length > 1 && data.y.unit && !data.split) data.y = { ...data.y, title: data.y.unit };
    const spec = {
      width: "container",
      height: 260,
      background: null,
      data: { values },
      autosize: { type: "fit", contains: "padding" },
      params: zoom(),
      mark: data.until
        ? { type: "bar", orient: "horizontal", size: 6, opacity: 0.6 }
        : data.shade
          ? { type: "square", filled: true, size: 45, opacity: 1 }
          : data.line
            ? { type: "line", point: { size: 22 }, strokeWidth: 1.2 }
            : { type: "point", filled: true, size: 22 },
      encoding: {
        ...(data.until ? { x2: { field: "until" } } : {}),
        x: { field: "x", type: "quantitative", scale: scale(data.x), axis: axis(data.x, true) },
        y: { field: "y", type: "quantitative", scale: scale(data.y), axis: axis(data.y, false) },
        color: data.shade
          ? {
              field: "shade",
              type: "quantitative",
              scale: { scheme: "viridis", type: "symlog" },
              legend: {
                title: data.shade.title,
                orient: "top",
                titleColor: ink,
              },
            }
          : {
              field: "series",
              type: "nominal",
              sort: null,
              legend:
                data.series.length > 1
                  ? { title: null, orient: "top", columns: Math.max(2, Math.floor(box.clientWidth / 100)) }
                  : null,
            },
        tooltip: [
          { field: "series", title: "series" },
          { field: "x", title: data.x.title },
          { field: "y", title: data.y.title },
          ...(data.shade ? [{ field: "shade", title: data.shade.title }] : []),
          ...(data.until ? [{ field: "until", title: data.until.title }] : []),
        ],
      },
      config: {
        font: "system-ui, sans-serif",
        range: { category: colours },
        axis: {
          labelColor: ink,
          titleColor: ink,
          tickColor: "#8795a5",
          domainColor: "#8795a5",
          gridColor: dark.matches ? "#33404d" : "#d8dfe6",
        },
        legend: { labelColor: ink },
        view: { stroke: null },
      },
    };
    if (data.shade) fill(spec, values, data);
    if (data.models) {
      const { x, y, tooltip } = spec.encoding,
        all = data.series.flatMap((s) => s.x);
      x.scale = { ...x.scale, domain: [data.x.log ? Math.min(...all) : 0, Math.max(...all)] };
      delete spec.params;
      delete spec.mark;
      spec.encoding = { x, y, tooltip };
      spec.layer = overlay(data, ink, box.clientWidth);
    }
    if (data.marks) {
      const { params, mark, encoding } = spec;
      if (!spec.layer) spec.layer = [{ params, mark, encoding }];
      else spec.layer = spec.layer.map((l) => ({ ...l, encoding: { ...encoding, ...l.encoding } }));
      delete spec.params;
      delete spec.mark;
      delete spec.encoding;
      spec.layer.push(...markLayers(data, ink, box.clientWidth - 110));
    }
    return vegaEmbed(box, spec, {
      renderer: "svg",
      actions: { export: true, source: false, compiled: false, editor: false },
      downloadFileName: box.dataset.name,
      tooltip: { theme: dark.matches ? "dark" : "light" },
    }).then(() => {
      box.dataset.drawn = innerWidth;
      drawn.add(box);
    });
  }
  const watcher = new IntersectionObserver(
    (entries) => {
      for (const e of entries)
        if (e.isIntersecting) {
          watcher.unobserve(e.target);
          draw(e.target);
        }
    },
    { rootMargin: "200px" },
  );
  document.querySelectorAll(".plot").forEach((box) => watcher.observe(box));
  // Those in view are drawn again at once, the others when they come into view.
  const again = () => drawn.forEach((box) => watcher.observe(box));
  dark.addEventListener("change", again);
  let width = innerWidth,
    soon = 0;
  addEventListener("resize", () => {
    if (innerWidth === width) return;
    width = innerWidth;
    clearTimeout(soon);
    soon = setTimeout(again, 100);
  });
  choices.forEach((c) =>
    c.addEventListener("change", () =>
      drawn.forEach((box) => {
        if (box.dataset.models) draw(box);
      }),
    ),
  );
})();
