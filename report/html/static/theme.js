"use strict";
/** Light, dark, or what the system prefers: kept in `data-theme` of the root, and in the browser for next time. */
(() => {
  const root = document.documentElement;
  const toggle = document.querySelector("[data-theme-toggle]");
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  const choices = ["system", "light", "dark"];

  const kept = () => {
    try {
      return localStorage.getItem("ratelimit-bench-theme");
    } catch {
      return null; // A browser may refuse storage to a page from a disk.
    }
  };
  const keep = (choice) => {
    try {
      localStorage.setItem("ratelimit-bench-theme", choice);
    } catch {
      // The choice then lasts as long as the page.
    }
  };

  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
  const tell = () => document.dispatchEvent(new CustomEvent("themechange"));

  function choose(choice) {
    if (choice === "system") delete root.dataset.theme;
    else root.dataset.theme = choice;
    if (toggle) toggle.querySelector("span").textContent = choice;
    tell();
  }

  window.benchPage = { isDark };
  if (toggle) {
    toggle.hidden = false;
    toggle.addEventListener("click", () => {
      const now = root.dataset.theme ?? "system";
      const next = choices[(choices.indexOf(now) + 1) % choices.length];
      keep(next);
      choose(next);
    });
  }
  choose(choices.includes(kept()) ? kept() : "system");
  system.addEventListener("change", tell);
})();
