import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { needs } from "../helpers/needs.js";
import { type Look, launch, openPage, python, root, seriousFindings } from "./chromium.js";

/** A report with charts takes a while on a busy machine. */
const LOADED = { waitUntil: "domcontentloaded", timeout: 120_000 } as const;

describe("the page above all campaigns in a browser", needs(["chromium"]), () => {
  // A space and a number sign: the site must not care where it lies.
  const folder = mkdtempSync(join(tmpdir(), "ratelimit-bench site #"));
  const address = pathToFileURL(join(folder, "site/index.html")).href;
  let browser: Browser;

  beforeAll(async () => {
    execFileSync(python, [join(root, "test/report/write_site.py"), join(folder, "results")]);
    execFileSync("python3", [join(root, "report"), "site", join(folder, "site"), join(folder, "results")]);
    browser = await launch();
  });

  afterAll(async () => {
    await browser?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const open = (asked = "", look: Look = {}) => openPage(browser, address + asked, look);

  const CLAIMS = "results/claims/report/index.html";
  test.each([
    { name: "it", path: "index.html", width: 1280, colorScheme: "light" },
    { name: "it", path: "index.html", width: 375, colorScheme: "dark" },
    { name: "its page of claims", path: CLAIMS, width: 1280, colorScheme: "dark" },
    { name: "its page of claims", path: CLAIMS, width: 375, colorScheme: "light" },
  ] as const)(
    "$name asks for nothing, fits $width px, and has no serious finding of axe",
    async ({ path, ...look }) => {
      const { page, complaints } = await openPage(browser, new URL(path, address).href, look);
      expect(await page.locator("h1").count()).toBe(1);
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(look.width);
      expect(await seriousFindings(page)).toEqual([]);
      expect(complaints).toEqual([]);
      await page.context().close();
    },
  );

  test("the answers come first: on a phone the first one is on the first screen", async () => {
    const { page } = await open("", { width: 375 });
    const box = await page.locator("#answer-cpu h3").boundingBox();
    expect(box?.y).toBeLessThan(900);
    const first = await page.locator("main h3").first().textContent();
    expect(first).toBe("Which costs least CPU per decision?");
    await page.context().close();
  });

  test("a filter leaves the rows that it names, and the address brings it back", async () => {
    const { page } = await open();
    const rows = () => page.locator("#table-targets tbody tr:visible");
    const all = await rows().count();
    await page.locator("select[name=client]").selectOption("valkey-glide");
    expect(await rows().count()).toBeLessThan(all);
    for (const name of await rows().locator("th").allInnerTexts()) expect(name).toContain("valkey-glide");
    // A family is about several clients; what is about none stays.
    expect(await page.locator("#table-p99 tbody tr:visible").count()).toBe(2);
    expect(await page.locator("#campaigns tbody tr:visible").count()).toBeGreaterThan(5);
    expect(await page.locator("[data-when=filtered]").isVisible()).toBe(true);
    const shown = await page.locator("form.filters output").textContent();
    expect(new URL(page.url()).search).toBe("?client=valkey-glide");

    const again = await open(new URL(page.url()).search);
    expect(await again.page.locator("form.filters output").textContent()).toBe(shown);
    await again.page.locator("[data-reset]").click();
    expect(await again.page.locator("#table-targets tbody tr:visible").count()).toBe(all);
    await page.context().close();
    await again.page.context().close();
  });

  test("leads to a campaign's own page with the client that was clicked, and to a run", async () => {
    const { page } = await open();
    await page.locator("#table-targets a", { hasText: "valkey-glide" }).first().click();
    await page.waitForURL(/20260102_000000\/report\/index\.html\?client=valkey-glide$/, LOADED);
    expect(await page.locator("input[name=client]:checked").inputValue()).toBe("valkey-glide");
    await page.goBack(LOADED);
    const runs = page.locator("#table-targets .run-list").first();
    await runs.locator("summary").click();
    await runs.locator("a").first().click();
    await page.waitForURL(/_run1\.json$/, LOADED);
    await page.context().close();
  });

  test("a reader of feeds finds the feed", async () => {
    const { page } = await open();
    const link = page.locator("link[rel=alternate][type='application/atom+xml']");
    expect(await link.getAttribute("href")).toBe("feed.xml");
    await page.context().close();
  });
});
