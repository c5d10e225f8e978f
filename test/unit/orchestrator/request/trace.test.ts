import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { EXIT } from "../../../../src/contract/errors.js";
import { expectFailure } from "../../../helpers/errors.js";
import { temporaryFolders } from "../../../helpers/folders.js";
import { requestOf } from "../../../helpers/request.js";

const newFolder = temporaryFolders();

function log(): string {
  const path = join(newFolder(), "log.csv");
  writeFileSync(path, "10,a\n10.5,b\n11,a\n");
  return path;
}

test("a trace is the traffic, in closed loops and at its times", () => {
  const path = log();
  expect(requestOf("--trace", path)).toMatchObject({
    traffic: ["trace"],
    rates: [],
    trace: { facts: { lines: 3, keys: 2 } },
    settings: { trace: path, traffic: "trace" },
  });
  expect(requestOf("--trace", path, "--trace-speed", "1,10")).toMatchObject({
    rates: [2, 20],
    arrivals: "trace",
  });
  expect(requestOf("--trace", path, "--rate", "50")).toMatchObject({ rates: [50], arrivals: "constant" });
});

test("what contradicts it is refused with the flag", async () => {
  const path = log();
  for (const [flags, ...parts] of [
    [["--trace", "/no/such.log"], "--trace"],
    [["--trace-speed", "1"], "--trace"],
    [["--trace", path, "--traffic", "fixed"], "--trace", "--traffic"],
    [["--trace", path, "--trace-speed", "1", "--rate", "5"], "--trace-speed", "--rate"],
    [["--trace", path, "--trace-speed", "0"], "--trace-speed"],
    [["--trace", path, "--trace-speed", "0.001"], "--trace-speed"],
    [["--arrivals", "trace", "--rate", "5"], "--arrivals"],
  ] as const)
    await expectFailure(() => requestOf(...flags), EXIT.usage, ...parts);
});
