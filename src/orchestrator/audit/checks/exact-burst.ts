import { findStore } from "../../../targets/resolve.js";
import type { Answers, AuditedSystem } from "../audited-system.js";
import { type Check, type CheckOutcome, outcomeOf, rangeText } from "../check.js";
import { admittedRanges, type Range } from "../expected.js";

const REPETITIONS = 20;
/** The requests of a burst, in quotas. */
const QUOTAS = 5;

/** The most bursts. Those that met the end of a window of the wall clock say nothing. */
const MOST_TRIES = 3 * REPETITIONS;

const SERVERS = 4;

/** The answers to a burst on a fresh key; undefined where it does not lie in one window. */
async function burst(system: AuditedSystem, servers: number): Promise<Answers | undefined> {
  const answers = await system.burst(system.freshKey(), QUOTAS * system.limits.points, servers);
  return system.metEdge(answers) ? undefined : answers.requireDecided();
}

/** By how many requests more were admitted than the range allows; below zero where it was less. */
const excessOf = (admitted: number, { least, most }: Range): number =>
  Math.max(0, admitted - most) + Math.min(0, admitted - least);

async function run(system: AuditedSystem, servers: number): Promise<CheckOutcome> {
  const { points } = system.limits;
  const counts: number[] = [];
  const excesses: number[] = [];
  for (let tries = 0; counts.length < REPETITIONS && tries < MOST_TRIES; tries++) {
    const answers = await burst(system, servers);
    if (!answers) continue;
    const [range] = admittedRanges(system.algorithm, system.limits, [answers.burst]);
    const { admitted } = answers;
    counts.push(admitted);
    if (range) excesses.push(excessOf(admitted, range));
  }

  const wrong = excesses.filter((excess) => excess !== 0).length;
  const [excess = 0] = excesses;
  // A limiter that admits all requests has no quota.
  const isQuota = Math.max(...counts) < QUOTAS * points;
  const isAlways = excess !== 0 && isQuota && excesses.every((other) => other === excess);

  const seen = rangeText({ least: Math.min(...counts), most: Math.max(...counts) });
  const { atomic, notAtomicOn = [] } = system.limiter;
  const isDeclared = atomic === false || notAtomicOn.includes(system.target.store);
  const outcome = outcomeOf(
    wrong === 0,
    `${points} of ${QUOTAS * points} at once are admitted, ${counts.length} times`,
    wrong === 0 ? seen : `${seen}; ${wrong} of ${counts.length} bursts differ`,
    wrong > 0 && isDeclared ? ["the limiter is declared as not atomic here"] : [],
  );
  return isAlways ? { ...outcome, countsBursts: true, excess } : { ...outcome, countsBursts: true };
}

export const exactBurst: Check = {
  id: "exact-burst",
  title: "Exact burst",
  promise: "Of many requests at once on a fresh key exactly the quota is admitted.",
  matters:
    "Clients retry, pages load in parallel, attackers do it on purpose: a limiter that reads, decides and then writes admits all that come in between.",
  run: (system) => run(system, 1),
};

export const exactBurstOnServers: Check = {
  id: "exact-burst-4-servers",
  title: `Exact burst, ${SERVERS} servers`,
  promise: "The quota holds for all servers together.",
  matters:
    "An API runs in more than one process. Counters in the process admit the quota once for each of them.",
  unpromisedReason: ({ store }) =>
    findStore(store).engine === undefined
      ? "its counters are those of one process: each server has its own"
      : undefined,
  serverCount: SERVERS,
  run: (system) => run(system, SERVERS),
};
