import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { needs } from "../helpers/needs.js";
import { seriousFindings } from "./chromium.js";
import { type Opening, openReport } from "./page.js";

const OPEN_CHARTS = ["throughput", "latency", "cpu"];
const FOLDED_CHARTS = ["decision-cpu", "percentiles", "tradeoff", "ceiling", "memory", "limited", "series"];
const FOLDED_SECTIONS = ["tables", "errors", "environment", "method"];

describe("what is open and what is folded in the report", needs(["chromium"]), () => {
  // Two rankings and the controls: ten targets, five runs of each.
  const open = (opening?: Opening) => openReport("layout", opening);

  const height = (page: Page) => page.evaluate("document.documentElement.scrollHeight") as Promise<number>;
  const runs = (page: Page) => page.locator("#run-rows tbody tr:visible");
  const fold = (page: Page, section: string) => page.locator(`#${section} > details`);

  async function drawn(page: Page, id: string) {
    await page.locator(`#chart-${id}`).scrollIntoViewIfNeeded();
    await page.waitForSelector(`#chart-${id}[data-drawn]`);
  }

  test.each([
    { width: 1280, mostPx: 4000 },
    { width: 375, mostPx: 8000 },
  ])("is at most $mostPx px high at $width px, before and after its charts are drawn", async (look) => {
    const { page, complaints } = await open({ width: look.width, folded: true });
    expect(await height(page)).toBeLessThanOrEqual(look.mostPx);
    for (const id of OPEN_CHARTS) await drawn(page, id);
    expect(await height(page)).toBeLessThanOrEqual(look.mostPx);
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(look.width);
    expect(complaints).toEqual([]);
  });

  test("opens with throughput, latency and CPU, and folds what a decision does not need", async () => {
    const { page } = await open({ folded: true });
    for (const id of OPEN_CHARTS) expect(await page.locator(`#chart-${id}`).isVisible(), id).toBe(true);
    for (const id of FOLDED_CHARTS) expect(await page.locator(`#chart-${id}`).isVisible(), id).toBe(false);
    for (const id of FOLDED_SECTIONS) expect(await fold(page, id).getAttribute("open"), id).toBeNull();
  });

  test.each([1280, 375])("draws a folded chart at its size once it is unfolded, at %i px", async (width) => {
    const { page, complaints } = await open({ width, folded: true });
    for (const id of FOLDED_CHARTS) {
      const chart = page.locator(`#chart-${id}`);
      expect(await chart.getAttribute("data-drawn"), id).toBeNull();
      await page.locator("details", { has: chart }).locator("summary").focus();
      await page.keyboard.press("Enter");
      await drawn(page, id);
      const [svg, place] = await Promise.all([
        chart.locator(".main-svg").first().boundingBox(),
        chart.boundingBox(),
      ]);
      expect(svg?.width, id).toBe(place?.width);
      expect(svg?.width, id).toBeGreaterThan(width === 1280 ? 560 : 330);
      expect(await chart.locator(".trace").count(), id).toBeGreaterThan(0);
    }
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(width);
    expect(complaints).toEqual([]);
  });

  test("draws a chart anew that was folded while the filters changed", async () => {
    const { page } = await open({ folded: true });
    const chart = page.locator("#chart-memory");
    const summary = page.locator("details", { has: chart }).locator("summary");
    const bars = () => chart.locator(".bars .point").count();
    await summary.click();
    await drawn(page, "memory");
    const all = await bars();
    await summary.click();
    await page.locator('.chip input[value="iovalkey"]').check();
    await summary.click();
    await expect.poll(bars).toBeLessThan(all);
    expect(await bars()).toBeGreaterThan(0);
  });

  test.each(["tables", "errors", "environment", "method"])("a link to %s unfolds it", async (section) => {
    const { page } = await open({ folded: true });
    await page.locator(`nav a[href="#${section}"]`).click();
    await expect.poll(() => fold(page, section).getAttribute("open")).toBe("");
    const again = await open({ address: `#${section}`, folded: true });
    expect(await fold(again.page, section).getAttribute("open")).toBe("");
    expect(
      await fold(again.page, section === "method" ? "tables" : "method").getAttribute("open"),
    ).toBeNull();
  });

  test("lists 15 runs until all are asked for, of those that the filters leave", async () => {
    const { page, complaints } = await open({ folded: true });
    expect(await runs(page).count()).toBe(15);
    const button = page.locator("#runs button.more-rows");
    expect(await button.textContent()).toBe("Show all 50 runs");
    await button.focus();
    await page.keyboard.press("Enter");
    expect(await runs(page).count()).toBe(50);
    expect(await button.getAttribute("aria-expanded")).toBe("true");
    await page.keyboard.press("Enter");
    expect(await runs(page).count()).toBe(15);
    await page.locator('.chip input[value="ioredis"]').check();
    expect(await button.textContent()).toBe("Show all 25 runs");
    await page.locator("select[name=store]").selectOption("valkey");
    expect(await runs(page).count()).toBe(5);
    expect(await button.isVisible()).toBe(false);
    expect(complaints).toEqual([]);
  });

  test("lists the first 15 runs of the order that the table was sorted by", async () => {
    const { page } = await open({ folded: true });
    const figures = async () =>
      (await page.locator("#run-rows tbody tr:visible td[data-sort]:nth-of-type(3)").allInnerTexts()).map(
        (text) => Number(text.replaceAll(",", "")),
      );
    await page
      .locator("#run-rows thead")
      .getByRole("button", { name: /^Throughput/ })
      .click();
    const first = await figures();
    expect(first).toHaveLength(15);
    await page.locator("#runs button.more-rows").click();
    const all = (await figures()).sort((a, b) => b - a);
    expect(first).toEqual(all.slice(0, 15));
  });

  test("prints every run", async () => {
    const { page } = await open({ folded: true });
    await page.evaluate("dispatchEvent(new Event('beforeprint'))");
    await page.emulateMedia({ media: "print" });
    expect(await runs(page).count()).toBe(50);
  });

  test.each([
    { colorScheme: "light", width: 1280 },
    { colorScheme: "dark", width: 375 },
  ] as const)("has no serious finding of axe, all unfolded, in $colorScheme at $width px", async (look) => {
    const { page } = await open({ ...look, folded: true });
    for (const id of OPEN_CHARTS) await drawn(page, id);
    expect(await seriousFindings(page)).toEqual([]);
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(look.width);
  });
});
