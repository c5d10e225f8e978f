import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";

/**
 * The accuracy of a plan's estimate: compares the estimate of campaigns with 12 runs with their duration. The first
 * estimate knows nothing about this machine, the others use the durations of earlier campaigns. Flags are passed on, e.g.
 * `npm run bench:estimate -- --runtime docker`.
 */
const CAMPAIGNS = 3;
const cli = fileURLToPath(new URL("../dist/orchestrator/cli.js", import.meta.url));
const home = mkdtempSync(join(tmpdir(), "ratelimit-bench-estimate-"));
const flags = ["--clients", "iovalkey,ioredis@valkey,valkey-glide", "--runs", "4", "--concurrency", "20"];
flags.push(
  "--duration-mode",
  "custom:5",
  "--warmup",
  "2",
  "--cooldown",
  "0.5",
  "--output",
  join(home, "results"),
);

/** Runs the campaign, or with `--dry-run` previews it. @returns its output and the seconds it took */
async function run(...more: string[]): Promise<{ output: string; seconds: number }> {
  const began = performance.now();
  const words = ["run", ...flags, ...process.argv.slice(2), ...more];
  const { stdout } = await execa(process.execPath, [cli, ...words], {
    env: { XDG_STATE_HOME: join(home, "state") },
    stderr: "inherit",
    reject: false,
  });
  return { output: stdout, seconds: (performance.now() - began) / 1000 };
}

try {
  for (let campaign = 1; campaign <= CAMPAIGNS; campaign++) {
    const { output } = await run("--dry-run", "--json");
    const { estimate } = JSON.parse(output) as { estimate: { seconds: number } };
    const { seconds } = await run();
    const ratio = estimate.seconds / seconds;
    const known = campaign === 1 ? "nothing known of this machine" : "learned";
    process.stdout.write(
      `campaign ${campaign}, ${known}: estimated ${estimate.seconds} s, took ${seconds.toFixed(1)} s, ratio ${ratio.toFixed(3)}\n`,
    );
  }
} finally {
  rmSync(home, { recursive: true, force: true });
}
