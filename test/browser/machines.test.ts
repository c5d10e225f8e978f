import { describe, expect, test } from "vitest";
import { needs } from "../helpers/needs.js";
import { expectSound, type Opening, openReport } from "./page.js";

describe("the picture of several machines", needs(["chromium"]), () => {
  const open = (opening?: Opening) => openReport("machines", opening);

  test.each([
    { width: 1280, colorScheme: "light", direction: "row" },
    { width: 375, colorScheme: "dark", direction: "column" },
  ] as const)("goes the way of requests at $width px and fits", async ({ direction, ...look }) => {
    const { page, complaints } = await open(look);
    const boxes = page.locator("#machines .machine, #machines .link");
    expect(await boxes.count()).toBe(5);
    const places = await Promise.all(
      Array.from({ length: 5 }, (_, index) => boxes.nth(index).boundingBox()),
    );
    const along = places.map((place) => (direction === "row" ? place?.x : place?.y) ?? Number.NaN);
    const ends = places.map((place) => {
      if (!place) return Number.NaN;
      return direction === "row" ? place.x + place.width : place.y + place.height;
    });
    // Each begins where the one before it has ended: nothing covers anything.
    for (let index = 1; index < 5; index++)
      expect(along[index]).toBeGreaterThanOrEqual((ends[index - 1] ?? Number.NaN) - 1);
    expect(await page.locator("#machines .link b").allTextContents()).toEqual(["61 µs", "58 µs"]);
    await expectSound(page, complaints);
  });
});
