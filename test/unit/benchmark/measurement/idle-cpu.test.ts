import { expect, test } from "vitest";
import { cpusInList, idleCpuMs } from "../../../../src/benchmark/measurement/idle-cpu.js";

test.each([
  ["\t0-3\n", [0, 1, 2, 3]],
  ["2,5-6", [2, 5, 6]],
  ["7", [7]],
  ["", undefined],
  ["0-", undefined],
  ["3-1", undefined],
  ["all", undefined],
])("the list %j names the CPUs %j", (list, cpus) => {
  expect(cpusInList(list)).toEqual(cpus);
});

test.runIf(process.platform === "linux")("idle time never falls", () => {
  const before = idleCpuMs();
  expect(before).toBeGreaterThan(0);
  expect(idleCpuMs()).toBeGreaterThanOrEqual(before ?? Number.NaN);
});
