import { describe, expect, test } from "vitest";
import { needs } from "../helpers/needs.js";
import { drawn, expectSoundInLight, LOOKS, type Opening, openReport } from "./page.js";

describe("the report of a campaign with faults", needs(["chromium"]), () => {
  const open = (opening?: Opening) => openReport("faults", opening);

  test.each(LOOKS)("draws one strip a target, and fits $width px", async (look) => {
    const { page, complaints } = await open(look);
    for (const id of ["fault1", "fault2"]) {
      const chart = await drawn(page, id);
      // Admitted, limited, failed and p99, each with a line or an area.
      expect(await chart.locator(".scatterlayer .trace").count()).toBe(3 * 4);
      expect(await chart.locator(".shapelayer path").count()).toBeGreaterThanOrEqual(3);
    }
    await expectSoundInLight(page, complaints, look);
  });
});
