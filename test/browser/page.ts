import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, expect, inject, onTestFinished } from "vitest";
import { type Look, openPage, seriousFindings } from "./chromium.js";

export interface Opening extends Look {
  /** What follows the page's path, e.g. `?client=iovalkey`. */
  address?: string;
  /** As a reader meets it; by default all of it is unfolded. */
  folded?: boolean;
}

let browser: Browser | undefined;
const connected = async () => (browser ??= await chromium.connect(inject("browser")));
afterAll(() => browser?.close());

/**
 * Opens a page that `write_pages.py` made until the test ends, and collects whatever it should not
 * do.
 */
export async function open(path: string, look: Look = {}, address = "") {
  const url = pathToFileURL(join(inject("pages"), path)).href + address;
  const opened = await openPage(await connected(), url, look);
  onTestFinished(() => opened.page.context().close());
  return opened;
}

/** A wide screen in light and a phone in dark. */
export const LOOKS = [
  { colorScheme: "light", width: 1280 },
  { colorScheme: "dark", width: 375 },
] as const;

/** It fits its window, has no serious finding of axe, and did nothing that it should not. */
export async function expectSound(page: Page, complaints: string[]) {
  expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
  expect(await seriousFindings(page)).toEqual([]);
  expect(complaints).toEqual([]);
}

/** A chart is drawn once it comes near the window. */
export async function drawn(page: Page, id: string) {
  const chart = page.locator(`#chart-${id}`);
  await chart.scrollIntoViewIfNeeded();
  await page.waitForSelector(`#chart-${id}[data-drawn]`);
  return chart;
}

/** Opens the report of a campaign. */
export async function openReport(name: string, { address, folded = false, ...look }: Opening = {}) {
  const opened = await open(`${name}/report/index.html`, look, address);
  await opened.page.waitForSelector("html[data-ready]");
  if (!folded)
    await opened.page.evaluate(
      "for (const part of document.querySelectorAll('details')) part.open = true",
    );
  return opened;
}
