import { type ChildProcess, spawn } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { cpus } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { type MeasuredResult, measuredResultSchema } from "../../../src/contract/result.js";
import { Campaign } from "../../helpers/campaign.js";
import { temporaryFolders } from "../../helpers/folders.js";
import { build, generate } from "../../helpers/programs.js";
import { TestStore } from "../../helpers/store.js";
import { StubServer } from "../../helpers/stub-server.js";

beforeAll(build);
const newFolder = temporaryFolders();

const broken = ({ verdict }: MeasuredResult): string[] =>
  verdict.reasons.map(({ rule, severity }) => `${rule} ${severity}`);

/** One run of a client on a store whose faults are ours to plant; the campaign itself only reads it. */
function onStore(store: TestStore, client: string, flags: readonly string[] = []): Campaign {
  const env = { STORE_URL: `redis://127.0.0.1:${store.port}` };
  return Campaign.run(newFolder(), client, flags, env);
}

function only(campaign: Campaign): MeasuredResult {
  const [result, ...more] = campaign.results.values();
  expect(more).toEqual([]);
  return measuredResultSchema.parse(result);
}

describe("a fault that is planted in a real run gets its verdict", () => {
  test("a store of 3 MB that evicts: suspect by M14", async () => {
    const store = await TestStore.start(["--maxmemory", "3mb", "--maxmemory-policy", "volatile-lru"]);
    try {
      const campaign = onStore(store, "iovalkey", [
        ...["--traffic", "mixed10", "--duration-mode", "custom:5"],
        ...["--concurrency", "20"],
      ]);
      const { code, stderr } = await campaign.ended;
      expect(code, stderr).toBe(0);
      expect(broken(only(campaign))).toContain("M14 suspect");
    } finally {
      await store.stop();
    }
  });

  test("a store that restarts in the window: invalid by M14, and its failures by M9, none of them a 429", async () => {
    const store = await TestStore.start();
    try {
      const campaign = onStore(store, "iovalkey", ["--duration-mode", "custom:4", "--traffic", "allowed"]);
      await campaign.reaches("measure");
      await delay(1_000);
      await store.kill();
      await delay(500);
      await store.run();
      const { code, stderr } = await campaign.ended;
      expect(code, stderr).toBe(5);
      const result = only(campaign);
      expect(broken(result)).toEqual(expect.arrayContaining(["M9 invalid", "M14 invalid"]));
      expect(result.counts.limited).toBe(0);
      expect(result.counts.by_status["503"]).toBeGreaterThan(0);
    } finally {
      await store.stop();
    }
  });
});

const TASKSET = "/usr/bin/taskset";
const canPin = (): boolean => {
  try {
    accessSync(TASKSET, constants.X_OK);
    return process.platform === "linux" && cpus().length > 1;
  } catch {
    return false;
  }
};

/** Processes that burn one CPU; they end with the test. */
function burn(cpu: number, count: number): void {
  const burners = Array.from({ length: count }, () =>
    spawn(TASKSET, ["-c", String(cpu), process.execPath, "-e", "for (;;);"], { stdio: "ignore" }),
  );
  onTestFinished(() => burners.forEach((burner: ChildProcess) => void burner.kill("SIGKILL")));
}

describe.skipIf(!canPin())("a load generator that is starved", () => {
  test("by burners on its CPU: suspect by M6; left alone it is not", async () => {
    // A server that takes its time: the generator has little to do.
    const stub = await StubServer.start({ delay_us: 500 });
    const run = async () => {
      const env = { TARGET_URL: stub.url, DURATION: "2", WARMUP: "0.5", CONNECTIONS: "20" };
      const generator = generate(env);
      const pinned = spawn(TASKSET, ["-a", "-p", "-c", "0", String(generator.pid)], { stdio: "ignore" });
      await new Promise((resolve) => pinned.once("exit", resolve));
      const { code, stdout, stderr } = await generator.ended;
      expect(code, stderr).toBe(0);
      return measuredResultSchema.parse(JSON.parse(stdout));
    };
    expect(broken(await run())).not.toContain("M6 suspect");
    burn(0, 12);
    expect(broken(await run())).toContain("M6 suspect");
  });
});
