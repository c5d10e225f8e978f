import { type ChildProcess, spawn } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { cpus } from "node:os";
import { describe, expect, onTestFinished, test } from "vitest";
import { type MeasuredResult, measuredResultSchema } from "../../../src/contract/result.js";
import { Campaign } from "../../helpers/campaign.js";
import { temporaryFolders } from "../../helpers/folders.js";
import { generate } from "../../helpers/programs.js";
import { StubServer } from "../../helpers/stub-server.js";

const newFolder = temporaryFolders();

const broken = ({ verdict }: MeasuredResult): string[] =>
  verdict.reasons.map(({ rule, severity }) => `${rule} ${severity}`);

function only(campaign: Campaign): MeasuredResult {
  const [result, ...more] = campaign.results.values();
  expect(more).toEqual([]);
  return measuredResultSchema.parse(result);
}

const TASKSET = "/usr/bin/taskset";
const canPin = (): boolean => {
  try {
    accessSync(TASKSET, constants.X_OK);
    return process.platform === "linux" && cpus().length > 1;
  } catch {
    return false;
  }
};

/**
 * Starts processes that burn a CPU, each begun with this command. They end with the test.
 * @returns what ends them earlier
 */
function burn(count: number, ...before: string[]): () => void {
  const [program = "", ...parameters] = [...before, process.execPath, "-e", "for (;;);"];
  const burners = Array.from({ length: count }, () =>
    spawn(program, parameters, { stdio: "ignore" }),
  );
  const end = () => burners.forEach((burner: ChildProcess) => void burner.kill("SIGKILL"));
  onTestFinished(end);
  return end;
}

describe.skipIf(process.platform !== "linux")("programs of somebody else beside a run", () => {
  const run = async (endOthers?: () => void) => {
    const campaign = Campaign.run(newFolder(), "iovalkey", ["--duration-mode", "custom:4"]);
    await campaign.waitForLog("building the report");
    endOthers?.();
    await campaign.ends();
    const result = only(campaign);
    const load = result.host_load;
    if (!load) throw new Error("the load of this machine");
    const roles = Object.values(result.resources);
    for (const { run_delay_us } of roles) expect(run_delay_us).toBeGreaterThan(0);
    // All CPUs of the machine, less what our own roles had of them: the pauses around the window
    // are a tenth of it.
    const ours = roles.reduce((total, { cpu_percent }) => total + cpu_percent, 0);
    expect(load.foreign_cpu_percent).toBeLessThan(100 * load.cpus - 0.8 * ours + 10);
    return { campaign, result, load, ours };
  };

  test("a busy loop a CPU: said before the run, suspect by M25, and the host's CPU was the limit", async () => {
    const { campaign, result, load } = await run(burn(cpus().length));
    expect(campaign.foreignLoadWarning).toMatch(/^Other programs use /);
    expect(load.foreign_cpu_percent).toBeGreaterThan(50);
    expect(broken(result)).toContain("M25 suspect");
    expect(result.limited_by?.resource).toBe("host CPU");
  });

  test("our own roles are none: a run is suspect by M25 exactly where others took a tenth of a CPU", async () => {
    const { result, load, ours } = await run();
    expect(ours).toBeGreaterThan(20);
    expect(broken(result).includes("M25 suspect")).toBe(load.foreign_cpu_percent >= 10);
  });
});

describe.skipIf(!canPin())("a load generator that is starved", () => {
  test("by burners on its CPU: suspect by M6; left alone it is not", async () => {
    // A server that takes its time: the generator has little to do.
    const stub = await StubServer.start({ delay_us: 500 });
    const run = async () => {
      const env = { TARGET_URL: stub.url, DURATION: "1", WARMUP: "0.5", CONNECTIONS: "20" };
      const generator = generate(env);
      const pinned = spawn(TASKSET, ["-a", "-p", "-c", "0", String(generator.pid)], {
        stdio: "ignore",
      });
      await new Promise((resolve) => pinned.once("exit", resolve));
      const { code, stdout, stderr } = await generator.ended;
      expect(code, stderr).toBe(0);
      return measuredResultSchema.parse(JSON.parse(stdout));
    };
    expect(broken(await run())).not.toContain("M6 suspect");
    burn(12, TASKSET, "-c", "0");
    expect(broken(await run())).toContain("M6 suspect");
  });
});
