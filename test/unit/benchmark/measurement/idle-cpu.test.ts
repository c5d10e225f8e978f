import { expect, test } from "vitest";
import { idleCpuMs } from "../../../../src/benchmark/measurement/idle-cpu.js";

test.runIf(process.platform === "linux")("idle time never falls", () => {
  const before = idleCpuMs();
  expect(before).toBeGreaterThan(0);
  expect(idleCpuMs()).toBeGreaterThanOrEqual(before ?? Number.NaN);
});
