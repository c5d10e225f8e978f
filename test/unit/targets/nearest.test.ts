import { expect, test } from "vitest";
import { nearest } from "../../../src/targets/nearest.js";

test("of several words that are close the closest is meant; of none that is close, none", () => {
  expect(nearest("heav", ["heaven", "heavy", "light"])).toBe(
    " (did you mean heavy?); valid: heaven, heavy, light",
  );
  expect(nearest("x".repeat(300), ["heavy"])).toBe("; valid: heavy");
});
