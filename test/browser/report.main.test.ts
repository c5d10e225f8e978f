import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { needs } from "../helpers/needs.js";
import { ReportPage } from "./page.js";

describe("the report in a browser", needs(["chromium"]), () => {
  const report = new ReportPage();
  beforeAll(() => report.start("write_fixture.py"));
  afterAll(() => report.stop());

  test("draws every chart, without a complaint and without the network", async () => {
    const { page, complaints } = await report.open();
    const charts = await page.locator(".chart").all();
    expect(charts).toHaveLength(10);
    for (const chart of charts) {
      await chart.scrollIntoViewIfNeeded();
      await expect.poll(() => chart.locator(".trace").count()).toBeGreaterThan(0);
    }
    expect(complaints).toEqual([]);
    await page.context().close();
  });
});
