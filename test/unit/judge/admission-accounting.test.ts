import { describe, expect, test } from "vitest";
import { admissionsOf } from "../../../src/judge/admission-accounting.js";

describe("the counts of keys", () => {
  test("lie between the answered and the sent consumes", () => {
    const admissions = admissionsOf([
      { key: "all answered", least: 40, most: 40, counted: 40 },
      { key: "two without an answer", least: 8, most: 10, counted: 9 },
    ]);
    const points = { least: 48, most: 50, counted: 49 };
    expect(admissions).toEqual({ status: "counted", keys: 2, points, below: 0, above: 0 });
  });

  test("that lie outside are counted by direction, and the key that is furthest off is named", () => {
    const surplus = { key: "surplus", least: 5, most: 6, counted: 8 };
    const lost = { key: "lost", least: 40, most: 40, counted: 37 };
    expect(
      admissionsOf([{ key: "fine", least: 1, most: 1, counted: 1 }, surplus, lost]),
    ).toMatchObject({
      below: 1,
      above: 1,
      worst: lost,
    });
  });
});
