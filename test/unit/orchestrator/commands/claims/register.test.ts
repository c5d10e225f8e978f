import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, test } from "vitest";
import { EXIT } from "../../../../../src/contract/errors.js";
import {
  campaignFile,
  campaignsOf,
  chosenClaims,
  readRegister,
} from "../../../../../src/orchestrator/commands/claims/register.js";
import { rowsOf } from "../../../../../src/orchestrator/commands/claims/rows.js";
import { planOf } from "../../../../../src/orchestrator/max-rate/plan.js";
import { parseCampaign } from "../../../../../src/orchestrator/request/parse-request.js";
import { expectFailure } from "../../../../helpers/errors.js";
import { temporaryFolders } from "../../../../helpers/folders.js";
import { ROOT } from "../../../../helpers/programs.js";
import { everything } from "../../../../helpers/request.js";

const newFolder = temporaryFolders();

const OURS = join(ROOT, "claims");
const register = readRegister(OURS);
const campaigns = readdirSync(join(OURS, "campaigns")).map((name) => basename(name, ".yaml"));

/** The plan of a campaign on a machine that has everything, also what a claim names by --program. */
function planned(campaign: string) {
  const needs = register.claims.flatMap(({ needs: each, comparisons = [] }) =>
    each && comparisons.some((comparison) => comparison.campaign === campaign) ? [each.program] : [],
  );
  const programs = [...new Set(needs)].flatMap((name) => ["--program", `${name}=${process.execPath}`]);
  const request = parseCampaign(["--config", campaignFile(register, campaign), ...programs], {});
  if (!request) throw new Error("no request");
  return planOf(request, everything);
}

describe("the claims of this project", () => {
  test.each(campaigns)("the campaign %s can be measured, and nothing of it is skipped", (campaign) => {
    const { runs, skips } = planned(campaign);
    expect(skips).toEqual([]);
    expect(runs.length).toBeGreaterThan(0);
    expect(campaignsOf(register.claims)).toContain(campaign);
  });

  const comparisons = register.claims.flatMap(({ id, comparisons: found = [] }) =>
    found.map((comparison) => ({ name: `${id}: ${comparison.id}`, comparison })),
  );

  test.each(comparisons)("$name compares rows of its campaign", ({ comparison }) => {
    const found = rowsOf(comparison, planned(comparison.campaign));
    expect(found).not.toHaveProperty("missing");
    if ("missing" in found) return;
    expect(found.base).not.toEqual(found.new);
  });

  test("each can be refuted", () => {
    for (const { id, comparisons: found = [], cannot_be_told } of register.claims) {
      const judged = found.filter(({ as_published, expected }) => as_published && expected);
      expect(judged.length > 0 || cannot_be_told !== undefined, id).toBe(true);
    }
  });
});

const CLAIM = `title: A is faster than B
sentence: A is 10 % faster than B
source: {project: A}
measured_there: {}
refuted_by: A is not faster
comparisons:
  - id: one
    campaign: a-and-b
    metric: throughput
    new: {target: iovalkey}
    base: {target: ioredis@valkey}
    conditions: as published
    as_published: true
    expected: {ratio: 1.1, at_least: 1.05, refuted_below: 1}
`;

function folderOf(claim: string, name = "a-beats-b.yaml"): string {
  const folder = newFolder();
  mkdirSync(join(folder, "campaigns"));
  writeFileSync(join(folder, "campaigns", "a-and-b.yaml"), "clients: [iovalkey, ioredis@valkey]\n");
  writeFileSync(join(folder, name), claim);
  return folder;
}

test("a claim is a file, and its name is its id", () => {
  expect(readRegister(folderOf(CLAIM)).claims).toMatchObject([
    { id: "a-beats-b", title: "A is faster than B" },
  ]);
});

describe("a file that is no claim is refused with its line and what fixes it:", () => {
  test.each([
    [
      "a misspelt member",
      [/metric:/, "metrik:"],
      9,
      "metrik: there is no such member (did you mean metric?)",
    ],
    ["a member that is missing", [/^sentence.*\n/m, ""], 1, "sentence: it is missing: add it"],
    [
      "an unknown metric",
      [/throughput/, "speed"],
      9,
      'comparisons.0.metric: Invalid option: expected one of "throughput"',
    ],
    [
      "a row with an unknown member",
      [/new: \{target/, "new: {tarket"],
      10,
      "comparisons.0.new.tarket: there is no such member (did you mean target?)",
    ],
    [
      "a campaign without a file",
      [/campaign: a-and-b/, "campaign: a-and-c"],
      8,
      "there is no campaigns/a-and-c.yaml (did you mean a-and-b?)",
    ],
    [
      "nothing that is expected of what was published",
      [/ {4}expected.*\n/, ""],
      7,
      "expected: say what is expected",
    ],
    ["no bound that refutes it", [/, refuted_below: 1/, ""], 14, "give refuted_below, refuted_above or both"],
    [
      "a figure outside its bounds",
      [/ratio: 1.1/, "ratio: 1.01"],
      14,
      "the published ratio 1.01 must lie between the bounds",
    ],
    [
      "a bound that refutes what holds",
      [/refuted_below: 1/, "refuted_below: 1.2"],
      14,
      "refuted_below 1.2 must not be above at_least 1.05",
    ],
    [
      "a throughput compared with a figure",
      [/base: .*/, "base: {published: 100}"],
      11,
      "compare it with a row",
    ],
    [
      "an address that is none",
      [/project: A/, "project: A, address: example.com"],
      3,
      "give an address that begins with https://",
    ],
    ["a broken document", [/^title: /m, "title: ["], undefined, "a-beats-b.yaml:"],
  ] as const)("%s", async (_name, [from, to], line, text) => {
    const folder = folderOf(CLAIM.replace(from, to));
    const place = `a-beats-b.yaml:${line ?? ""}`;
    await expectFailure(
      () => readRegister(folder),
      EXIT.usage,
      line === undefined ? text : `${place}: `,
      text,
    );
  });

  test("a name that is no id", async () => {
    const folder = folderOf(CLAIM, "A beats B.yaml");
    await expectFailure(() => readRegister(folder), EXIT.usage, "A beats B.yaml: rename it");
  });

  test("an empty folder, and one that is not there", async () => {
    const folder = newFolder();
    mkdirSync(join(folder, "campaigns"));
    await expectFailure(() => readRegister(folder), EXIT.usage, "holds no claims");
    await expectFailure(() => readRegister(join(folder, "none")), EXIT.usage, "--claims", "cannot be read");
  });
});

test("claims are chosen by id, and an unknown one is refused with the nearest", async () => {
  const found = readRegister(folderOf(CLAIM));
  expect(chosenClaims(found, ["a-beats-b"]).map(({ id }) => id)).toEqual(["a-beats-b"]);
  await expectFailure(() => chosenClaims(found, ["a-beats-c"]), EXIT.usage, "did you mean a-beats-b?");
});
