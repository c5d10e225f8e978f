import { expect, test } from "vitest";
import { EXIT } from "../../../../src/kit/errors.js";
import { requireAddressSpace } from "../../../../src/orchestrator/host/machine-checks.js";
import { expectFailure } from "../../../helpers/errors.js";

test("too little address space is told in one line that mends it [R-limits-3]", async () => {
  const tooLittle = () => {
    throw new RangeError("WebAssembly.Memory(): could not allocate memory");
  };
  await expectFailure(
    () => requireAddressSpace(tooLittle),
    EXIT.environment,
    "ulimit -v unlimited",
  );
  expect(() => requireAddressSpace()).not.toThrow();
});
