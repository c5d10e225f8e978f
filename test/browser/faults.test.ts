import { describe, expect, test } from "vitest";
import { needs } from "../helpers/needs.js";
import { seriousFindings } from "./chromium.js";
import { type Opening, openReport } from "./page.js";

describe("the report of a campaign with faults", needs(["chromium"]), () => {
  const open = (opening?: Opening) => openReport("faults", opening);

  test.each([
    { width: 1280, colorScheme: "light" },
    { width: 375, colorScheme: "dark" },
  ] as const)("draws one strip a target, and fits $width px", async (look) => {
    const { page, complaints } = await open(look);
    for (const id of ["fault1", "fault2"]) {
      const chart = page.locator(`#chart-${id}`);
      await chart.scrollIntoViewIfNeeded();
      await page.waitForSelector(`#chart-${id}[data-drawn]`);
      // Admitted, limited, failed and p99, each with a line or an area.
      expect(await chart.locator(".scatterlayer .trace").count()).toBe(3 * 4);
      expect(await chart.locator(".shapelayer path").count()).toBeGreaterThanOrEqual(3);
    }
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(look.width);
    expect(await seriousFindings(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });
});
