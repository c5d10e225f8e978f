import { expect, test } from "vitest";
import { idleCpuMs } from "../../../../src/benchmark/open-loop/shared-wakes.js";

test.runIf(process.platform === "linux")("idle time never falls", () => {
  const before = idleCpuMs();
  expect(before).toBeGreaterThan(0);
  expect(idleCpuMs()).toBeGreaterThanOrEqual(before ?? Number.NaN);
});
