"use strict";
/** What is folded opens when a link leads into it, and when the page is printed. */
(() => {
  const openAround = (element) => {
    for (let part = element; part; part = part.parentElement) if (part.tagName === "DETAILS") part.open = true;
  };

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
  if (location.hash) openTarget();
})();
