import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { Campaign } from "../../helpers/campaign.js";
import { expectReconciled } from "../../helpers/expectations.js";
import { temporaryFolders } from "../../helpers/folders.js";
import { endsOnBusyMachine, ownInvalidity } from "../../helpers/measured-campaign.js";
import { moduleArguments, moduleFile } from "../../helpers/module-file.js";
import { needs } from "../../helpers/needs.js";
import { TestStore } from "../../helpers/store.js";

const newFolder = temporaryFolders();

const FILE = moduleFile("redis-cell") ?? "";
const SHORT = ["--duration-mode", "requests:1000", "--warmup", "0.1"];
const TARGET = "iovalkey+redis-cell";
const program = (path: string) => ["--program", `redis-cell=${path}`];

describe("a campaign with redis-cell", needs(["redis-cell", "valkey"]), () => {
  test("counts every decision in the store, and names version and bytes of the module", async () => {
    const campaign = Campaign.run(newFolder(), `${TARGET},ioredis@valkey:cluster-3+redis-cell`, [
      ...program(FILE),
      ...SHORT,
    ]);
    await endsOnBusyMachine(campaign);
    expect(campaign.measured).toHaveLength(2);
    const sha256 = createHash("sha256").update(readFileSync(FILE)).digest("hex");
    for (const result of campaign.measured) {
      expect(ownInvalidity(result)).toEqual([]);
      // M12 and M19: nothing about the limiter is unknown, although it has no script.
      expect(result.verdict.reasons.map(({ rule }) => rule)).not.toContain("M12");
      expect(result.verdict.reasons.map(({ rule }) => rule)).not.toContain("M19");
      expectReconciled(result);
      expect(result.counts.limited).toBeGreaterThan(0);
      expect(result.store?.modules).toEqual([{ id: "redis-cell", version: "1", sha256 }]);
      expect(result.versions.limiter).toBe(`1 (sha256 ${sha256.slice(0, 12)}…)`);
      expect(result.configuration?.target).toMatchObject({
        decided_by: "module",
        algorithm: "GCRA",
      });
    }
    expect(campaign.measured.map(({ store }) => store?.nodes.length).sort()).toEqual([1, 3]);
    expect(campaign.manifest.modules).toEqual({ "redis-cell": { sha256 } });
  });

  test("without a file the target is skipped with the remedy, and a store of the user needs none", async () => {
    const none = await Campaign.run(newFolder(), `${TARGET},iovalkey`, ["--dry-run"]).ended;
    expect(none).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("--program redis-cell="),
    });

    const store = await TestStore.start(moduleArguments("redis-cell"));
    const plain = await TestStore.start();
    onTestFinished(() => store.stop());
    onTestFinished(() => plain.stop());
    const url = (node: TestStore) => ["--store-url", `redis://127.0.0.1:${node.port}`];
    const campaign = Campaign.run(newFolder(), TARGET, [...url(store), ...SHORT]);
    await endsOnBusyMachine(campaign);
    expect(campaign.measured[0]?.store?.modules).toEqual([{ id: "redis-cell", version: "1" }]);
    const refused = await Campaign.run(newFolder(), TARGET, url(plain)).ended;
    expect(refused.code).toBe(2);
    expect(refused.stderr).toMatch(/^[^\n]*redis-cell[^\n]*--loadmodule[^\n]*\n$/);
  });

  /** A file that is nearly a module. */
  const planted = (make: (path: string) => void) => () => {
    const path = join(newFolder(), "planted.so");
    make(path);
    return path;
  };
  const compiled = (code: string) =>
    planted((path) => {
      execFileSync("cc", ["-shared", "-fPIC", "-x", "c", "-", "-o", path], { input: code });
    });

  const loading = (body: string) => compiled(`int RedisModule_OnLoad(void *c) { ${body} }`);

  // Files that are no library at all: test/unit/orchestrator/plan/module-files.test.ts.
  test.each([
    [
      "may not be executed",
      planted((path) => {
        copyFileSync(FILE, path);
        execFileSync("chmod", ["-x", path]);
      }),
      "the store does not load",
    ],
    ["is no module", compiled("int x;"), "does not export"],
    ["is a module that refuses to load", loading("return 1;"), "initialization failed"],
    ["takes the store down", loading("return *(int *)0;"), "it ended with SIG"],
  ])("a file that %s: exit 3 and one line with file and fix", async (_, makePath, problem) => {
    const path = makePath();
    const { code, stderr } = await Campaign.run(newFolder(), TARGET, program(path)).ended;
    expect(stderr).toMatch(/^[^\n]*--program redis-cell=[^\n]*\n$/);
    expect(stderr).toContain(path);
    expect(stderr).toMatch(problem);
    expect(code).toBe(3);
  });

  test("the file of another module: exit 3 and one line that names the missing command", async () => {
    const { code, stderr } = await Campaign.run(newFolder(), "iovalkey+redis-shield", [
      "--program",
      `redis-shield=${FILE}`,
    ]).ended;
    expect(stderr).toMatch(/^[^\n]*redis-shield[^\n]*SHIELD\.absorb[^\n]*\n$/);
    expect(code).toBe(3);
  });
});
