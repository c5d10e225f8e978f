"use strict";
/**
 * Draws the figures of `#report-data` once they come near the window, and again when filters, theme or width
 * change. A folded figure is nowhere near, so it is drawn once it is unfolded. `charts/layout.py` says what the `meta`
 * of traces and layouts mean.
 */
(() => {
  const { data, isShown, isDark } = window.benchPage;
  const { figures, dark } = data;
  const config = { displayModeBar: false, displaylogo: false, showSendToCloud: false, responsive: false };
  /** Narrower than this, labels stand above their bars and legends below their lines. */
  const narrowPx = 480;
  /** Labels that would take half of the width stand there too. */
  const letterPx = 7;
  let printing = false;

  /** Every array of the length of `keep`, at any depth, without the entries that `keep` drops. */
  function thin(value, keep) {
    if (Array.isArray(value)) return value.length === keep.length ? value.filter((_, i) => keep[i]) : value;
    if (value === null || typeof value !== "object") return value;
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, thin(inner, keep)]));
  }

  function recolour(value) {
    if (typeof value === "string") return dark[value] ?? value;
    if (Array.isArray(value)) return value.map(recolour);
    if (value === null || typeof value !== "object") return value;
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, recolour(inner)]));
  }

  /** Which views have a row of their own that the filters leave, or else any row. */
  function openViews(views) {
    const own = views.filter(({ rows, own: count }) => rows.slice(0, count).some(isShown));
    return own.length > 0 ? own : views.filter(({ rows }) => rows.some(isShown));
  }

  /** The choice of views above a chart: kept where it can be, and hidden where there is none to make. */
  function chosenView(place, views) {
    const label = place.element.parentElement.querySelector(".view");
    const select = label.querySelector("select");
    const open = openViews(views);
    const kept = open.find(({ text }) => text === select.value) ?? open[0];
    const texts = open.map(({ text }) => text);
    if (place.views !== texts.join("\n")) select.replaceChildren(...texts.map((text) => new Option(text, text)));
    place.views = texts.join("\n");
    if (kept) select.value = kept.text;
    label.hidden = views.length < 2 || open.length === 0;
    return kept;
  }

  /** The rows that are drawn, out of those that the filters leave: as many as can be told apart. */
  function drawnRows(place) {
    const { meta } = place.figure.layout;
    const ids = meta.views ? (chosenView(place, meta.views)?.rows ?? []) : meta.rows;
    const shown = ids.filter(isShown);
    return { drawn: new Set(shown.slice(0, meta.max_rows)), shown: shown.length };
  }

  function shownTraces(traces, drawn) {
    return traces.flatMap((trace) => {
      const { meta, ...rest } = trace;
      if (!Array.isArray(meta)) return drawn.has(meta) ? [rest] : [];
      const keep = meta.map((id) => drawn.has(id));
      // A trace without points would still take a place among the colours of a legend.
      return keep.includes(true) ? [thin(rest, keep)] : [];
    });
  }

  /**
   * One line per row; headings stay where a row of theirs does, and are lower. Labels stand above the bars where it is
   * narrow. Places along the axis are in pixels: a category axis would make headings as high as rows.
   */
  function rowPlaces({ categories, row_px: rowPx }, drawn, narrow) {
    const headingPx = 23;
    let height = 0;
    const lines = categories
      .filter(({ rows }) => rows.some((id) => drawn.has(id)))
      .map(({ id, text, rows }) => {
        const isRow = rows[0] === id;
        const top = height + (narrow && isRow ? 14 : 0);
        const px = isRow ? rowPx : headingPx;
        height = top + px;
        return { id, text, isRow, y: top + px / 2, labelY: narrow && isRow ? top - 4 : top + px / 2 };
      });
    return { lines, height };
  }

  function rowLayout({ meta, ...layout }, { lines, height }, narrow) {
    const rows = Math.max(height, meta.row_px);
    const ticks = { tickvals: lines.map(({ y }) => y), ticktext: lines.map(({ text }) => text) };
    const yaxis = { ...layout.yaxis, type: "linear", ...ticks, range: [rows, 0], showticklabels: !narrow };
    const laidOut = { ...layout, yaxis, height: meta.rest_px + rows };
    if (!narrow) return laidOut;
    const place = { x: 0, xref: "paper", xanchor: "left", yanchor: "middle", showarrow: false, borderpad: 0 };
    const annotations = lines.map(({ text, labelY }) => ({ ...place, text, y: labelY }));
    return { ...laidOut, annotations, margin: { ...layout.margin, l: 6 } };
  }

  /** A trace with its rows at their places; widths and offsets of bars are shares of a row. */
  function placedTrace(trace, { lines }, { row_px: rowPx }) {
    const places = new Map(lines.map(({ id, y }) => [id, y]));
    const px = (share) => (typeof share === "number" ? share * rowPx : share);
    const bar = trace.type === "bar" ? { width: px(trace.width), offset: px(trace.offset) } : {};
    return { ...trace, ...bar, y: trace.y.map((id) => places.get(id)) };
  }

  /** On a narrow page the legend stands below the lines, because beside them it leaves too little space. */
  function viewLayout({ meta, ...layout }, traces, narrow) {
    if (!narrow) return layout;
    const entries = traces.filter(({ showlegend }) => showlegend !== false).length;
    const height = meta.narrow_px ?? layout.height - 60;
    const legend = { ...layout.legend, x: 0, y: -66 / (height - 60), yanchor: "top", xanchor: "left" };
    return { ...layout, height: height + 21 * entries, margin: { ...layout.margin, l: 4, r: 8 }, legend };
  }

  function part(place) {
    const { drawn, shown } = drawnRows(place);
    const { layout } = place.figure;
    const traces = shownTraces(place.figure.data, drawn);
    const rows = layout.meta.categories?.filter(({ id }) => drawn.has(id)).map(({ text }) => text);
    const longest = Math.max(0, ...(rows ?? traces.map(({ name = "" }) => name)).map(({ length }) => length));
    const widthPx = place.element.parentElement.clientWidth;
    const narrow = widthPx < narrowPx || widthPx < 2 * letterPx * longest;
    const found = { drawn: drawn.size, shown };
    if (!layout.meta.categories) return { ...found, traces, layout: viewLayout(layout, traces, narrow) };
    const places = rowPlaces(layout.meta, drawn, narrow);
    const placed = traces.map((trace) => placedTrace(trace, places, layout.meta));
    return { ...found, traces: placed, layout: rowLayout(layout, places, narrow) };
  }

  function noteText(drawn, shown) {
    if (shown === 0) return "Nothing to draw: the filters leave no row with these figures.";
    return drawn < shown ? `Drawn: the first ${drawn} of ${shown} configurations. Filter to see others.` : "";
  }

  const places = Object.entries(figures).map(([id, figure]) => {
    return { figure, element: document.getElementById(`chart-${id}`), near: false, stale: true };
  });

  function draw(place) {
    const { element } = place;
    const { traces, layout, drawn, shown } = structuredClone(part(place));
    const colour = isDark() && !printing ? recolour : (value) => value;
    const note = element.parentElement.querySelector(".chart-note");
    note.textContent = noteText(drawn, shown);
    note.hidden = note.textContent === "";
    element.hidden = drawn === 0;
    place.stale = false;
    if (drawn === 0) return;
    element.style.height = `${layout.height}px`;
    Plotly.react(element, colour(traces), { ...colour(layout), width: element.clientWidth }, config);
    element.dataset.drawn = "true";
  }

  const drawIfNear = (place) => {
    if (place.near && place.stale) draw(place);
  };

  /** Charts of one section show the same view, so that they can be read beside each other. */
  function choose(chosen, text) {
    const { parentElement: section } = chosen.element.parentElement;
    for (const place of places) {
      const figure = place.element.parentElement;
      const hasView = place.figure.layout.meta.views?.some((view) => view.text === text);
      if (figure.parentElement !== section || !hasView) continue;
      figure.querySelector(".view select").value = text;
      place.stale = true;
      drawIfNear(place);
    }
  }

  function refresh() {
    for (const place of places) {
      place.stale = true;
      drawIfNear(place);
    }
  }

  function approached(entries) {
    for (const { target, isIntersecting } of entries) {
      const place = places.find(({ element }) => element.parentElement === target);
      place.near = isIntersecting;
      drawIfNear(place);
    }
  }
  const watcher = new IntersectionObserver(approached, { rootMargin: "400px 0px" });

  /** Keeps a place of the size of its chart, so that nothing jumps when the chart comes. */
  function keepPlace(place) {
    if (place.element.parentElement.clientWidth > 0) place.element.style.height = `${part(place).layout.height}px`;
  }

  for (const place of places) {
    keepPlace(place);
    place.element.closest("details")?.addEventListener("toggle", () => {
      if (place.stale) keepPlace(place);
    });
    watcher.observe(place.element.parentElement);
    const select = place.element.parentElement.querySelector(".view select");
    select.addEventListener("change", () => choose(place, select.value));
  }

  let width = document.documentElement.clientWidth;
  new ResizeObserver(() => {
    if (printing || width === document.documentElement.clientWidth) return;
    width = document.documentElement.clientWidth;
    refresh();
  }).observe(document.documentElement);
  document.addEventListener("filterchange", refresh);
  document.addEventListener("themechange", refresh);
  window.addEventListener("beforeprint", () => {
    printing = true;
    for (const place of places) draw(place);
  });
  window.addEventListener("afterprint", () => {
    printing = false;
    refresh();
  });
  document.documentElement.dataset.ready = "true";
})();
