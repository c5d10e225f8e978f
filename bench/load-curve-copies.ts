import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";

/**
 * What load curves say of a client and of targets that are the client under another name, so that
 * each true ratio is 1. It counts the intervals of 95 % that exclude 1, over targets, rates and
 * figures (CPU of servers and store, p99, throughput at full load). By chance one of twenty does. A
 * count that is reached in less than one of forty such series means that the intervals are too narrow.
 *
 * `npm run bench:curve-copies -- --campaigns 10 --rounds 8 --rates 500,2000` are the defaults (half
 * an hour). `--output FOLDER` keeps the campaigns.
 */
function flagValue(flag: string, fallback: string): string {
  const index = process.argv.indexOf(flag);
  return index < 0 ? fallback : (process.argv[index + 1] ?? "");
}

const campaigns = Number(flagValue("--campaigns", "10"));
const rounds = flagValue("--rounds", "8");
const rates = flagValue("--rates", "500,2000");
const output = flagValue("--output", "");
const cli = fileURLToPath(new URL("../dist/orchestrator/cli.js", import.meta.url));
const home = mkdtempSync(join(tmpdir(), "ratelimit-bench-copies-"));
const COPIES = ["same1", "same2"];
const CLIENT = "ioredis@valkey";
const MISSED_SHARE = 0.05;
const TAIL = 0.025;

interface Ratio {
  interval: { low: number; high: number | null } | null;
  conclusion: string;
}

interface Curve {
  targets: {
    label: string;
    points: { rate_per_second: number; ratios: Record<string, Ratio> }[];
    full_load_ratios: Record<string, Ratio>;
  }[];
}

function writePlugin(path: string): void {
  const options = COPIES.map(
    (id) => `{ id: "${id}", summary: "changes nothing", apply: (client) => client }`,
  );
  writeFileSync(path, `export const plugin = { options: [${options.join(", ")}] };\n`);
}

/** @returns the load curves of a campaign with this seed */
async function measuredCurves(seed: number, plugin: string): Promise<Curve[]> {
  const folder = join(output || home, String(seed));
  const clients = [CLIENT, ...COPIES.map((id) => `${CLIENT}+${id}`)].join(",");
  const flags =
    "--no-copy --load-curve --duration-mode custom:2 --warmup auto --cooldown 0 --runtime local --quiet";
  const words = [cli, "run", "--clients", clients, "--plugin", plugin, ...flags.split(" ")];
  words.push("--rates", rates, "--runs", rounds, "--seed", String(seed), "--output", folder);
  const env = { XDG_STATE_HOME: join(home, "state") };
  await execa(process.execPath, words, { env, stdout: "ignore", stderr: "inherit" });
  const summary = JSON.parse(
    readFileSync(join(folder, "latest", "report", "summary.json"), "utf8"),
  ) as { load_curve: Curve[] };
  return summary.load_curve;
}

/** The intervals of a target by the names of their figures, as `server at 500/s`. */
const intervalsOf = ({ points, full_load_ratios }: Curve["targets"][number]): [string, Ratio][] => [
  ...points.flatMap(({ rate_per_second, ratios }) =>
    Object.entries(ratios).map(([figure, ratio]): [string, Ratio] => [
      `${figure} at ${rate_per_second}/s`,
      ratio,
    ]),
  ),
  ...Object.entries(full_load_ratios).map(([figure, ratio]): [string, Ratio] => [
    `${figure} at full load`,
    ratio,
  ]),
];

const excludesOne = ({ interval }: Ratio): boolean =>
  interval !== null && (interval.low > 1 || (interval.high ?? Number.POSITIVE_INFINITY) < 1);

/** The fewest exclusions of `count` that chance alone reaches with a probability below `TAIL`. */
function tooMany(count: number): number {
  let probability = (1 - MISSED_SHARE) ** count;
  let cumulated = probability;
  let exclusions = 0;
  while (1 - cumulated >= TAIL) {
    exclusions++;
    probability *= (((count - exclusions + 1) / exclusions) * MISSED_SHARE) / (1 - MISSED_SHARE);
    cumulated += probability;
  }
  return exclusions + 1;
}

let count = 0;
const excluded: string[] = [];
const toldApart: string[] = [];
try {
  const plugin = join(home, "same.mjs");
  writePlugin(plugin);
  for (let seed = 1; seed <= campaigns; seed++) {
    for (const { targets } of await measuredCurves(seed, plugin)) {
      for (const target of targets) {
        for (const [figure, ratio] of intervalsOf(target)) {
          if (!ratio.interval) continue;
          count++;
          const text = `campaign ${seed}, ${target.label}, ${figure}: ${ratio.interval.low.toFixed(3)} to ${ratio.interval.high?.toFixed(3)}, ${ratio.conclusion}`;
          if (excludesOne(ratio)) excluded.push(text);
          if (["faster", "slower", "better", "worse"].includes(ratio.conclusion))
            toldApart.push(text);
        }
      }
    }
    console.log(`campaign ${seed}: ${excluded.length} of ${count} intervals exclude 1 so far`);
  }
} finally {
  rmSync(home, { recursive: true, force: true });
}
for (const text of excluded) console.log(text);
const bound = tooMany(count);
console.log(
  `${excluded.length} of ${count} intervals exclude 1 (too narrow from ${bound} on); ${toldApart.length} are told apart`,
);
if (excluded.length >= bound) process.exitCode = 1;
