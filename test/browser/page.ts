import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type Browser, chromium } from "playwright-core";
import { afterAll, inject, onTestFinished } from "vitest";
import { type Look, openPage } from "./chromium.js";

export interface Opening extends Look {
  /** What follows the page's path, e.g. `?client=iovalkey`. */
  address?: string;
  /** As a reader meets it; by default all of it is unfolded. */
  folded?: boolean;
}

let browser: Browser | undefined;
const connected = async () => (browser ??= await chromium.connect(inject("browser")));
afterAll(() => browser?.close());

/** Opens a page that `write_pages.py` made until the test ends, and collects whatever it should not do. */
export async function open(path: string, look: Look = {}, address = "") {
  const url = pathToFileURL(join(inject("pages"), path)).href + address;
  const opened = await openPage(await connected(), url, look);
  onTestFinished(() => opened.page.context().close());
  return opened;
}

/** Opens the report of a campaign. */
export async function openReport(name: string, { address, folded = false, ...look }: Opening = {}) {
  const opened = await open(`${name}/report/index.html`, look, address);
  await opened.page.waitForSelector("html[data-ready]");
  if (!folded)
    await opened.page.evaluate("for (const part of document.querySelectorAll('details')) part.open = true");
  return opened;
}
