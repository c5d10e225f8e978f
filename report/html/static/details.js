"use strict";
/**
 * What is folded opens when a link leads into it, and when the page is printed. A `table[data-fold-rows]` shows so
 * many of the rows that the filters leave, in the order that it is sorted by, until a button shows all of them.
 */
(() => {
  function openAround(target) {
    for (let part = target; part; part = part.parentElement) if (part.tagName === "DETAILS") part.open = true;
    // A section that is folded as a whole.
    const own = target.querySelector(":scope > details");
    if (own) own.open = true;
  }

  function openTarget() {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    openAround(target);
    target.scrollIntoView();
  }

  window.addEventListener("hashchange", openTarget);
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("a[href^='#']");
    if (link && link.getAttribute("href") === location.hash) openTarget();
  });

  let folded = [];
  window.addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll("details:not([open])")];
    for (const part of folded) part.open = true;
  });
  window.addEventListener("afterprint", () => {
    for (const part of folded) part.open = false;
  });

  function foldRows(table) {
    const most = Number(table.dataset.foldRows);
    const button = Object.assign(document.createElement("button"), { type: "button", className: "more-rows" });
    button.setAttribute("aria-controls", table.id);
    table.closest(".scroll").after(button);
    let open = false;

    function apply() {
      const rows = [...table.querySelectorAll("tbody tr")].filter((row) => !row.hidden);
      for (const [index, row] of rows.entries()) row.classList.toggle("folded-row", !open && index >= most);
      button.hidden = rows.length <= most;
      button.setAttribute("aria-expanded", `${open}`);
      button.textContent = open ? `Show the first ${most} ${table.dataset.rowName}` : `Show all ${rows.length} ${table.dataset.rowName}`;
    }
    button.addEventListener("click", () => {
      open = !open;
      apply();
    });
    document.addEventListener("filterchange", apply);
    table.addEventListener("sortchange", apply);
    apply();
  }

  for (const table of document.querySelectorAll("table[data-fold-rows]")) foldRows(table);
  if (location.hash) openTarget();
})();
