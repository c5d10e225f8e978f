"use strict";
/**
 * Every `table[data-sortable]`: a click on a column's header sorts the rows within each body, a third one restores
 * the page's order. A cell's `data-sort` is what counts, else its text; cells without a figure stay last.
 *
 * Every `button[data-copy]` copies the table that it names as Markdown: its title with the page's
 * `data-source`, then the text of every `[data-copied-with]` that names the table, then the rows that the filters
 * leave. What is `data-nocopy` stays out; a header that is takes its column along, and so does a column without text.
 */
(() => {
  const collator = new Intl.Collator("en", { numeric: true });
  const live = Object.assign(document.createElement("p"), { className: "visually-hidden" });
  live.setAttribute("role", "status");
  document.body.append(live);

  const keyOf = ({ cells }, column) => cells[column]?.dataset.sort ?? cells[column]?.textContent.trim() ?? "";
  const absent = (key) => key === "" || key === "–";

  function compare(a, b, direction) {
    if (absent(a) || absent(b)) return absent(a) - absent(b);
    const [x, y] = [Number(a), Number(b)];
    const order = Number.isNaN(x) || Number.isNaN(y) ? collator.compare(a, b) : x - y;
    return direction * order;
  }

  function sortable(table) {
    const bodies = [...table.tBodies];
    const original = bodies.map((body) => [...body.rows]);
    const headers = [...table.tHead.rows[table.tHead.rows.length - 1].cells];

    const sort = (column, state) => {
      const direction = state === "descending" ? -1 : 1;
      bodies.forEach((body, index) => {
        const rows = [...original[index]];
        if (state !== "none") rows.sort((a, b) => compare(keyOf(a, column), keyOf(b, column), direction));
        body.append(...rows);
      });
      table.dispatchEvent(new CustomEvent("sortchange"));
    };

    headers.forEach((header, column) => {
      if (header.dataset.unsorted !== undefined) return;
      const button = Object.assign(document.createElement("button"), { type: "button", className: "sort" });
      button.append(...header.childNodes);
      const arrow = Object.assign(document.createElement("span"), { className: "arrow" });
      arrow.setAttribute("aria-hidden", "true");
      arrow.dataset.nocopy = "";
      button.insertBefore(arrow, button.querySelector("small"));
      header.append(button);
      const first = header.classList.contains("more") ? "descending" : "ascending";
      const states = ["none", first, first === "ascending" ? "descending" : "ascending"];
      button.addEventListener("click", () => {
        const now = header.getAttribute("aria-sort") ?? "none";
        const next = states[(states.indexOf(now) + 1) % states.length];
        for (const other of headers) other.removeAttribute("aria-sort");
        if (next !== "none") header.setAttribute("aria-sort", next);
        sort(column, next);
        live.textContent = next === "none" ? "original order" : `sorted by ${button.textContent.trim()}, ${next}`;
      });
    });
  }

  const escaped = (text) => text.replace(/[\\`*_[\]<>|#&]/g, "\\$&");

  /** The text of a part of the page in one line, without what is hidden or not to be copied. */
  function lineOfText(element) {
    const copy = element.cloneNode(true);
    for (const silent of copy.querySelectorAll("[data-nocopy], .visually-hidden, [hidden]")) silent.remove();
    for (const part of copy.querySelectorAll("br, div, li, p, small, span")) {
      const another = (part.tagName === "P" || part.tagName === "LI") && part.previousElementSibling;
      part.before(another ? "; " : " ");
    }
    return copy.textContent.replace(/\s+/g, " ").replace(/ ;/g, ";").trim();
  }

  function cellText(cell) {
    const text = escaped(lineOfText(cell));
    return cell.classList.contains("best") && text ? `**${text}**` : text;
  }

  function tableLines(table) {
    const headers = [...table.tHead.rows[table.tHead.rows.length - 1].cells];
    const rows = [...table.querySelectorAll("tbody tr")]
      .filter((row) => !row.hidden && !row.closest("[hidden]"))
      .map((row) => [...row.cells].flatMap((cell) => [cellText(cell), ...Array(cell.colSpan - 1).fill("")]));
    const kept = headers.map(({ dataset }, at) => dataset.nocopy === undefined && rows.some((cells) => cells[at]));
    const line = (cells) => `| ${cells.filter((_, column) => kept[column]).join(" | ")} |`;
    return [
      line(headers.map(cellText)),
      line(headers.map((header) => (header.classList.contains("number") ? "--:" : "---"))),
      ...rows.map(line),
    ];
  }

  function markdown(table, title) {
    const source = document.body.dataset.source;
    const filter = window.benchPage.isFiltered?.() ? document.querySelector("form.filters output").textContent : "";
    const heading = [title, source, filter && `filtered: ${filter}`].filter(Boolean).join(", ");
    const beside = [...document.querySelectorAll(`[data-copied-with~="${table.id}"]`)]
      .filter((element) => !element.closest("[hidden]"))
      .map((element) => escaped(lineOfText(element)));
    return `${[`**${escaped(heading)}**`, ...beside, tableLines(table).join("\n")].join("\n\n")}\n`;
  }

  async function write(text) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      const area = Object.assign(document.createElement("textarea"), { value: text, className: "visually-hidden" });
      document.body.append(area);
      area.select();
      const done = document.execCommand("copy"); // Pages from a disk have no other way in some browsers.
      area.remove();
      return done;
    }
  }

  for (const table of document.querySelectorAll("table[data-sortable]")) sortable(table);

  function copyable(button) {
    const label = [...button.childNodes];
    let back;
    button.hidden = false;
    button.addEventListener("click", async () => {
      const done = await write(markdown(document.getElementById(button.dataset.copy), button.dataset.title));
      const outcome = done ? "Copied" : "Copying was refused";
      button.replaceChildren(outcome);
      live.textContent = outcome;
      button.focus();
      clearTimeout(back);
      back = setTimeout(() => button.replaceChildren(...label), 1500);
    });
  }
  for (const button of document.querySelectorAll("button[data-copy]")) copyable(button);
})();
