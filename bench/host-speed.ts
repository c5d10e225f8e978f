/**
 * How often a calm host would make a run suspect (M21): the host is measured before and after windows in which nothing
 * runs, as around runs of a campaign. `npm run bench:host-speed -- --runs 100 --window 5`.
 * It prints the share of the windows that lie beyond each limit, and the limit that one in 100 exceeds.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { HostSpeed } from "../src/contract/host-speed.js";
import { median } from "../src/contract/numbers.js";

const LIMITS_PERCENT = [1, 2, 3, 4, 5];

function numberOf(flag: string, fallback: number): number {
  const index = process.argv.indexOf(flag);
  const value = index < 0 ? fallback : Number(process.argv[index + 1]);
  if (value >= 0 && value <= 10_000) return value;
  process.stderr.write(`${flag}: give a number from 0 to 10000\n`);
  process.exit(2);
}

const runs = Math.max(5, numberOf("--runs", 100));
const windowS = numberOf("--window", 5);
// Its threads need built files.
const { HostSpeedProbe } = (await import(
  new URL("../dist/machine/host-speed.js", import.meta.url).href
)) as typeof import("../src/machine/host-speed.js");

const probe = new HostSpeedProbe();
const recorded: { before: HostSpeed; after: HostSpeed }[] = [];
for (let run = 0; run < runs; run++) {
  const before = await probe.measure();
  await sleep(1000 * windowS);
  recorded.push({ before, after: await probe.measure() });
}
await probe.close();

/** Distances of the indices from their median, in %, ascending. @param read a time of one measurement */
function distances(read: (speed: HostSpeed) => number | undefined): number[] {
  const times = recorded.flatMap(({ before, after }) => {
    const [first, second] = [read(before), read(after)];
    return first === undefined || second === undefined ? [] : Math.sqrt(first * second);
  });
  const middle = median(times);
  return times.map((time) => 100 * Math.expm1(Math.abs(Math.log(time / middle)))).sort((a, b) => a - b);
}

const pieces: Record<string, (speed: HostSpeed) => number | undefined> = {
  integer: ({ integer_us }) => integer_us,
  chase: ({ chase_us }) => chase_us,
  loopback: ({ ping_pong_us }) => ping_pong_us,
};
process.stdout.write(`${runs} windows of ${windowS} s, each between two measurements\n`);
for (const [name, read] of Object.entries(pieces)) {
  const found = distances(read);
  if (found.length === 0) continue;
  const at = (share: number) =>
    (found[Math.min(found.length - 1, Math.ceil(share * found.length) - 1)] ?? 0).toFixed(2);
  const beyond = LIMITS_PERCENT.map((limit) => `${limit} %: ${found.filter((each) => each > limit).length}`);
  process.stdout.write(
    `${name}: half within ${at(0.5)} %, 99 % within ${at(0.99)} %; beyond ${beyond.join(", ")}\n`,
  );
}
if (process.argv.includes("--json")) process.stdout.write(`${JSON.stringify(recorded)}\n`);
