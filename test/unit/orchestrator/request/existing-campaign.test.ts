import { existsSync, mkdirSync, renameSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, test } from "vitest";
import { canonicalJson } from "../../../../src/contract/configuration.js";
import { MANIFEST_SCHEMA_VERSION } from "../../../../src/contract/manifest.js";
import type { Environment } from "../../../../src/kit/env.js";
import { EXIT } from "../../../../src/kit/errors.js";
import {
  differences,
  requireComparable,
} from "../../../../src/orchestrator/campaign/compare-manifests.js";
import { resumedManifest } from "../../../../src/orchestrator/campaign/write-manifest.js";
import { findCampaign } from "../../../../src/orchestrator/request/existing-campaign.js";
import { parseCampaign } from "../../../../src/orchestrator/request/parse-request.js";
import { expectFailure } from "../../../helpers/errors.js";
import { createCampaign } from "../../../helpers/existing-campaign.js";
import { temporaryFolders } from "../../../helpers/folders.js";

const newFolder = temporaryFolders();

const resume = (root: string, flags: readonly string[] = [], env: Environment = {}) =>
  parseCampaign(["--resume", ...flags, "--output", root], env);

describe("--resume", () => {
  test("continues the newest campaign, or the one that is named", async () => {
    const root = newFolder();
    await createCampaign(root, "20260101_000000", ["--clients", "none", "--runs", "7"]);
    await createCampaign(root, "20260102_000000", ["--clients", "memory", "--runs", "2"]);
    mkdirSync(join(root, "zzz"));
    expect(resume(root)).toMatchObject({
      start: { resume: "20260102_000000" },
      targets: { clients: ["memory"] },
      rounds: { runs: 2, seed: 1 },
    });
    const named = parseCampaign(["--resume", "20260101_000000", "--output", root], {});
    expect(named).toMatchObject({
      start: { resume: "20260101_000000" },
      targets: { clients: ["none"] },
      rounds: { runs: 7 },
    });
    expect(resume(root, ["--allow-parallel", "--progress", "run"])).toMatchObject({
      start: { allowParallel: true },
    });
  });

  test("works through a results root that is a link [R-link-3]", async () => {
    const root = newFolder();
    await createCampaign(root, "20260101_000000");
    const link = join(newFolder(), "results");
    symlinkSync(root, link);
    expect(resume(link)?.start.resume).toBe("20260101_000000");
    symlinkSync("20260101_000000", join(root, "latest"));
    expect(basename(findCampaign(link, "latest").folder)).toBe("20260101_000000");
  });

  test.each([
    [["--runs", "5"], "--runs"],
    [["--clients", "memory", "--seed", "2"], "--clients, --seed"],
    [["--quick"], "--quick"],
    [["--dry-run"], "--dry-run"],
    [["--config", "x.yaml"], "--config"],
    [["--runtime", "docker"], "runs on fake"],
    [["--store-url", "redis://localhost"], "starts its stores itself"],
  ])("beside %j is a contradiction that is named [R-contradiction-1]", async (flags, message) => {
    const root = newFolder();
    await createCampaign(root, "20260101_000000");
    await expectFailure(() => resume(root, flags), EXIT.usage, message);
  });

  test("uses the settings of its campaign, not those of the environment, with a notice", async () => {
    const root = newFolder();
    await createCampaign(root, "20260101_000000", ["--clients", "none", "--points", "5"]);
    const request = resume(root, [], { RATE_LIMIT_POINTS: "7", RATE_LIMIT_DURATION: "9" });
    expect(request?.limits).toMatchObject({ points: [5] });
    expect(request?.notices.map((notice) => notice.split(" ")[0])).toEqual([
      "RATE_LIMIT_POINTS",
      "RATE_LIMIT_DURATION",
    ]);
  });

  test.each(["../../x", "..", "a/b", "$(touch x)", "-x", "a\nb", "x".repeat(300), "nothing"])(
    "of %j is bad usage, and nothing is made [R-hostile-2]",
    async (name) => {
      const root = join(newFolder(), "results", "deep");
      await createCampaign(root, "20260101_000000");
      const argv = [`--resume=${name}`, "--output", root];
      await expectFailure(() => parseCampaign(argv, {}), EXIT.usage, "--resume");
      expect(existsSync("x")).toBe(false);
    },
  );

  test("without any campaign is bad usage that names the folder", async () => {
    const root = newFolder();
    await expectFailure(() => resume(root), EXIT.usage, "no campaign", root);
    await expectFailure(() => resume(join(root, "gone")), EXIT.usage, join(root, "gone"));
  });

  test("of an older version names what still reads it [R-older-1]", async () => {
    const root = newFolder();
    const { folder, manifest } = await createCampaign(root, "20260101_000000");
    const path = join(folder, "manifest.json");
    writeFileSync(
      path,
      JSON.stringify({ ...manifest, schema_version: MANIFEST_SCHEMA_VERSION - 1 }),
    );
    await expectFailure(() => resume(root), EXIT.usage, path, "ratelimit-bench report");
  });

  test("with a manifest that is damaged or foreign names file and field", async () => {
    const root = newFolder();
    const { folder, manifest } = await createCampaign(root, "20260101_000000");
    const path = join(folder, "manifest.json");
    writeFileSync(path, '{"schema":');
    await expectFailure(() => resume(root), EXIT.usage, path);
    writeFileSync(path, JSON.stringify({ ...manifest, schema_version: 1 }));
    await expectFailure(
      () => resume(root),
      EXIT.usage,
      path,
      "schema_version is 1",
      "measure again",
    );
    writeFileSync(path, JSON.stringify({ ...manifest, plan: { ...manifest.plan, seed: -1 } }));
    await expectFailure(() => resume(root), EXIT.usage, path, "plan.seed");
    const [run] = manifest.plan.runs;
    const elsewhere = { ...manifest.plan, runs: [{ ...run, file: "../../x.json" }] };
    writeFileSync(path, JSON.stringify({ ...manifest, plan: elsewhere }));
    await expectFailure(() => resume(root), EXIT.usage, path, "plan.runs", "../../x.json");
    writeFileSync(path, JSON.stringify({ ...manifest, campaign: "../../x" }));
    await expectFailure(() => resume(root), EXIT.usage, path, "campaign");
    unlinkSync(path);
    await expectFailure(() => resume(root), EXIT.usage, path);
  });
});

describe("a link is not followed out of the results folder:", () => {
  test("the campaign's folder [R-link-1]", async () => {
    const root = newFolder();
    const { folder } = await createCampaign(newFolder(), "20260101_000000");
    symlinkSync(folder, join(root, "20260101_000000"));
    await expectFailure(() => resume(root), EXIT.environment, folder);
  });

  test.each(["manifest.json", "benchmark.log", "report", "none_light_50c_120s_run1.json"])(
    "%s in it [R-link-2]",
    async (name) => {
      const root = newFolder();
      const { folder } = await createCampaign(root, "20260101_000000");
      const elsewhere = join(newFolder(), "precious");
      if (existsSync(join(folder, name))) renameSync(join(folder, name), elsewhere);
      symlinkSync(elsewhere, join(folder, name));
      await expectFailure(() => resume(root), EXIT.environment, join(folder, name), "is a link");
    },
  );
});

describe("machine, images and versions", () => {
  test("are named one by one if they changed, and refuse [R-changed-1]", async () => {
    const { manifest: before } = await createCampaign(newFolder(), "20260101_000000");
    const now = structuredClone(before);
    now.harness.node = "99.0.0";
    now.machine.kernel = "Linux 99";
    now.libraries = { ...now.libraries, fastify: "0.0.1" };
    now.images = { server: { name: "ratelimit-bench-server:0", id: "sha256:0" } };
    now.stores = { valkey: { path: "/opt/valkey-server", version: "7.2.0", embedded: false } };
    // Measured anew, changed by a restart, or not on record: no part of the machine's key.
    delete now.machine.governor;
    now.machine.index_ms = 99;
    now.machine.memory_bytes += 4096;
    now.machine.sysctl = {};
    delete before.machine.microcode;
    now.machine.microcode = "0x1";
    expect(differences(before, now)).toEqual([
      `harness.node was "${before.harness.node}", is "99.0.0"`,
      `libraries.fastify was "${before.libraries?.fastify}", is "0.0.1"`,
      `images was absent, is ${canonicalJson(now.images)}`,
      'stores.valkey was absent, is {"embedded":false,"version":"7.2.0"}',
      `machine.kernel was "${before.machine.kernel}", is "Linux 99"`,
    ]);
    await expectFailure(
      () => requireComparable(before, now),
      EXIT.environment,
      "machine.kernel",
      "fastify",
    );
  });

  test("microcode, CPUs and where a program lies: the machine's key decides, a path does not", async () => {
    const { manifest } = await createCampaign(newFolder(), "20260101_000000");
    const machine = { ...manifest.machine, microcode: "0x1" };
    const before = {
      ...manifest,
      machine,
      stores: { valkey: { path: "/a", version: "9", embedded: true } },
    };
    const stores = { valkey: { path: "/b", version: "9", embedded: true } };
    const now = { ...before, machine: { ...machine, microcode: "0x2", cpus: 999 }, stores };
    expect(differences(before, now)).toEqual([
      'machine.microcode was "0x1", is "0x2"',
      `machine.cpus was ${machine.cpus}, is 999`,
    ]);
  });

  test("the order of members is no difference", async () => {
    const { manifest } = await createCampaign(newFolder(), "20260101_000000");
    const [sha256, name] = ["0".repeat(64), "requests.trace"];
    const [before, now] = [
      { name, sha256 },
      { sha256, name },
    ].map((facts) => ({ ...manifest, plugins: [facts] }));
    expect(before && now && differences(before, now)).toEqual([]);
  });

  test("a resumed campaign gets another session and keeps its original facts", async () => {
    const { manifest } = await createCampaign(newFolder(), "20260101_000000");
    const before = {
      ...manifest,
      status: "aborted" as const,
      finished_at: "2026-01-01T00:10:00.000Z",
    };
    const now = { ...structuredClone(manifest), conditions: ["a condition of today"] };
    const resumed = resumedManifest(before, now);
    const { started_at, plan } = manifest;
    expect(resumed).toMatchObject({ status: "running", started_at, plan });
    expect(resumed).not.toHaveProperty("finished_at");
    expect(resumed.sessions).toHaveLength(2);
    expect(resumed.conditions).toEqual([...manifest.conditions, "a condition of today"]);
  });
});
