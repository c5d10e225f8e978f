import { MAX_DESCRIPTORS } from "../../contract/ranges.js";
import type { Counts } from "../../contract/request-outcomes.js";
import type { StoreEvidence } from "../../contract/store.js";
import { usesStore } from "../../contract/target.js";
import { sum } from "../../kit/numbers.js";
import {
  accountedRequests,
  addCounts,
  answeredRequests,
  ends,
  followedEnds,
  sentBetweenReadings,
} from "../counts.js";
import {
  type Evidence,
  explained,
  hasEffect,
  invalid,
  notApplicable,
  notChecked,
  type Rule,
  type RuleFinding,
  suspect,
} from "../evidence.js";

/**
 * M27: the store counted each key as often as it was consumed. With traffic `boundary` the counts
 * judge the target instead (M24).
 */
export const admissionsConserved: Rule = {
  id: "M27",
  check({ admissions, configuration, store, boundary }: Evidence): RuleFinding | undefined {
    if (!admissions) {
      // A generator that was started by hand cannot read the store.
      return configuration ? notChecked("what the store counted for each key") : undefined;
    }
    if (admissions.status === "not known")
      return boundary ? undefined : notApplicable(admissions.reason);
    const { keys, below, above, worst } = admissions;
    if (!worst) return undefined;

    const { least, most, counted } = worst;
    const sent = most > least ? `${least} to ${most}` : most;
    const text = `the store miscounted ${below + above} of ${keys} keys, most of all ${worst.key}: ${sent} points were consumed, ${counted} are counted`;
    // Others may use an external store, so a surplus proves nothing.
    return { severity: store?.external && below === 0 ? "suspect" : "invalid", text };
  },
};

/** M1 demands that requests/s × measured seconds equal the answered requests. */
export const throughputFollows: Rule = {
  id: "M1",
  check({ requests, duration, counts }) {
    if (requests.total !== answeredRequests(counts)) {
      return invalid(
        `the result has ${requests.total} answered requests, but ${answeredRequests(counts)} were counted`,
      );
    }
    const implied = requests.average * duration;
    // The rate in the result is rounded to three decimals.
    if (Math.abs(implied - requests.total) <= 0.5 + duration * 0.001) return undefined;
    return invalid(`${requests.average}/s over ${duration} s are not ${requests.total} requests`);
  },
};

/**
 * The decisions that the store counted between its two readings. It is undefined where one
 * of its nodes does not count them.
 */
function storeDecisions({ nodes }: StoreEvidence): number | undefined {
  const counted = nodes.map(({ at_start, at_end }) =>
    at_start.decisions === undefined || at_end.decisions === undefined
      ? undefined
      : at_end.decisions - at_start.decisions,
  );
  return counted.includes(undefined) ? undefined : sum(counted.map((count) => count ?? 0));
}

type Range = { least: number; most: number };

/**
 * What the consumers have counted over their whole life. It is undefined where one of them
 * does not count.
 */
function consumesOf(consumers: Evidence["consumers"]) {
  const total = {
    calls: 0,
    allowed: 0,
    limited: 0,
    failed: 0,
    commands: 0,
    withoutStore: 0,
    inFlight: 0,
  };
  for (const { at_start, at_end } of consumers) {
    const [before, after] = [at_start.consumes, at_end.consumes];
    if (!before || !after) return undefined;
    for (const name of ["calls", "allowed", "limited", "failed"] as const)
      total[name] += after[name] - before[name];
    total.commands += (after.commands ?? 0) - (before.commands ?? 0);
    total.withoutStore += (after.without_store ?? 0) - (before.without_store ?? 0);
    total.inFlight += at_end.in_flight;
  }
  return total;
}

/**
 * The range of calls that the store must have counted. A call that failed, is under way or
 * was decided without the store may not have reached it. Undefined where a consumer does not count.
 */
function callsOf({ consumers, configuration }: Evidence): Range | undefined {
  const counted = consumesOf(consumers);
  if (!counted) return undefined;
  const { calls, allowed, failed, inFlight, commands, withoutStore } = counted;
  const decided = allowed + counted.limited;
  const most = inFlight > 0 || withoutStore > 0 ? calls : decided + failed;
  // A service asks the store about each descriptor of a call.
  if (configuration?.target.service) return decisionsOf(counted);
  // One decision may take two commands; of a failed one it is not known how many reached the store.
  if (commands > 0)
    return { least: commands - 2 * (failed + inFlight + withoutStore), most: commands };
  if (configuration?.target.decides_locally) return { least: allowed - withoutStore, most };

  // With more decisions than calls, one call decides on all descriptors of a request.
  return decided + failed > calls
    ? { least: calls - failed - inFlight - withoutStore, most: calls }
    : { least: decided - withoutStore, most };
}

/**
 * The range of decisions on descriptors. All decisions of a call under way may have been
 * made although nobody got them.
 */
function decisionsOf(counted: NonNullable<ReturnType<typeof consumesOf>>): Range {
  const { allowed, limited, failed, withoutStore, inFlight } = counted;
  const decided = allowed + limited;
  return { least: decided - withoutStore, most: decided + failed + inFlight * MAX_DESCRIPTORS };
}

const isWithin = (count: number, { least, most }: Range): boolean =>
  count >= least && count <= most;

function storeReconciles(evidence: Evidence): RuleFinding | undefined {
  const { consumers, store, configuration } = evidence;
  const notCompared = (why: string): RuleFinding => notApplicable(`decisions of the store: ${why}`);
  if (configuration && !usesStore(configuration.target))
    return notCompared("the target has no store");
  // Calls may have been lost or sent again, and a new process counts from 0.
  if (hasEffect(evidence, ["cuts", "ends"])) return explained("decisions of the store");
  // A service with a cache of denials asks the store about some of them only, which may be none.
  if (configuration?.target.service && configuration.target.decides_locally)
    return notCompared("some decisions do not reach it");

  const calls = callsOf(evidence);
  const storeCount = store && storeDecisions(store);
  if (!store || !calls || storeCount === undefined)
    return notCompared("the store does not count them");
  if (isWithin(storeCount, calls)) return undefined;

  const range = calls.most > calls.least ? `${calls.least} to ${calls.most}` : calls.least;
  const text = `${namesOf(consumers)} decided ${range} consumes, the store counted ${storeCount}`;
  // Others may use an external store, so additional calls prove nothing.
  if (store.external && storeCount > calls.least)
    return suspect(`${text} (do others use it, too?)`);

  return invalid(text);
}

/**
 * Checks that the service counted each decision that the consumers got, by outcome. It counts the
 * points of a request, not the request.
 */
function serviceReconciles(evidence: Evidence): RuleFinding | undefined {
  const { consumers, service, configuration } = evidence;
  if (configuration && !configuration.target.service) return undefined;
  if (hasEffect(evidence, ["cuts", "ends"])) return explained("decisions of the service");
  const counted = consumesOf(consumers);
  if (!service || !counted)
    return configuration
      ? notApplicable("decisions of the service: there is no reading of it")
      : undefined;

  const { role, at_start, at_end } = service;
  const cost = configuration?.limits.cost ?? 1;
  const { least, most } = decisionsOf(counted);
  const decided = at_end.decisions - at_start.decisions;
  if (!isWithin(decided, { least: least * cost, most: most * cost }))
    return invalid(
      `${namesOf(consumers)} decided ${least * cost} points, ${role} counted ${decided}`,
    );
  // A request of several points may be denied for some of them.
  if (cost > 1) return undefined;

  for (const outcome of ["allowed", "limited"] as const) {
    const [before, after] = [at_start[outcome], at_end[outcome]];
    if (before === undefined || after === undefined) continue;
    const serviceCount = after - before;
    if (serviceCount < counted[outcome] || serviceCount > counted[outcome] + most - least)
      return invalid(
        `${namesOf(consumers)} counted ${counted[outcome]} ${outcome}, ${role} ${serviceCount}`,
      );
  }

  return undefined;
}

const namesOf = (consumers: Evidence["consumers"]): string =>
  consumers.map(({ id }) => id).join(", ");

/** In an open loop every send of the schedule was sent, dropped, or still waiting at the end. */
function scheduleReconciles({ counts, schedule }: Evidence): RuleFinding | undefined {
  if (!schedule) return undefined;
  const { offered, sent, dropped, unsent } = schedule;
  if (offered === sent + dropped + unsent && sent === counts.sent) return undefined;
  return invalid(
    `${offered} sends fell due: ${sent} sent (${counts.sent} by the other count), ${dropped} dropped, ${unsent} unsent`,
  );
}

function requestsReconcile({ counts, request, turns }: Evidence): RuleFinding | undefined {
  const { sent, followed, cut } = counts;
  if (accountedRequests(counts) !== sent)
    return invalid(`${sent} requests were sent, ${accountedRequests(counts)} are accounted for`);
  // When targets take turns, requests may be in flight at the end of each turn.
  const most = request.load.connections * (turns?.turns ?? 1);
  if (followed > most)
    return invalid(`${followed} requests were in flight at the end, ${most} at most may be`);
  if (followedEnds(counts) !== followed)
    return invalid(
      `${followed} requests were followed, the ends of ${followedEnds(counts)} are known`,
    );
  return cut === 0 ? undefined : invalid(`${cut} requests were cut at the end instead of followed`);
}

const countList = (counts: Counts): number[] => {
  const { by_code: _codes, after_window, ...outcomes } = counts;
  return [...Object.values(outcomes), ...Object.values(after_window)];
};

function partsReconcile({ counts, generators, slices }: Evidence): RuleFinding | undefined {
  const parts = countList(addCounts(generators.map((part) => part.counts)));
  if (countList(addCounts([counts])).some((count, index) => count !== parts[index]))
    return invalid("the counts are not the sum of the generators' counts");
  const inSlices = [sum(slices.allowed), sum(slices.limited), sum(slices.failed)];
  const { allowed, limited, failed_answers, connection_errors, timed_out } = counts;
  const inWindow = [allowed, limited, failed_answers + connection_errors + timed_out];
  if (inWindow.every((count, index) => count === inSlices[index])) return undefined;
  return invalid(
    `the slices hold ${inSlices.join(", ")} allowed, limited and failed requests instead of ${inWindow.join(", ")}`,
  );
}

/** The servers received the requests that they answered, and none that was not sent. */
function serversReconcile(evidence: Evidence): RuleFinding | undefined {
  const { counts, warmup, consumers } = evidence;
  if (hasEffect(evidence, ["cuts", "ends"], "server")) return explained("requests of the servers");
  const received = sum(
    consumers.map(({ at_window_open, at_end }) => at_end.requests - at_window_open.requests),
  );
  const requestEnds = ends(counts);
  const surelyReceived = answeredRequests(requestEnds) + requestEnds.failed_answers;
  const sent = sentBetweenReadings({ counts, warmup });
  if (received >= surelyReceived && received <= sent) return undefined;

  return invalid(
    `${sent} requests were sent and ${surelyReceived} answered, ${namesOf(consumers)} counted ${received}`,
  );
}

/** M8: counts reconcile from the generator through the server, and the service, to the store. */
export const countsReconcile: Rule = {
  id: "M8",
  check(evidence) {
    const { consumers } = evidence;
    const finding =
      requestsReconcile(evidence) ?? scheduleReconciles(evidence) ?? partsReconcile(evidence);
    if (finding) return finding;
    if (consumers.length === 0) return notApplicable("the server reports no counters");

    const findingOfServers = serversReconcile(evidence);
    if (findingOfServers?.severity === "invalid") return findingOfServers;
    const findings = [
      findingOfServers,
      serviceReconciles(evidence),
      storeReconciles(evidence),
    ].filter((finding) => finding !== undefined);
    return findings.find(({ severity }) => severity === "invalid") ?? findings[0];
  },
};

/** M9: errors are not throughput. What the target did with the requests is its outcome (M24). */
export const somethingSent: Rule = {
  id: "M9",
  check: ({ counts }) => (counts.sent === 0 ? invalid("no request was sent") : undefined),
};
