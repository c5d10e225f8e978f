import { expect, test } from "vitest";
import { didYouMean } from "../../../src/targets/did-you-mean.js";

test("the closest of several similar words is suggested, and none if no word is similar", () => {
  expect(didYouMean("heav", ["heaven", "heavy", "light"])).toBe(
    " (did you mean heavy?); valid: heaven, heavy, light",
  );
  expect(didYouMean("x".repeat(300), ["heavy"])).toBe("; valid: heavy");
});
