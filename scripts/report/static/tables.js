"use strict";
/**
 * Every `table[data-sortable]`: a click on a column's header sorts the rows within each body, a third one restores
 * the page's order. A cell's `data-sort` is what counts, else its text; cells without a figure stay last.
 * Every `button[data-copy]` puts the table that it names on the clipboard, as Markdown, without hidden rows.
 */
(() => {
  const collator = new Intl.Collator("en", { numeric: true });
  const live = Object.assign(document.createElement("p"), { className: "visually-hidden" });
  live.setAttribute("role", "status");
  document.body.append(live);

  const keyOf = (row, column) => {
    const cell = row.cells[column];
    if (!cell) return "";
    return cell.dataset.sort ?? cell.textContent.trim();
  };
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
    };

    headers.forEach((header, column) => {
      if (header.dataset.unsorted !== undefined) return;
      const button = document.createElement("button");
      button.type = "button";
      button.className = "sort";
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

  /** What stands in a cell of a Markdown table: one line, and no character that ends the cell or is markup. */
  const markdownText = (cell) => {
    const copy = cell.cloneNode(true);
    for (const silent of copy.querySelectorAll("[data-nocopy], .visually-hidden")) silent.remove();
    const text = (copy.dataset.copyText ?? copy.textContent).replace(/\s+/g, " ").trim();
    const safe = text.replace(/[\\`*_[\]<>|#]/g, "\\$&");
    return cell.classList.contains("best") && safe ? `**${safe}**` : safe;
  };

  const lineOf = (cells) => `| ${cells.join(" | ")} |`;

  function markdown(table) {
    const headers = [...table.tHead.rows[table.tHead.rows.length - 1].cells];
    const lines = [
      lineOf(headers.map(markdownText)),
      lineOf(headers.map((header) => (header.classList.contains("number") ? "--:" : "---"))),
    ];
    for (const row of table.querySelectorAll("tbody tr")) {
      if (row.hidden || row.closest("[hidden]")) continue;
      const cells = [...row.cells].flatMap((cell) => [markdownText(cell), ...Array(cell.colSpan - 1).fill("")]);
      lines.push(lineOf(cells));
    }
    return `${lines.join("\n")}\n`;
  }

  async function write(text) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      const area = Object.assign(document.createElement("textarea"), { value: text });
      area.className = "visually-hidden";
      document.body.append(area);
      area.select();
      const done = document.execCommand("copy"); // Pages from a disk have no other way in some browsers.
      area.remove();
      return done;
    }
  }

  for (const table of document.querySelectorAll("table[data-sortable]")) sortable(table);
  for (const button of document.querySelectorAll("button[data-copy]")) {
    button.hidden = false;
    button.addEventListener("click", async () => {
      const done = await write(markdown(document.getElementById(button.dataset.copy)));
      const label = button.textContent;
      button.textContent = done ? "Copied" : "Copying was refused";
      live.textContent = button.textContent;
      button.focus();
      setTimeout(() => {
        button.textContent = label;
      }, 1500);
    });
  }
})();
