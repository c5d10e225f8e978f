import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test, vi } from "vitest";
import { EXIT } from "../../../../src/kit/errors.js";
import { previewCampaign, previewLines } from "../../../../src/orchestrator/campaign/dry-run.js";
import { groupsEstimate } from "../../../../src/orchestrator/plan/estimate.js";
import { expectFailure } from "../../../helpers/errors.js";
import { temporaryFolders } from "../../../helpers/folders.js";
import { copyPackage } from "../../../helpers/package-folder.js";
import { planFor, requestOf } from "../../../helpers/request.js";

const newFolder = temporaryFolders();

/** A package whose doctor says this of every machine. */
function packageOf(
  ...checks: { check: string; status: string; text: string; fix?: string }[]
): string {
  const folder = newFolder();
  for (const name of ["report", "scripts"]) mkdirSync(join(folder, name));
  writeFileSync(join(folder, "report", "__main__.py"), "");
  writeFileSync(
    join(folder, "scripts", "check-config.sh"),
    `cat <<'END'\n${JSON.stringify({ checks })}\nEND\n`,
  );
  return folder;
}

/**
 * An installed package whose Python environment is not made yet, on a machine without any store's
 * program.
 */
function freshPackage(): string {
  const folder = newFolder();
  copyPackage(folder);
  const programs = newFolder();
  const python = execFileSync("python3", ["-c", "import sys; print(sys.executable)"], {
    encoding: "utf8",
  });
  symlinkSync(python.trim(), join(programs, "python3"));
  vi.stubEnv("PATH", programs);
  vi.stubEnv("XDG_CACHE_HOME", newFolder());
  return folder;
}

afterEach(() => {
  vi.unstubAllEnvs();
});

describe("a dry run of a fresh installation", () => {
  const quick = () => requestOf("--quick", "--runtime", "local", "--output", newFolder());
  const labels = ({ plan }: Awaited<ReturnType<typeof previewCampaign>>) =>
    plan.configurations.map(({ configuration }) => configuration.target.label);

  test("plans all that the run measures with the store that it brings, and says so", async () => {
    const found = await previewCampaign(quick(), freshPackage());
    expect(labels(found)).toEqual(expect.arrayContaining(["none", "iovalkey"]));
    expect(found.plan.skips).toEqual([]);
    expect(previewLines(found).join("\n")).toContain("Valkey");
    expect(found.notices).toHaveLength(1);
  });

  test("names the Node.js that servers have", async () => {
    const found = await previewCampaign(quick(), freshPackage());
    expect(previewLines(found)[0]).toContain(`Node.js ${process.versions.node}`);
  });

  test("refuses a version of the store that it does not bring, as the run does", async () => {
    const asked = ["--clients", "iovalkey@valkey~1.0", "--runtime", "local"];
    const other = requestOf(...asked, "--output", newFolder());
    await expectFailure(
      () => previewCampaign(other, freshPackage()),
      EXIT.environment,
      "valkey~1.0",
    );
  });

  test("is refused where the run is: a checkout is set up by a script of its own", async () => {
    const checkout = freshPackage();
    writeFileSync(join(checkout, "pyproject.toml"), "");
    await expectFailure(() => previewCampaign(quick(), checkout), EXIT.environment, "setup.sh");
  });
});

const local = (...flags: string[]) =>
  requestOf("--clients", "none", "--runtime", "local", "--output", newFolder(), ...flags);

test("a dry run of a search prints its objective, how trials are chosen, and how long they are likely to take", async () => {
  const search = [
    "--find-max-rate",
    "--slo",
    "p99<10s",
    "--rate",
    "500",
    "--duration-mode",
    "custom:12",
  ];
  const flags = [...search, "--warmup", "3", "--clients", "none,memory", "--budget", "20m"];
  const found = await previewCampaign(
    requestOf("--runtime", "local", "--output", newFolder(), ...flags),
    packageOf(),
  );
  const text = previewLines(found).join("\n");
  for (const part of ["p99<10s", "none", "from 500/s", "5 trials", "20 min"])
    expect(text).toContain(part);
  expect(found.estimate.runs).toBeGreaterThan(60);
  expect(found.estimate.seconds).toBe(1200);
  expect(found.plan.max_rate).toMatchObject({
    objectives: ["p99<10s"],
    from: 500,
    trials_per_rate: 5,
  });
});

test("a dry run prints groups and what the runs can decide", () => {
  const flags = ["--clients", "iovalkey,valkey-glide,none", "--concurrency", "8", "--runs", "6"];
  const found = {
    runtime: { id: "local", choice: "as asked" },
    plan: planFor(...flags),
    estimate: { runs: 1, seconds: 60, disk_bytes: 1e6 },
    undecidable: [],
    order_cost: [],
    notices: [],
  };
  const lines = previewLines(found);
  expect(lines).toContainEqual(expect.stringMatching(/^ {2}round 6: \([1-4] [1-4] [1-4] [1-4]\)$/));
  expect(lines).toContainEqual(expect.stringMatching(/^reference iovalkey \+ copy: 1 comparison/));
});

test("by turns a dry run says how many targets are up at once, how long they take to start, and their memory", () => {
  const clients = "ioredis@valkey,iovalkey,valkey-glide,node-redis@valkey,none";
  const flags = ["--clients", clients, "--order", "turns", "--runs", "7", "--concurrency", "8"];
  const planOf = (...more: string[]) => planFor(...flags, ...more);
  const plan = planOf();
  const groups = groupsEstimate(plan, { none: 1, standalone: 2 });
  expect(groups).toMatchObject({ groups_per_round: 2, targets: 4, start_s: 8 });
  const found = {
    runtime: { id: "local", choice: "as asked" },
    plan,
    estimate: { runs: 1, seconds: 60, disk_bytes: 1e6, ...(groups ? { groups } : {}) },
    notices: [],
    undecidable: [],
    order_cost: [],
  };
  expect(previewLines(found)).toContainEqual(
    expect.stringMatching(/^by turns: 2 groups .* 4 targets .* GB/),
  );
  // There the servers are missing, and each target has a generator of its own.
  const atLimiter = groupsEstimate(planOf("--layer", "limiter"), {});
  expect(atLimiter?.memory_bytes).toBeGreaterThanOrEqual(4 * 190e6);
  expect(groupsEstimate(planOf("--rate", "100"), {})).toBeUndefined();
});

describe("a dry run reports that the start would be refused:", () => {
  const cores = { check: "cores", status: "warn", text: "2", fix: "4 or more" };
  const fit = { check: "node", status: "ok", text: "v24" };

  test("by a preset that requires a machine without warnings [R-machine-3]", async () => {
    const request = local("--preset", "publication");
    const { refusal } = await previewCampaign(request, packageOf(fit, cores));
    for (const part of ["cores", "4 or more", "--force"]) expect(refusal).toContain(part);
    expect(await previewCampaign(request, packageOf(fit))).not.toHaveProperty("refusal");
    expect(
      await previewCampaign(
        { ...request, start: { ...request.start, strict: false } },
        packageOf(cores),
      ),
    ).not.toHaveProperty("refusal");
  });

  test("for a container engine that does not run", async () => {
    vi.stubEnv("DOCKER_HOST", `unix://${join(newFolder(), "docker.sock")}`);
    const request = requestOf("--quick", "--runtime", "docker", "--output", newFolder());
    const preview = await previewCampaign(request, packageOf());
    expect(preview.plan.runs.length).toBeGreaterThan(0);
    expect(preview.refusal).toContain("Docker is not");
  });

  test("for CPUs that this machine does not have [R-machine-2]", async () => {
    const count = cpus().length;
    const request = local("--cpuset-server", `0-${count}`);
    const refused = () => previewCampaign(request, packageOf());
    await expectFailure(refused, EXIT.environment, `--cpuset-server 0-${count}`);
    expect(
      (await previewCampaign(local("--cpuset-server", "0"), packageOf())).plan.runs.length,
    ).toBeGreaterThan(0);
  });
});
