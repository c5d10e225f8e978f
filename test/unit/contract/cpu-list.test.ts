import { expect, test } from "vitest";
import { cpusInList } from "../../../src/contract/cpu-list.js";

test.each([
  ["\t0-3\n", [0, 1, 2, 3]],
  ["2,5-6", [2, 5, 6]],
  ["7", [7]],
  ["", []],
  ["0-", []],
  ["3-1", []],
  ["all", []],
])("the list %j names the CPUs %j", (list, cpus) => {
  expect(cpusInList(list)).toEqual(cpus);
});
