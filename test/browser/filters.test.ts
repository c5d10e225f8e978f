import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { executablePath } from "./chromium.js";
import { ReportPage } from "./page.js";

describe.skipIf(!executablePath)("what the filters leave of the report", () => {
  const report = new ReportPage();
  beforeAll(() => report.start("write_fixture.py"));
  afterAll(() => report.stop());

  /** Sentences, rows and headings that a reader sees and that name one of `words`. */
  const naming = (page: Page, words: string[]) =>
    page.evaluate(
      ([form, names]) => {
        const walker = document.createTreeWalker(document.querySelector("main") ?? document.body, NodeFilter.SHOW_TEXT);
        const found: string[] = [];
        while (walker.nextNode()) {
          const text = walker.currentNode.textContent ?? "";
          const parent = walker.currentNode.parentElement;
          if (!parent?.checkVisibility() || parent.closest(form as string)) continue;
          if ((names as string[]).some((name) => text.includes(name))) found.push(text.trim());
        }
        return found;
      },
      // The form offers every value. The command and the explanation of the method are of the campaign.
      ["form.filters, #method, #environment dl", words] as const,
    );

  test("nothing names a client that is filtered away", async () => {
    const { page } = await report.open();
    const others = ["valkey-glide", "node-redis", "ioredis"];
    expect((await naming(page, others)).length).toBeGreaterThan(20);
    await page.locator('.chip input[value="iovalkey"]').check();
    expect(await naming(page, others)).toEqual([]);
    await page.getByRole("button", { name: "Show all" }).click();
    expect((await naming(page, others)).length).toBeGreaterThan(20);
    await page.context().close();
  });

  test("what is said of all configurations goes with a filter, and the page says why", async () => {
    const { page } = await report.open();
    const headline = page.locator("#answer .headline");
    const notice = page.locator("[data-when=filtered]", { hasText: "Ranks and verdicts" });
    expect(await headline.isVisible()).toBe(true);
    expect(await notice.isVisible()).toBe(false);
    await page.locator('.chip input[value="iovalkey"]').check();
    expect(await headline.isVisible()).toBe(false);
    expect(await notice.isVisible()).toBe(true);
    await page.locator('.chip input[value="iovalkey"]').uncheck();
    expect(await headline.isVisible()).toBe(true);
    expect(await notice.isVisible()).toBe(false);
    await page.context().close();
  });

  test("numbers in headings follow", async () => {
    const { page } = await report.open();
    const hint = (section: string) => page.locator(`#${section} > details > summary .hint`).textContent();
    expect([await hint("tables"), await hint("runs"), await hint("problems")]).toEqual([
      "23 configurations",
      "68",
      "4",
    ]);
    await page.getByLabel("Topology").selectOption("cluster");
    await page.locator('.chip input[value="iovalkey"]').check();
    expect([await hint("tables"), await hint("runs"), await hint("problems")]).toEqual([
      "2 of 23 configurations",
      "6 of 68",
      "0 of 4",
    ]);
    expect(await page.locator("#problems p", { hasText: "Suspect runs" }).isVisible()).toBe(false);
    await page.context().close();
  });
});
