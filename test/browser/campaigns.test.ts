import { describe, expect, test } from "vitest";
import { needs } from "../helpers/needs.js";
import { expectSound, LOOKS, open as openPage } from "./page.js";

const PAGES = ["index.html", "compare.html", "trends.html"];

describe("the pages over several campaigns in a browser", needs(["chromium"]), () => {
  const open = (name: string) => openPage(`campaigns/report/${name}`);

  test.each(PAGES)(
    "%s asks for nothing, fits a phone, and has no serious finding of axe",
    async (name) => {
      const { page, complaints } = await open(name);
      expect(await page.locator("h1").count()).toBe(1);
      for (const { width, colorScheme } of LOOKS) {
        await page.setViewportSize({ width, height: 900 });
        await page.emulateMedia({ colorScheme });
        await expectSound(page, complaints);
      }
    },
  );

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
  });

  test("a history is drawn with its versions and its change", async () => {
    const { page } = await open("trends.html");
    const figure = page
      .locator("figure", { has: page.locator("h3", { hasText: /^iovalkey/ }) })
      .first();
    expect(await figure.locator("svg circle").count()).toBe(11);
    expect(await figure.locator("svg .mark").count()).toBe(1);
    expect(await figure.locator("svg circle.step").count()).toBe(1);
    expect(await figure.locator(".change").textContent()).toContain(
      "20260107_000000: level from 6,040 to 5,440 requests/s",
    );
  });

  test("the index leads to a campaign's own report", async () => {
    const { page } = await open("index.html");
    await page.locator("a", { hasText: "20260101_000000" }).click();
    await page.waitForURL(/20260101_000000\/report\/index\.html$/);
    expect(await page.locator("h1").count()).toBe(1);
  });

  test("the matrix sorts, filters, and keeps the view in its address; without scripts it is a table", async () => {
    const matrix = "site/campaigns.html";
    const { page, complaints } = await openPage(matrix);
    const rows = page.locator("#matrix-rows tbody tr:visible");
    const targets = () => rows.locator("th").allInnerTexts();
    const all = await targets();
    await page.locator("select[name=client]").selectOption("ioredis");
    const chosen = await targets();
    expect(chosen.length).toBeGreaterThan(1);
    expect(chosen).toEqual(all.filter((target) => /^ioredis(?!\w)/.test(target)));
    await page.locator("#matrix-rows thead th:nth-child(4) button").click();
    const sorted = await rows
      .locator("td:nth-child(4)")
      .evaluateAll((cells) =>
        cells.flatMap((cell) => (cell.dataset.sort ? [Number(cell.dataset.sort)] : [])),
      );
    const ascending = [...sorted].sort((a, b) => a - b);
    expect([ascending, [...ascending].reverse()]).toContainEqual(sorted);
    expect(complaints).toEqual([]);
    const again = await openPage(matrix, {}, new URL(page.url()).search);
    expect(await again.page.locator("#matrix-rows tbody tr:visible th").allInnerTexts()).toEqual(
      chosen,
    );
    const plain = await openPage(matrix, { javaScriptEnabled: false });
    expect(
      await plain.page.locator("#matrix-rows tbody tr:visible").count(),
    ).toBeGreaterThanOrEqual(all.length);
  });
});
