import { expect, test } from "vitest";
import { didYouMean } from "../../../src/targets/did-you-mean.js";

test("of several words that are close the closest is meant; of none that is close, none", () => {
  expect(didYouMean("heav", ["heaven", "heavy", "light"])).toBe(
    " (did you mean heavy?); valid: heaven, heavy, light",
  );
  expect(didYouMean("x".repeat(300), ["heavy"])).toBe("; valid: heavy");
});
