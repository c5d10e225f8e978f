import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { MANIFEST_SCHEMA, MANIFEST_SCHEMA_VERSION } from "../../../../src/contract/manifest.js";
import type { Environment } from "../../../../src/kit/env.js";
import { EXIT } from "../../../../src/kit/errors.js";
import { planOf } from "../../../../src/orchestrator/max-rate/searched-rates.js";
import { makePlan } from "../../../../src/orchestrator/plan/make-plan.js";
import { parseSingle } from "../../../../src/orchestrator/request/original.js";
import type { Request } from "../../../../src/orchestrator/request/request.js";
import { expectFailure } from "../../../helpers/errors.js";
import { createCampaign } from "../../../helpers/existing-campaign.js";
import { temporaryFolders } from "../../../helpers/folders.js";
import { ROOT } from "../../../helpers/programs.js";
import { everything, parsed } from "../../../helpers/request.js";

const newFolder = temporaryFolders();

function fileWith(text: string, name = "campaign.yaml"): string {
  const path = join(newFolder(), name);
  writeFileSync(path, text);
  return path;
}

const withFile = (text: string, flags: readonly string[] = [], env: Environment = {}) =>
  parsed(["--config", fileWith(text), ...flags], env);

const withoutCommand = ({ record, ...request }: Request) => ({
  ...request,
  settings: record.settings,
});

test("a file holds the same settings as flags, and lists as lists or text", () => {
  const text = [
    "clients: [iovalkey, ioredis@valkey]",
    'concurrency: "50 100"',
    "duration-mode: custom:7",
    "cooldown: [0.5, 1]",
    "runs: 4",
    "points: 1000",
    "allow-parallel: true",
    "threshold: [p99<10ms, errors<0.1%]",
  ].join("\n");
  const flags = ["--clients", "iovalkey,ioredis@valkey", "--concurrency", "50 100"];
  flags.push(
    "--duration-mode",
    "custom:7",
    "--cooldown",
    "0.5,1",
    "--runs",
    "4",
    "--points",
    "1000",
  );
  flags.push(
    "--allow-parallel",
    "--threshold",
    "p99<10ms",
    "--threshold",
    "errors<0.1%",
    "--seed",
    "3",
  );
  expect(withoutCommand(withFile(text, ["--seed", "3"]))).toEqual(withoutCommand(parsed(flags)));
});

test("flags win over variables, those over the file, and that over its preset; a notice names each difference", () => {
  const text = "preset: quick\nruns: 4\npoints: 5\nwindow: 6\n";
  const env = { RATE_LIMIT_POINTS: "7", RATE_LIMIT_DURATION: "8" };
  const request = withFile(text, ["--window", "9"], env);
  expect(request).toMatchObject({
    rounds: { runs: 4 },
    pauses: { warmupS: "auto" },
    limits: { points: [7], windowsS: [9] },
  });
  expect(request.notices).toEqual([
    "RATE_LIMIT_POINTS=7 wins over campaign.yaml:3 points 5",
    "--window 9 wins over campaign.yaml:4 window 6",
    "--window 9 wins over RATE_LIMIT_DURATION=8",
  ]);
});

describe("refused as bad usage, with file and line [R-file-1]:", () => {
  test.each<[string, ...string[]]>([
    ["clients: none\ncleints: none\n", "campaign.yaml:2", '"cleints"', "did you mean clients?"],
    ["clients: none\nruns: 0\n", "campaign.yaml:2 runs", "from 1 to 1000"],
    ["clients: none\nruns: 4\nruns: 5\n", "campaign.yaml:3", "unique"],
    ["clients: [none\n", "campaign.yaml:"],
    ["- none\n", "campaign.yaml:1", "key: value"],
    ["clients: {a: b}\n", "campaign.yaml:1", "a value or a list"],
    ["clients: &a [none]\ntraffic: *a\n", "campaign.yaml:2", "a value or a list"],
    ['clients: "none\\0"\n', "campaign.yaml:1 clients", "control characters"],
    ["clients: $(touch x)\n", "not of the form"],
    ["store-url: redis://a\n", 'there is no setting "store-url"'],
    ["preset: quik\n", "campaign.yaml:1 preset", "did you mean quick?"],
    ["", "--clients is missing"],
  ])("%j", async (text, ...parts) => {
    await expectFailure(() => makePlan(withFile(text), everything), EXIT.usage, ...parts);
  });

  test("a manifest of schema 1, with the remedy", async () => {
    const text = JSON.stringify({ schema: MANIFEST_SCHEMA, schema_version: 1, settings: {} });
    await expectFailure(
      () => withFile(text),
      EXIT.usage,
      "campaign.yaml:1",
      "is 1",
      "measure again",
    );
  });
});

test.each([
  ["run-all.sh", () => parsed(["--quick", "--workload", "both", "--store-cpus", "0.5"])],
  [
    "run-benchmark.sh",
    () => parseSingle({ RATE_LIMITER_TYPE: "ioredis", RUNS: "2", DURATION: "7" }),
  ],
])(
  "the settings that a manifest of %s keeps give the same plan, whatever the seed was",
  (_name, parse) => {
    const request = parse();
    const { settings } = request.record;
    const manifest = {
      schema: MANIFEST_SCHEMA,
      schema_version: MANIFEST_SCHEMA_VERSION,
      settings,
      plan: {},
    };
    const again = withFile(JSON.stringify(manifest, null, 2));
    expect(makePlan(again, everything)).toEqual(makePlan(request, everything));
    expect(again.place.caps).toEqual(request.place.caps);
  },
);

const CLAIM = `clients: iovalkey
claims:
  - id: a
    says: {sentence: A is faster}
    expects:
      - {metric: throughput, of: {target: iovalkey, rate: 5}, against: none, ratio: [1.02, null], refuted: [1, null]}
      - {metric: p50, of: iovalkey, against: none}
`;

test("the hash of a criterion is that of its ranges alone, and a question has none", () => {
  const criterion = {
    claim: "a",
    metric: "throughput",
    of: { target: "iovalkey", rate: 5 },
    against: "none",
    // test/report/claims/test_criterion.py has the same.
    sha256: "b2379e93e410bbbe40aa90dca44b6bb2a2630461ca9a804a26d38388a4af2bf9",
  };
  expect(withFile(CLAIM).record.criteria).toEqual([criterion]);

  const reworded = CLAIM.replace("A is faster", "A is slower");
  expect(withFile(reworded).record.criteria).toEqual([criterion]);
  const narrowed = withFile(CLAIM.replace("1.02", "1.03")).record.criteria;
  expect(narrowed[0]?.sha256).not.toBe(criterion.sha256);
});

test("a damaged claim is refused before anything is measured", async () => {
  const text = CLAIM.replace("[1.02, null]", "[fast]");
  await expectFailure(() => withFile(text), EXIT.usage, "campaign.yaml: claims.0.expects.0.ratio");
});

test("a campaign starts with the criteria of its file in the manifest", async () => {
  const campaign = await createCampaign(newFolder(), "x", ["--config", fileWith(CLAIM)]);
  expect(campaign.manifest.criteria).toMatchObject([{ claim: "a", metric: "throughput" }]);
  const without = await createCampaign(newFolder(), "x", ["--clients", "none"]);
  expect(without.manifest).not.toHaveProperty("criteria");
});

test("claims are no setting", () => {
  expect(withFile("clients: iovalkey\nclaims: [{id: a}]\n").record.settings).not.toHaveProperty(
    "claims",
  );
});

test("a manifest that left out the reference, as its version had to, is measured alone again", () => {
  const settings = { clients: "iovalkey", "no-reference": "true" };
  const manifest = { schema: MANIFEST_SCHEMA, schema_version: MANIFEST_SCHEMA_VERSION, settings };
  const request = withFile(JSON.stringify(manifest));
  expect(request.comparisons.addsReference).toBe(false);
  expect(request.record.settings).not.toHaveProperty("no-reference");
});

test("a secret is never stored, printed or repeated", () => {
  const secret = "rediss://user:hunter2@cache.example";
  const tls = (name: string) => join(ROOT, "test/fixtures/tls", name);
  const files = [
    "--store-ca",
    tls("ca.pem"),
    "--store-cert",
    tls("cert.pem"),
    "--store-key",
    tls("key.pem"),
  ];
  const flags = ["--clients", "ioredis", "--store-url", secret, ...files];
  const request = parsed(flags, { STORE_URL: "redis://other:hunter3@cache.example" });
  expect(request.notices).toEqual(["--store-url wins over STORE_URL"]);
  const { storeAccess, ...place } = request.place;
  const variables = {
    STORE_CA: tls("ca.pem"),
    STORE_CERT: tls("cert.pem"),
    STORE_KEY: tls("key.pem"),
  };
  expect(storeAccess).toEqual({ STORE_URL: secret, ...variables });
  expect(JSON.stringify({ ...request, place })).not.toMatch(/hunter/);
});

test.each(readdirSync(join(ROOT, "claims")).filter((name) => name.endsWith(".yaml")))(
  "claims/%s is a campaign of which nothing is skipped where everything is installed",
  (name) => {
    const programs = name === "rsedis.yaml" ? ["--program", `rsedis=${process.execPath}`] : [];
    const request = parsed(["--config", join(ROOT, "claims", name), ...programs]);
    const { runs, skips } = planOf(request, everything);
    expect(skips).toEqual([]);
    expect(runs.length).toBeGreaterThan(0);
  },
);
