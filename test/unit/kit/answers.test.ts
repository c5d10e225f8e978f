import { expect, test } from "vitest";
import { probeReportSchema } from "../../../src/contract/store.js";
import { parseAnswer } from "../../../src/kit/answers.js";

const errorOf = (answer: string): string => {
  try {
    parseAnswer(probeReportSchema, answer);
  } catch (error) {
    return (error as Error).message;
  }
  return "";
};
const reading = (members: object) => JSON.stringify({ readings: [{ version: "7.2", ...members }] });

test.each([
  [reading({ uptime_s: -3 }), "readings.0.uptime_s is -3"],
  [reading({ keys: Number.NaN }), "readings.0.keys is null"],
  [JSON.stringify({ readings: [{}] }), "readings.0.version is missing"],
  [reading({ invented: 1 }), "invented"],
  ["[1, 2]", "the answer"],
  ["Segmentation fault", "Segmentation fault"],
  [" ", "empty"],
])("an answer that does not fit is one line that names the member: %s", (answer, expected) => {
  expect(errorOf(answer)).toContain(expected);
  expect(errorOf(answer)).not.toContain("\n");
});

test("one that fits is what was answered", () => {
  expect(parseAnswer(probeReportSchema, '{"ready_in_s":0.5}')).toEqual({ ready_in_s: 0.5 });
});
