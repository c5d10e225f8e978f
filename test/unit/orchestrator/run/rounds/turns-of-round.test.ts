import { expect, test } from "vitest";
import type { GeneratorOutput } from "../../../../../src/contract/generator-output.js";
import { withLongestGap } from "../../../../../src/orchestrator/run/rounds/turns-of-round.js";

test("where one generator of a group stood still, the runs of all of them say so", () => {
  const output = (...gaps_ms: number[]) =>
    ({ generators: gaps_ms.map((longest_gap_ms) => ({ longest_gap_ms })) }) as GeneratorOutput;
  const group = [output(21), { failed: "it ended" }, output(2030)];
  expect(withLongestGap(output(21), group)).toEqual(output(2030));
  expect(withLongestGap({ generators: [{}] } as GeneratorOutput, [])).toEqual({ generators: [{}] });
});
