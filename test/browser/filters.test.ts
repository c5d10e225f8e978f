import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { needs } from "../helpers/needs.js";
import { sharedReport, showAll } from "./page.js";

describe("what the filters leave of the report", needs(["chromium"]), () => {
  const sharedPage = sharedReport("report");

  /**
   * What a reader sees that names one of `words`. The form offers every value; the command and the
   * explanation of the method are about the whole campaign. A chart far from the window is drawn
   * anew once it comes near.
   */
  const naming = (page: Page, words: string[]) =>
    page.evaluate(`{
      const walker = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
      const found = [];
      while (walker.nextNode()) {
        const { textContent, parentElement } = walker.currentNode;
        if (!parentElement.checkVisibility() || parentElement.closest("form, select, .chart, #method, #environment dl")) continue;
        if (${JSON.stringify(words)}.some((word) => textContent.includes(word))) found.push(textContent.trim());
      }
      found;
    }`) as Promise<string[]>;

  test("nothing names a client that is filtered away", async () => {
    const { page } = sharedPage();
    const others = ["valkey-glide", "node-redis", "ioredis"];
    expect((await naming(page, others)).length).toBeGreaterThan(20);
    await page.locator('.chip input[value="iovalkey"]').check();
    expect(await naming(page, others)).toEqual([]);
    await showAll(page);
    expect((await naming(page, others)).length).toBeGreaterThan(20);
  });

  test("what is said of all configurations goes with a filter, and the page says why", async () => {
    const { page } = sharedPage();
    const headline = page.locator("#answer .headline");
    const notice = page.locator("[data-when=filtered]", { hasText: "Ratios and conclusions" });
    expect(await headline.isVisible()).toBe(true);
    expect(await notice.isVisible()).toBe(false);
    await page.locator('.chip input[value="iovalkey"]').check();
    expect(await headline.isVisible()).toBe(false);
    expect(await notice.isVisible()).toBe(true);
    await page.locator('.chip input[value="iovalkey"]').uncheck();
    expect(await headline.isVisible()).toBe(true);
    expect(await notice.isVisible()).toBe(false);
  });

  test("numbers in headings follow", async () => {
    const { page } = sharedPage();
    const hint = (section: string) =>
      page.locator(`#${section} > details > summary [data-count]`).textContent();
    expect([await hint("tables"), await hint("runs"), await hint("problems")]).toEqual([
      "23",
      "69",
      "5",
    ]);
    await page.getByLabel("Topology").selectOption("cluster");
    await page.locator('.chip input[value="iovalkey"]').check();
    expect([await hint("tables"), await hint("runs"), await hint("problems")]).toEqual([
      "2 of 23",
      "6 of 69",
      "0 of 5",
    ]);
    expect(await page.locator("#problems li", { hasText: "suspect run" }).isVisible()).toBe(false);
  });
});
