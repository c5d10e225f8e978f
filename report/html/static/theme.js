"use strict";
/** Light, dark, or what the system prefers: kept in `data-theme` of the root, and in the browser for next time. */
(() => {
  const root = document.documentElement;
  const toggle = document.querySelector("[data-theme-toggle]");
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  const choices = ["system", "light", "dark"];
  const key = "ratelimit-bench-theme";

  /** A browser may refuse storage to a page from a disk: the choice then lasts as long as the page. */
  function stored(use) {
    try {
      return use(localStorage);
    } catch {
      return null;
    }
  }

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
      stored((storage) => storage.setItem(key, next));
      choose(next);
    });
  }
  const kept = stored((storage) => storage.getItem(key));
  choose(choices.includes(kept) ? kept : "system");
  system.addEventListener("change", tell);
})();
