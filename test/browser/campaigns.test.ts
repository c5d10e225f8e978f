import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { needs } from "../helpers/needs.js";
import { type Look, launch, openPage, python, root, seriousFindings } from "./chromium.js";

const PAGES = ["index.html", "compare.html", "trends.html"];

describe("the pages over several campaigns in a browser", needs(["chromium"]), () => {
  // A space and a number sign: the pages must not care where they lie.
  const folder = mkdtempSync(join(tmpdir(), "ratelimit-bench campaigns #"));
  const address = (name: string) => pathToFileURL(join(folder, "report", name)).href;
  let browser: Browser;

  beforeAll(async () => {
    execFileSync(python, [join(root, "test/report/write_campaigns.py"), folder]);
    const script = join(root, "scripts/generate_report.py");
    execFileSync("python3", [script, join(folder, "20260101_000000")]);
    const flags = ["--compare-runs", folder, "--include-trends", "--baseline", "20260101_000000"];
    execFileSync("python3", [script, ...flags]);
    browser = await launch();
  });

  afterAll(async () => {
    await browser?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const open = (name: string, look: Look = {}) => openPage(browser, address(name), look);

  test.each(PAGES)("%s asks for nothing and complains of nothing", async (name) => {
    const { page, complaints } = await open(name);
    expect(await page.locator("h1").count()).toBe(1);
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  test.each(PAGES)("%s fits a phone", async (name) => {
    const { page } = await open(name, { width: 375 });
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(375);
    await page.context().close();
  });

  test.each(PAGES)("%s has no serious finding of axe, light and wide or dark and narrow", async (name) => {
    for (const look of [{ colorScheme: "light" }, { colorScheme: "dark", width: 375 }] as const) {
      const { page } = await open(name, look);
      expect(await seriousFindings(page)).toEqual([]);
      await page.context().close();
    }
  });

  test("a column sorts by its figures", async () => {
    const { page } = await open("compare.html");
    const table = page.locator("#group2-throughput");
    const column = 5;
    const figures = async () => {
      const texts = await table.locator(`tbody td:nth-child(${column})`).allInnerTexts();
      return texts.filter((text) => text !== "–").map((text) => Number(text.replace(/\D/g, "")));
    };
    await table.locator(`thead th:nth-child(${column}) button`).click();
    const once = await figures();
    expect(once.length).toBeGreaterThan(1);
    const ascending = [...once].sort((a, b) => a - b);
    expect([ascending, [...ascending].reverse()]).toContainEqual(once);
    await page.context().close();
  });

  test("a history is drawn with its versions and its change", async () => {
    const { page } = await open("trends.html");
    const figure = page.locator("figure", { has: page.locator("h3", { hasText: /^iovalkey/ }) }).first();
    expect(await figure.locator("svg circle").count()).toBe(11);
    expect(await figure.locator("svg .mark").count()).toBe(1);
    expect(await figure.locator("svg circle.step").count()).toBe(1);
    expect(await figure.locator(".change").textContent()).toContain(
      "20260107_000000: level from 6,040 to 5,440 requests/s",
    );
    await page.context().close();
  });

  test("the index leads to a campaign's own report", async () => {
    const { page } = await open("index.html");
    await page.locator("a", { hasText: "20260101_000000" }).click();
    await page.waitForURL(/20260101_000000\/report\/index\.html$/);
    expect(await page.locator("h1").count()).toBe(1);
    await page.context().close();
  });
});
