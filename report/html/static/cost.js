"use strict";
/** What a limiter costs at the rate that the reader types: CPU time of a request × requests a second. */
(() => {
  const input = document.querySelector("[data-cost-rate]");
  if (!input) return;
  const shares = document.querySelectorAll("[data-cost-us]");
  input.addEventListener("input", () => {
    const rate = Number(input.value);
    if (!(rate > 0)) return;
    for (const share of shares) {
      const percent = (Number(share.dataset.costUs) * rate) / 10_000;
      const digits = percent >= 100 ? 0 : 1;
      share.textContent = `${percent.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits })} %`;
    }
  });
})();
