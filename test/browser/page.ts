import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type Browser, chromium } from "playwright-core";
import { afterAll, inject } from "vitest";
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

/** Opens a page that `write_pages.py` made, and collects whatever it should not do. */
export const open = async (path: string, look: Look = {}, address = "") =>
  openPage(await connected(), pathToFileURL(join(inject("pages"), path)).href + address, look);

/** Opens the report of a campaign. */
export async function openReport(name: string, { address, folded = false, ...look }: Opening = {}) {
  const opened = await open(`${name}/report/index.html`, look, address);
  await opened.page.waitForSelector("html[data-ready]");
  if (!folded)
    await opened.page.evaluate("for (const part of document.querySelectorAll('details')) part.open = true");
  return opened;
}
