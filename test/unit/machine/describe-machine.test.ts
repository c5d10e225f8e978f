import { expect, test } from "vitest";
import { cpuName, microcodeIn } from "../../../src/machine/describe-machine.js";

const cpuinfo = `processor : 0
vendor_id : AuthenticAMD
cpu family : 26
model  : 2
model name : AMD EPYC
`;

test.each([
  ["AMD EPYC", cpuinfo, "AMD EPYC (family 26, model 2)"],
  ["AMD EPYC 7763 64-Core Processor", cpuinfo, "AMD EPYC 7763 64-Core Processor"],
  ["AMD EPYC", undefined, "AMD EPYC"],
  ["unknown", "processor : 0\nBogoMIPS : 243.75\n", "unknown"],
])("a CPU whose name has no number is named by its generation: %s", (name, text, named) => {
  expect(cpuName(name, text)).toBe(named);
});

test("the microcode is that of the first CPU, where the system tells it", () => {
  expect(microcodeIn(`${cpuinfo}microcode : 0xb002151\nprocessor : 1\nmicrocode : 0x1\n`)).toBe(
    "0xb002151",
  );
  expect(microcodeIn(cpuinfo)).toBeUndefined();
});
