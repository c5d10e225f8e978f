import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { VERDICTS_FILE, verdictsSchema } from "../../../src/contract/verdicts.js";
import { RULES_VERSION } from "../../../src/judge/rules.js";
import { ROOT } from "../../helpers/programs.js";

const RESULTS = join(ROOT, "results");
const REMEDY = "run `ratelimit-bench judge results` and commit results/verdicts.json";

test("the committed archives are judged by the present rules, each as it is now", () => {
  const text = readFileSync(join(RESULTS, VERDICTS_FILE), "utf8");
  const { rules_version, campaigns } = verdictsSchema.parse(JSON.parse(text));
  expect(rules_version, REMEDY).toBe(RULES_VERSION);
  const digests = campaigns.map(({ archive, sha256 }) => [archive, sha256]);
  const committed = readdirSync(RESULTS, { recursive: true, encoding: "utf8" })
    // An audit has no verdicts of runs.
    .filter((path) => path.endsWith(".tar.xz") && !path.includes("audits"))
    .toSorted();
  const digestOf = (path: string) =>
    createHash("sha256")
      .update(readFileSync(join(RESULTS, path)))
      .digest("hex");
  expect(digests, REMEDY).toEqual(committed.map((path) => [path, digestOf(path)]));
  expect(text.length).toBeLessThan(500_000);
});
