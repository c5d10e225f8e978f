import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const root = fileURLToPath(new URL("../../", import.meta.url));
const venv = join(root, ".venv/bin/python");
const python = existsSync(venv) ? venv : "python3";
const executablePath = [
  process.env.CHROMIUM,
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
].find((path) => path && existsSync(path));
const charts = ["throughput", "latency", "cpu", "memory", "limited", "series"];

if (!executablePath) {
  const message = "no Chromium was found: set CHROMIUM to its path";
  if (process.env.CI) throw new Error(message);
  process.stderr.write(`test/browser/report.test.ts is skipped: ${message}\n`);
}

describe.skipIf(!executablePath)("the report in a browser", () => {
  // A space and a number sign: the page must not care where it lies.
  const folder = mkdtempSync(join(tmpdir(), "ratelimit-bench report #"));
  const url = pathToFileURL(join(folder, "report/index.html")).href;
  let browser: Browser;

  beforeAll(async () => {
    execFileSync(python, [join(root, "test/report/write_fixture.py"), folder]);
    const out = execFileSync("python3", [join(root, "scripts/generate_report.py"), folder], {
      encoding: "utf8",
    });
    expect(out.trim().split("\n").at(-1)).toMatch(/report\/index\.html$/);
    browser = await chromium.launch({
      executablePath: executablePath ?? "",
      args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"],
    });
  });

  afterAll(async () => {
    await browser?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Opens the page and collects whatever it should not do. */
  async function open(width = 1280, colorScheme: "light" | "dark" = "light") {
    const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme });
    const complaints: string[] = [];
    page.on("console", (message) => complaints.push(`${message.type()}: ${message.text()}`));
    page.on("pageerror", (error) => complaints.push(`error: ${error.message}`));
    page.on("request", (request) => {
      if (request.url() !== url && !request.url().startsWith("data:")) complaints.push(request.url());
    });
    await page.addInitScript({
      content: `document.addEventListener("securitypolicyviolation", (event) =>
        console.error("policy:", event.violatedDirective, event.blockedURI));`,
    });
    await page.goto(url);
    await page.waitForSelector("html[data-ready]");
    return { page, complaints };
  }

  const shownRows = (page: Page, table: string) =>
    page.locator(`${table} tbody tr[data-row]:visible th`).allInnerTexts();
  const bars = (page: Page) => page.locator("#chart-throughput .bars .point").count();

  test("draws every chart, without a complaint and without the network", async () => {
    const { page, complaints } = await open();
    for (const id of charts) {
      expect(await page.locator(`#chart-${id} svg.main-svg`).count(), id).toBeGreaterThan(0);
      expect(await page.locator(`#chart-${id} .trace`).count(), id).toBeGreaterThan(0);
    }
    expect(complaints).toEqual([]);
    await page.close();
  });

  test("draws every run of a row", async () => {
    const { page } = await open();
    const runs = await page.locator("#chart-throughput .scatterlayer path.point").count();
    // 21 rows of three runs, and the suspect and the invalid run of ioredis:cluster.
    expect(runs).toBe(65);
    await page.close();
  });

  test("filters tables, rankings and charts together", async () => {
    const { page, complaints } = await open();
    expect(await bars(page)).toBe(22);
    await page.getByLabel("Client").selectOption("iovalkey");
    expect(await bars(page)).toBe(6);
    expect(await shownRows(page, "#table1")).toEqual([
      "iovalkey+autopipelining+same-script",
      "iovalkey+same-script",
      "iovalkey",
      "iovalkey",
    ]);
    await page.getByLabel("Topology").selectOption("cluster");
    await page.getByLabel("Workload").selectOption("light");
    expect(await bars(page)).toBe(1);
    expect(await page.locator("#table1").isVisible()).toBe(false);
    expect(await shownRows(page, "#table2")).toEqual(["iovalkey"]);
    expect(await page.locator(".answer:visible").count()).toBe(1);
    expect(await page.locator("output.shown").textContent()).toBe("1 of 23 configurations");
    for (const name of ["Client", "Topology", "Workload"]) await page.getByLabel(name).selectOption("");
    expect(await bars(page)).toBe(22);
    expect(await page.locator("#table1").isVisible()).toBe(true);
    expect(complaints).toEqual([]);
    await page.close();
  });

  test("filters the table that tells client and script apart", async () => {
    const { page, complaints } = await open();
    const apart = page.locator(".apart");
    expect(await apart.count()).toBe(1);
    expect(await apart.locator("tbody tr:visible").count()).toBe(5);
    await page.getByLabel("Client").selectOption("valkey-glide");
    expect(await apart.locator("tbody tr:visible th").allInnerTexts()).toEqual([
      "valkey-glide\nindicative, 3 runs",
    ]);
    await page.getByLabel("Topology").selectOption("cluster");
    expect(await apart.isVisible()).toBe(false);
    expect(complaints).toEqual([]);
    await page.close();
  });

  test("keeps the controls beside every topology", async () => {
    const { page } = await open();
    await page.getByLabel("Topology").selectOption("cluster");
    expect(await page.locator("#table-controls tbody tr:visible").count()).toBe(4);
    expect(await bars(page)).toBe(9);
    await page.close();
  });

  test("copes with a filter that leaves nothing to draw", async () => {
    const { page, complaints } = await open();
    await page.getByLabel("Client").selectOption("ioredis");
    await page.getByLabel("Topology").selectOption("cluster");
    await page.getByLabel("Workload").selectOption("heavy");
    expect(await bars(page)).toBe(0);
    expect(await page.locator("output.shown").textContent()).toBe("1 of 23 configurations");
    expect(await page.locator("#table2 td.hole:visible").textContent()).toContain("no valid run");
    expect(complaints).toEqual([]);
    await page.close();
  });

  test("follows a change to dark, charts too", async () => {
    const { page, complaints } = await open();
    const ink = () =>
      page.evaluate("getComputedStyle(document.querySelector('#chart-throughput .ytick text')).fill");
    const background = () => page.evaluate("getComputedStyle(document.body).backgroundColor");
    const light = [await ink(), await background()];
    await page.emulateMedia({ colorScheme: "dark" });
    await expect.poll(ink).not.toBe(light[0]);
    expect(await background()).not.toBe(light[1]);
    expect(complaints).toEqual([]);
    await page.close();
  });

  test("fits a phone", async () => {
    const { page, complaints } = await open(375, "dark");
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(375);
    expect(complaints).toEqual([]);
    await page.close();
  });
});
