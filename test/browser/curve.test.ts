import { describe, expect, test } from "vitest";
import { needs } from "../helpers/needs.js";
import { drawn, expectSoundInLight, LOOKS, open, openReport } from "./page.js";

const CHARTS = ["cores", "store-cores", "curve"];

describe("the page of a load curve", needs(["chromium"]), () => {
  test.each(LOOKS)("draws a line for each target and fits at $width px", async (look) => {
    const { page, complaints } = await openReport("curve", look);
    for (const id of CHARTS) {
      const chart = await drawn(page, id);
      expect(await chart.locator(".scatterlayer .trace").count()).toBeGreaterThanOrEqual(4);
    }
    await expectSoundInLight(page, complaints, look);
  });

  test("has pictures without scripts that fit", async () => {
    const plain = { javaScriptEnabled: false };
    const { page, complaints } = await open("curve/report/index.html", plain);
    const pictures = page.locator("#load-curve svg.picture");
    expect(await pictures.count()).toBe(CHARTS.length);
    for (const { width } of LOOKS) {
      await page.setViewportSize({ width, height: 900 });
      for (const picture of await pictures.all()) {
        const box = await picture.boundingBox();
        expect(box?.height).toBeGreaterThan(100);
        expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(width);
      }
    }
    expect(complaints).toEqual([]);
  });
});
