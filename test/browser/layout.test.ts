import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { needs } from "../helpers/needs.js";
import { drawn, expectSound, openReport, sharedReport, showAll } from "./page.js";

const SECTIONS = {
  throughput: ["throughput", "tradeoff", "ceiling"],
  latency: ["latency", "percentiles"],
  cpu: ["cpu"],
  memory: ["memory"],
  correctness: ["limited"],
  "over-time": [
    "series",
    "consumer-cpu-over-time",
    "consumer-memory-over-time",
    "store-cpu-over-time",
    "store-memory-over-time",
  ],
  tables: [],
  errors: [],
  runs: [],
  environment: [],
  method: [],
};

const height = (page: Page) =>
  page.evaluate("document.documentElement.scrollHeight") as Promise<number>;
const runs = (page: Page) => page.locator("#run-rows tbody tr:visible");
const fold = (page: Page, section: string) => page.locator(`#${section} > details`);

// Two rankings and the controls: ten targets, five runs of each.
describe("what is open and what is folded in the report", needs(["chromium"]), () => {
  const sharedPage = sharedReport("layout", { folded: true });

  test.each([
    { width: 390, height: 844, mostPx: 8000 },
    { width: 1280, height: 800, mostPx: 4000 },
  ])(
    "is at most $mostPx px high at $width px, and its first screen holds the picture",
    async (look) => {
      const { page, complaints } = sharedPage();
      await page.setViewportSize({ width: look.width, height: 900 });
      expect(await height(page)).toBeLessThanOrEqual(look.mostPx);
      const forest = await page.locator(".forest").boundingBox();
      expect((forest?.y ?? 0) + (forest?.height ?? 0)).toBeLessThanOrEqual(look.height);
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(look.width);
      const words = (await page.evaluate("document.body.innerText")) as string;
      expect(words.split(/\s+/).length).toBeLessThanOrEqual(1500);
      expect(complaints).toEqual([]);
    },
  );

  test("folds every section, and each says what it is about", async () => {
    const { page } = sharedPage();
    for (const [id, charts] of Object.entries(SECTIONS)) {
      expect(await fold(page, id).getAttribute("open"), id).toBeNull();
      expect(await page.locator(`#${id} summary .hint`).first().textContent(), id).not.toBe("");
      for (const chart of charts)
        expect(await page.locator(`#chart-${chart}`).isVisible(), chart).toBe(false);
    }
  });

  test("draws a chart anew that was folded while the filters changed", async () => {
    const { page } = sharedPage();
    const chart = page.locator("#chart-memory");
    const summary = fold(page, "memory").locator("summary").first();
    const bars = () => chart.locator(".bars .point").count();
    await summary.click();
    await drawn(page, "memory");
    const all = await bars();
    await summary.click();
    await page.locator('.chip input[value="iovalkey"]').check();
    await summary.click();
    await expect.poll(bars).toBeLessThan(all);
    expect(await bars()).toBeGreaterThan(0);
    await showAll(page);
    await summary.click();
  });

  test("a link to a section unfolds it", async () => {
    const { page } = sharedPage();
    for (const section of ["tables", "errors", "environment", "method"]) {
      await page.locator(`nav a[href="#${section}"]`).click();
      await expect.poll(() => fold(page, section).getAttribute("open")).toBe("");
    }
  });

  // It changes the page.
  test("draws a chart at its width, most of which its bars have where labels are long", async () => {
    const { page } = sharedPage();
    await page.evaluate(`for (const each of benchPage.data.figures.throughput.layout.meta.categories)
      each.text = "long ".repeat(14)`);
    await fold(page, "throughput").locator("summary").first().click();
    const chart = await drawn(page, "throughput");
    const [bars, svg, whole] = await Promise.all([
      chart.locator(".nsewdrag").first().boundingBox(),
      chart.locator(".main-svg").first().boundingBox(),
      chart.boundingBox(),
    ]);
    expect(svg?.width).toBe(whole?.width);
    expect(svg?.width).toBeGreaterThan(560);
    expect(bars?.width).toBeGreaterThan(0.8 * (whole?.width ?? 0));
  });

  test("prints every run", async () => {
    const { page } = sharedPage();
    await page.evaluate("dispatchEvent(new Event('beforeprint'))");
    await page.emulateMedia({ media: "print" });
    expect(await runs(page).count()).toBe(50);
  });

  test("an address with a section unfolds it alone", async () => {
    const { page } = await openReport("layout", { address: "#method", folded: true });
    expect(await fold(page, "method").getAttribute("open")).toBe("");
    expect(await fold(page, "tables").getAttribute("open")).toBeNull();
  });

  // In light and at 1280 px: the report of report.test.ts.
  test("draws a folded chart at its size once it is unfolded, on a phone in dark, and has no serious finding of axe", async () => {
    const look = { width: 375, colorScheme: "dark", folded: true } as const;
    const { page, complaints } = await openReport("layout", look);
    for (const [section, charts] of Object.entries(SECTIONS)) {
      if (charts.length === 0) continue;
      for (const id of charts)
        expect(await page.locator(`#chart-${id}`).getAttribute("data-drawn"), id).toBeNull();
      await fold(page, section).locator("summary").first().focus();
      await page.keyboard.press("Enter");
      for (const id of charts) {
        const chart = await drawn(page, id);
        const [svg, place] = await Promise.all([
          chart.locator(".main-svg").first().boundingBox(),
          chart.boundingBox(),
        ]);
        expect(svg?.width, id).toBe(place?.width);
        expect(svg?.width, id).toBeGreaterThan(330);
        expect(await chart.locator(".trace").count(), id).toBeGreaterThan(0);
      }
    }
    await expectSound(page, complaints);
  });
});

describe("the report with all unfolded", needs(["chromium"]), () => {
  const sharedPage = sharedReport("layout");

  test.each([320, 390, 1440, 1920, 1280])(
    "cuts no cell's text in any table, at %i px",
    async (width) => {
      const { page } = sharedPage();
      await page.setViewportSize({ width, height: 900 });
      const cut =
        await page.evaluate(`[...document.querySelectorAll("td, th, .badge, .forest-row span")]
      .filter((cell) => cell.checkVisibility() && !cell.classList.contains("forest-axis"))
      .filter((cell) => {
        const box = cell.getBoundingClientRect();
        const scroll = cell.closest(".scroll");
        const room = scroll ? scroll.getBoundingClientRect().left + scroll.scrollWidth : innerWidth;
        return cell.scrollWidth > Math.ceil(box.width) + 1 || box.right > room + 1;
      })
      .map((cell) => cell.textContent.trim())`);
      expect(cut).toEqual([]);
      // The table that decides needs no scrolling.
      const decision = page.locator(".scroll", { has: page.locator("table.decision") }).first();
      if (width >= 390)
        expect(
          await decision.evaluate((element) => element.scrollWidth - element.clientWidth),
        ).toBeLessThanOrEqual(0);
    },
  );

  test("shows the same view in every chart of a section", async () => {
    const { page } = sharedPage();
    const select = (id: string) => page.locator(`figure:has(#chart-${id}) .view select`);
    await drawn(page, "series");
    const texts = await select("series").locator("option").allTextContents();
    expect(texts.length).toBeGreaterThan(1);
    await select("series").selectOption(texts[1] ?? "");
    expect(await select("consumer-cpu-over-time").inputValue()).toBe(texts[1]);
    expect(await select("percentiles").inputValue()).toBe(texts[0]);
  });

  test("lists the first 15 runs of the order that the table was sorted by", async () => {
    const { page } = sharedPage();
    const figures = async () =>
      (
        await page
          .locator("#run-rows tbody tr:visible td[data-sort]:nth-of-type(3)")
          .allInnerTexts()
      ).map((text) => Number(text.replaceAll(",", "")));
    await page
      .locator("#run-rows thead")
      .getByRole("button", { name: /^Throughput/ })
      .click();
    const first = await figures();
    expect(first).toHaveLength(15);
    const more = page.locator("#runs button.more-rows");
    await more.click();
    const all = (await figures()).sort((a, b) => b - a);
    expect(first).toEqual(all.slice(0, 15));
    await more.click();
  });

  test("lists 15 runs until all are asked for, of those that the filters leave", async () => {
    const { page, complaints } = sharedPage();
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
});
