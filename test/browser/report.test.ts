import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { needs } from "../helpers/needs.js";
import {
  drawn,
  expectSound,
  LOOKS,
  type Opening,
  openReport,
  sharedReport,
  showAll,
} from "./page.js";

const charts = "throughput latency percentiles tradeoff ceiling cpu memory limited series".split(
  " ",
);

describe("the report in a browser", needs(["chromium"]), () => {
  const open = (opening?: Opening) => openReport("report", opening);
  const sharedPage = sharedReport("report");

  const shownRows = (page: Page, table: string) =>
    page.locator(`${table} tbody tr[data-row]:visible th`).allInnerTexts();

  const bars = async (page: Page) =>
    (await drawn(page, "throughput")).locator(".bars .point").count();
  const client = (page: Page, name: string) => page.locator(`.chip input[value="${name}"]`);

  test.each(LOOKS)(
    "draws every chart, without a complaint of page or axe, at $width px",
    async (look) => {
      const { page, complaints } = await open(look);
      expect(await page.locator(".chart").count()).toBe(charts.length);
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(look.width);
      for (const id of charts)
        expect(await (await drawn(page, id)).locator(".trace").count(), id).toBeGreaterThan(0);
      await expectSound(page, complaints);
    },
  );

  test("draws a chart only when it comes near", async () => {
    const { page } = sharedPage();
    expect(await page.locator("#chart-series[data-drawn]").count()).toBe(0);
    await drawn(page, "series");
  });

  test("draws every run of a row", async () => {
    const { page } = sharedPage();
    const runs = (await drawn(page, "throughput")).locator(".scatterlayer path.point");
    // 21 rows of three runs, and the suspect and the invalid run of ioredis:cluster.
    expect(await runs.count()).toBe(65);
  });

  test("filters tables, rankings and charts together", async () => {
    const { page, complaints } = sharedPage();
    expect(await bars(page)).toBe(22);
    await client(page, "iovalkey").check();
    await expect.poll(() => bars(page)).toBe(6);
    expect(await shownRows(page, "#table1")).toEqual([
      "iovalkey+autopipelining+same-script",
      "iovalkey+same-script",
      "iovalkey",
      "iovalkey",
    ]);
    await page.getByLabel("Topology").selectOption("cluster");
    await page.getByLabel("Workload").selectOption("light");
    await expect.poll(() => bars(page)).toBe(1);
    expect(await page.locator("#table1").isVisible()).toBe(false);
    expect(await shownRows(page, "#table2")).toEqual(["iovalkey"]);
    expect(await page.locator(".answer:visible").count()).toBe(1);
    expect(await page.locator(".decision tbody tr[data-row]:visible").allInnerTexts()).toHaveLength(
      1,
    );
    expect(await page.locator(".filters output").textContent()).toBe("1 of 23 configurations");
    await showAll(page);
    await expect.poll(() => bars(page)).toBe(22);
    expect(await page.locator("#table1").isVisible()).toBe(true);
    expect(complaints).toEqual([]);
  });

  test("keeps the filters in its address, and takes them from there", async () => {
    const { page } = await open();
    await client(page, "iovalkey").check();
    await client(page, "ioredis").check();
    await page.getByLabel("Topology").selectOption("cluster");
    const address = new URL(page.url()).search;
    expect(address).toBe("?client=ioredis&client=iovalkey&topology=cluster");
    const rows = await shownRows(page, "#table2");
    expect(new Set(rows)).toEqual(new Set(["ioredis", "iovalkey"]));
    const again = await open({ address });
    expect(await again.page.locator(".chip input:checked").count()).toBe(2);
    expect(await again.page.getByLabel("Topology").inputValue()).toBe("cluster");
    expect(await shownRows(again.page, "#table2")).toEqual(rows);
    await showAll(again.page);
    expect(new URL(again.page.url()).search).toBe("");
    expect(again.complaints).toEqual([]);
  });

  test("ignores what it does not know in its address", async () => {
    const { page, complaints } = await open({
      address: "?client=%3Cimg%20src=x%3E&topology=ring&foo=1",
    });
    expect(await page.locator(".filters output").textContent()).toBe("23 of 23 configurations");
    expect(await page.locator("img").count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  test("filters the table that tells client and script apart", async () => {
    const { page, complaints } = sharedPage();
    const apart = page.locator("#apart table");
    expect(await apart.count()).toBe(1);
    expect(await apart.locator("tbody tr:visible").count()).toBe(5);
    await client(page, "valkey-glide").check();
    expect(await apart.locator("tbody tr:visible th").allInnerTexts()).toEqual([
      "valkey-glide only 3 runs",
    ]);
    await page.getByLabel("Topology").selectOption("cluster");
    expect(await apart.isVisible()).toBe(false);
    expect(complaints).toEqual([]);
    await showAll(page);
  });

  test("keeps the controls beside every topology", async () => {
    const { page } = sharedPage();
    await page.getByLabel("Topology").selectOption("cluster");
    expect(await page.locator("#table-controls tbody tr:visible").count()).toBe(4);
    await expect.poll(() => bars(page)).toBe(9);
    await showAll(page);
  });

  test("copes with a filter that leaves nothing to draw", async () => {
    const { page, complaints } = await open({
      address: "?client=ioredis&topology=cluster&workload=heavy+%281000+rounds%29",
    });
    expect(await page.locator(".filters output").textContent()).toBe("1 of 23 configurations");
    await page.locator("#throughput-title").scrollIntoViewIfNeeded();
    await expect
      .poll(() => page.locator("#throughput .chart-note:visible").first().textContent())
      .toContain("Nothing to draw");
    expect(await page.locator("#chart-throughput").isVisible()).toBe(false);
    expect(await page.locator("#table2 td.no-figures:visible").textContent()).toContain(
      "no run counts",
    );
    expect(complaints).toEqual([]);
  });

  test("draws one store, topology and load at a time where lines cross", async () => {
    const { page } = sharedPage();
    const chart = await drawn(page, "percentiles");
    const views = page.locator("figure", { has: chart }).locator(".view select");
    const offered = await views.locator("option").allInnerTexts();
    expect(offered).toContain("Standalone · light · on valkey");
    expect(offered).toContain("Standalone · light · on redis");
    await views.selectOption("Standalone · light · on redis");
    // ioredis, and the two controls under the same load.
    await expect.poll(() => chart.locator(".scatterlayer .trace").count()).toBe(3);
  });

  test("follows a change to dark, charts too", async () => {
    const { page, complaints } = await open();
    // The button is at the top of the page: a chart is drawn anew once it is near again.
    const ink = async () => {
      await drawn(page, "throughput");
      return page.evaluate(
        "getComputedStyle(document.querySelector('#chart-throughput .ytick text')).fill",
      );
    };
    const background = () => page.evaluate("getComputedStyle(document.body).backgroundColor");
    const light = [await ink(), await background()];
    await page.emulateMedia({ colorScheme: "dark" });
    await expect.poll(ink).not.toBe(light[0]);
    expect(await background()).not.toBe(light[1]);
    const toggle = page.getByRole("button", { name: /^Theme/ });
    await toggle.click();
    expect(await toggle.textContent()).toBe("Theme: light");
    await expect.poll(ink).toBe(light[0]);
    expect(await background()).toBe(light[1]);
    await page.reload();
    expect(await background()).toBe(light[1]);
    expect(complaints).toEqual([]);
  });

  test("prints in light, every chart drawn and every fold open", async () => {
    const { page, complaints } = await open({ colorScheme: "dark", folded: true });
    await page.evaluate("dispatchEvent(new Event('beforeprint'))");
    expect(await page.locator(".chart[data-drawn]").count()).toBe(charts.length);
    expect(await page.locator("details:not([open])").count()).toBe(0);
    const ink = "getComputedStyle(document.querySelector('#chart-throughput .ytick text')).fill";
    expect(await page.evaluate(ink)).toBe("rgb(28, 30, 33)");
    await page.evaluate("dispatchEvent(new Event('afterprint'))");
    await expect.poll(() => page.locator("details:not([open])").count()).toBeGreaterThan(0);
    expect((await page.pdf({ format: "A4" })).length).toBeGreaterThan(50_000);
    expect(complaints).toEqual([]);
  });
});
