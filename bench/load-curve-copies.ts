import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { EXIT } from "../src/kit/errors.js";
import { flagValue } from "./flag-value.js";

/**
 * What load curves say of a client and of the same client under another name, so that each true ratio
 * is 1. It counts the intervals of 95 % that exclude 1, over rates and figures (CPU of server and
 * store, p99). By chance one of twenty does. A count that is reached in less than one of forty such
 * series means that the intervals are too narrow.
 *
 * `npm run bench:curve-copies -- --campaigns 10 --rounds 8 --rates 500,2000` are the defaults (half
 * an hour). `--output FOLDER` keeps the campaigns.
 */
const campaigns = Number(flagValue("--campaigns", "10"));
const rounds = flagValue("--rounds", "8");
const rates = flagValue("--rates", "500,2000");
const output = flagValue("--output", "");
const cli = fileURLToPath(new URL("../dist/orchestrator/cli.js", import.meta.url));
const home = mkdtempSync(join(tmpdir(), "ratelimit-bench-copies-"));
const CLIENT = "ioredis@valkey";
const COPY = "same";
const MISSED_SHARE = 0.05;
const TAIL = 0.025;

interface Ratio {
  interval: { low: number; high: number | null } | null;
  conclusion: string;
}

interface Curve {
  targets: { points: { rate_per_second: number; ratios: Record<string, Ratio> }[] }[];
}

const PLUGIN = `export const plugin = {
  options: [{ id: "${COPY}", summary: "changes nothing", apply: (client) => client }],
};
`;

/** @returns the load curves of a campaign with this seed */
async function measuredCurves(seed: number, plugin: string): Promise<Curve[]> {
  const folder = join(output || home, String(seed));
  const clients = `${CLIENT},${CLIENT}+${COPY}`;
  const flags =
    "--no-copy --duration-mode custom:2 --warmup 2 --cooldown 0 --runtime local --quiet";
  const words = [cli, "run", "--clients", clients, "--plugin", plugin, ...flags.split(" ")];
  words.push("--rates", rates, "--runs", rounds, "--seed", String(seed), "--output", folder);
  const env = { XDG_STATE_HOME: join(home, "state") };
  const { exitCode } = await execa(process.execPath, words, {
    env,
    stdout: "ignore",
    stderr: "inherit",
    reject: false,
  });
  // A busy machine may make single runs invalid.
  if (exitCode !== EXIT.done && exitCode !== EXIT.runsInvalid)
    throw new Error(`a campaign ended with ${exitCode}`);
  const summary = JSON.parse(
    readFileSync(join(folder, "latest", "report", "summary.json"), "utf8"),
  ) as { load_curve: Curve[] };
  return summary.load_curve;
}

/** The ratios of a curve by the names of their figures, as `server at 500/s`. */
const ratiosOf = ({ targets }: Curve): [string, Ratio][] =>
  targets.flatMap(({ points }) =>
    points.flatMap(({ rate_per_second, ratios }) =>
      Object.entries(ratios).map(([figure, ratio]): [string, Ratio] => [
        `${figure} at ${rate_per_second}/s`,
        ratio,
      ]),
    ),
  );

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
  writeFileSync(plugin, PLUGIN);
  for (let seed = 1; seed <= campaigns; seed++) {
    for (const [figure, ratio] of (await measuredCurves(seed, plugin)).flatMap(ratiosOf)) {
      if (!ratio.interval) continue;
      const { low, high } = ratio.interval;
      const ends = `${low.toFixed(3)} to ${high?.toFixed(3)}`;
      const text = `campaign ${seed}, ${figure}: ${ends}, ${ratio.conclusion}`;
      count++;
      if (excludesOne(ratio)) excluded.push(text);
      if (/^(better|worse)/.test(ratio.conclusion)) toldApart.push(text);
    }
    console.log(`campaign ${seed}: ${excluded.length} of ${count} intervals exclude 1 so far`);
  }
} finally {
  rmSync(home, { recursive: true, force: true });
}
for (const text of excluded) console.log(text);
const bound = tooMany(count);
console.log(
  `${excluded.length} of ${count} intervals exclude 1 (too narrow from ${bound} on)`,
  `${toldApart.length} are told apart`,
);
if (excluded.length >= bound) process.exitCode = 1;
