"use strict";
(() => {
  const { rows, figures, dark } = JSON.parse(document.getElementById("report-data").textContent);
  const prefersDark = window.matchMedia("(prefers-color-scheme: dark)");
  const selects = [...document.querySelectorAll(".filters select")];
  const config = {
    displaylogo: false,
    showSendToCloud: false,
    responsive: true,
    modeBarButtonsToRemove: ["select2d", "lasso2d"],
  };

  /** An empty value, chosen or of the row, means any. */
  const isShown = (id) =>
    selects.every(({ name, value }) => value === "" || rows[id][name] === "" || rows[id][name] === value);

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

  function shownPart({ data, layout }) {
    if (!layout.meta) return { data: data.filter(({ meta }) => isShown(meta)), layout };
    const keep = layout.yaxis.tickvals.map(isShown);
    const { row_px, rest_px } = layout.meta;
    return {
      data: data.map((trace) => thin(trace, trace.y.map(isShown))),
      layout: {
        ...layout,
        yaxis: thin(layout.yaxis, keep),
        height: rest_px + row_px * Math.max(1, keep.filter(Boolean).length),
      },
    };
  }

  function draw() {
    for (const [id, figure] of Object.entries(figures)) {
      const { data, layout } = structuredClone(shownPart(figure));
      const colour = prefersDark.matches ? recolour : (value) => value;
      Plotly.react(`chart-${id}`, colour(data), colour(layout), config);
    }
  }

  function filterPage() {
    for (const element of document.querySelectorAll("[data-row]")) {
      element.hidden = !isShown(element.dataset.row);
    }
    for (const element of document.querySelectorAll("[data-group-of]")) {
      element.hidden = !element.dataset.groupOf.split(" ").some(isShown);
    }
    for (const group of document.querySelectorAll("[data-group]")) {
      group.hidden = ![...group.querySelectorAll("[data-row]")].some((row) => !row.hidden);
    }
    const all = Object.keys(rows);
    const output = document.querySelector(".shown");
    if (output) output.textContent = `${all.filter(isShown).length} of ${all.length} configurations`;
  }

  for (const select of selects) {
    select.addEventListener("change", () => {
      filterPage();
      draw();
    });
  }
  prefersDark.addEventListener("change", draw);
  draw();
  document.documentElement.dataset.ready = "true";
})();
