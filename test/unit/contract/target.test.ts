import { describe, expect, test } from "vitest";
import {
  formatTargetText,
  isRequestedVersion,
  parseTargetText,
  targetFileName,
} from "../../../src/contract/target.js";
import { EXIT } from "../../../src/kit/errors.js";
import { expectFailure } from "../../helpers/errors.js";

const CLUSTER = { client: "ioredis", store: "valkey", topology: "cluster" };

describe("the text of a target", () => {
  test.each([
    ["iovalkey", { client: "iovalkey", options: [] }],
    ["valkey-glide:cluster", { client: "valkey-glide", topology: "cluster", options: [] }],
    ["ioredis@valkey", { client: "ioredis", store: "valkey", options: [] }],
    [
      "ioredis~5.6.1-rc.1@valkey:cluster+same-script+a",
      { ...CLUSTER, version: "5.6.1-rc.1", options: [{ id: "a" }, { id: "same-script" }] },
    ],
    [
      "ioredis+rate-limiter-flexible~7.1.1",
      { client: "ioredis", options: [{ id: "rate-limiter-flexible", version: "7.1.1" }] },
    ],
    [
      "ioredis@valkey~8.1-alpine:cluster+a",
      { ...CLUSTER, storeVersion: "8.1-alpine", options: [{ id: "a" }] },
    ],
  ])("%s is read in all its parts", (text, parts) => {
    expect(parseTargetText(text)).toEqual(parts);
    expect(parseTargetText(formatTargetText(parseTargetText(text)))).toEqual(parts);
  });

  test("has the same meaning whatever the order of its options", () => {
    expect(parseTargetText("ioredis+b+a")).toEqual(parseTargetText("ioredis+a+b"));
  });

  test.each([
    "",
    "$(touch x)",
    "`touch x`",
    "ioredis;rm -rf x",
    "ioredis\nvalkey",
    "ioredis\0",
    "../../x",
    "x".repeat(300),
    "-rf",
    "ioredis:",
    "ioredis@",
    "ioredis:cluster@valkey",
    "Ioredis",
    "<img onerror=x>",
  ])("%j is refused as bad usage, in one short line", async (text) => {
    const form = "client[~version][@store[~version]][:topology][+option]";
    await expectFailure(() => parseTargetText(text), EXIT.usage, form);
  });

  test.each(["", "5", "5.6", "^5.6.1", "latest", "5.6.1/..", "1.2.3\n", "x".repeat(50)])(
    "a version %j is refused, as it is not exactly one, in a line that shows one [R-version-1]",
    async (version) => {
      await expectFailure(
        () => parseTargetText(`ioredis~${version}@valkey`),
        EXIT.usage,
        "ioredis~1.2.3",
      );
      await expectFailure(() => parseTargetText(`ioredis+a~${version}`), EXIT.usage, "a~1.2.3");
    },
  );

  test.each(["", "../x", "$(touch x)", "x".repeat(50)])(
    "a store's version %j is refused, as it can be no tag of an image",
    async (version) => {
      await expectFailure(
        () => parseTargetText(`ioredis@valkey~${version}`),
        EXIT.usage,
        "valkey~8.1",
      );
    },
  );

  test("one option in two versions is rejected, because those are two targets", async () => {
    await expectFailure(
      () => parseTargetText("ioredis+a~1.0.0+a~2.0.0"),
      EXIT.usage,
      "two versions",
    );
  });
});

test("a label becomes a file name without separators of any system", () => {
  expect(targetFileName("ioredis~5.6.1@valkey:cluster+same-script")).toBe(
    "ioredis-5.6.1-valkey-cluster-same-script",
  );
  expect(targetFileName("a/b~c@d:e+f")).toBe("a-b-c-d-e-f");
});

test.each([
  ["8.1", "8.1.4", true],
  ["8.1", "8.1.4, 8.1.5", true],
  ["8.1", "8.1.4, 9.1.2", false],
  ["8.1", "8.10.0", false],
  ["8.1", "9.1.2", false],
  ["8.1.4-alpine", "8.1.4", true],
  ["8.1-alpine", "9.1.2", false],
  // A name is no number, and what is not known contradicts nothing.
  ["mine", "9.1.2", true],
  ["8.1", "unknown", true],
])(
  "a store that was asked for as %s and is %s is the one that was asked for: %s",
  (label, seen, is) => {
    expect(isRequestedVersion(label, seen)).toBe(is);
  },
);
