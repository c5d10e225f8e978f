import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, expect, inject, onTestFinished } from "vitest";
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

/** Opens a page that `write_pages.py` made, and collects whatever it should not do. */
async function openUntilClosed(path: string, look: Look, address: string) {
  const url = pathToFileURL(join(inject("pages"), path)).href + address;
  return openPage(await connected(), url, look);
}

/** Opens a page until the test ends. */
export async function open(path: string, look: Look = {}, address = "") {
  const opened = await openUntilClosed(path, look, address);
  onTestFinished(() => opened.page.context().close());
  return opened;
}

/** A wide screen in light and a phone in dark. */
export const LOOKS = [
  { colorScheme: "light", width: 1280 },
  { colorScheme: "dark", width: 375 },
] as const;

/** It fits its window, and did nothing that it should not. */
export async function expectFits(page: Page, complaints: string[]) {
  expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
  expect(complaints).toEqual([]);
}

/** It also has no serious finding of axe. */
export async function expectSound(page: Page, complaints: string[]) {
  expect(await seriousFindings(page)).toEqual([]);
  await expectFits(page, complaints);
}

/**
 * For a page with few kinds of parts of its own: axe takes seconds, and the colours of both looks
 * are those of the report.
 */
export const expectSoundInLight = (page: Page, complaints: string[], { colorScheme }: Look) =>
  colorScheme === "light" ? expectSound(page, complaints) : expectFits(page, complaints);

/** A chart is drawn once it comes near the window. */
export async function drawn(page: Page, id: string) {
  const chart = page.locator(`#chart-${id}`);
  await chart.scrollIntoViewIfNeeded();
  await page.waitForSelector(`#chart-${id}[data-drawn]`);
  return chart;
}

async function waitUntilReady(page: Page, folded: boolean) {
  await page.waitForSelector("html[data-ready]");
  if (!folded)
    await page.evaluate(
      "for (const part of document.querySelectorAll('details')) part.open = true",
    );
}

const reportPath = (name: string) => `${name}/report/index.html`;

/** Opens the report of a campaign until the test ends. */
export async function openReport(name: string, { address, folded = false, ...look }: Opening = {}) {
  const opened = await open(reportPath(name), look, address);
  await waitUntilReady(opened.page, folded);
  return opened;
}

/**
 * One page of a report for the tests of a suite, which run one after the other: to open it takes
 * longer than most of them. A test leaves the filters as it found them.
 */
export function sharedReport(name: string, { folded = false, ...look }: Opening = {}) {
  let opened: Awaited<ReturnType<typeof openUntilClosed>>;
  beforeAll(async () => {
    opened = await openUntilClosed(reportPath(name), look, "");
    await waitUntilReady(opened.page, folded);
  });
  afterAll(() => opened?.page.context().close());
  return () => opened;
}

/** Takes all filters back. */
export const showAll = (page: Page) =>
  page.getByRole("button", { name: "Show all", exact: true }).click();
