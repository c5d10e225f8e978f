import type { SentRequest } from "../../../contract/sender.js";
import type { Answers, AuditedSystem } from "../audited-system.js";
import { type Check, outcomeOf } from "../check.js";

/** How often it is asked whether the key is admitted again. */
const EVERY_MS = 50;
/** Headers count whole seconds, so they may round up by nearly one. */
const ROUNDING_MS = 1000;
/** Time that sends, answers and timers take beyond what was measured. */
const SLACK_MS = 100;
/** It is asked a little longer than the longest wait that a limiter can name. */
const LONGER_MS = 1500;

/** A wait in seconds that an answer names, by the header that names it. */
type NamedWait = { header: string; seconds: number };

/** Seconds since 1970 instead of seconds from now. */
const EPOCH_S = 1_000_000_000;

/**
 * The waits that a denial names: `Retry-After`, `X-RateLimit-Reset`, and both forms of the draft's
 * `RateLimit` fields.
 */
export function namedWaits(denied: Pick<SentRequest, "headers" | "answered_ms">): NamedWait[] {
  const { headers = {}, answered_ms } = denied;
  const texts: [header: string, text: string | undefined][] = [
    ["retry-after", headers["retry-after"]],
    ["x-ratelimit-reset", headers["x-ratelimit-reset"]],
    ["ratelimit-reset", headers["ratelimit-reset"]],
    ["ratelimit", /\b(?:t|reset)=(\d+)/.exec(headers.ratelimit ?? "")?.[1]],
  ];
  return texts.flatMap(([header, text]) => {
    if (text === undefined) return [];
    return [{ header, seconds: waitSeconds(header, text, answered_ms) }];
  });
}

/** A wait may be a date, a time since 1970, or a number of seconds from the answer on. */
function waitSeconds(header: string, text: string, answered_ms: number): number {
  const value = Number(text);
  if (header === "retry-after" && Number.isNaN(value))
    return (Date.parse(text) - answered_ms) / 1000;
  return value > EPOCH_S ? value - answered_ms / 1000 : value;
}

/** What a denial's headers say about the quota that is not true. */
export function wrongQuota(
  { headers = {} }: Pick<SentRequest, "headers">,
  points: number,
): string[] {
  const limit = headers["x-ratelimit-limit"] ?? headers["ratelimit-limit"];
  const remaining =
    headers["x-ratelimit-remaining"] ??
    headers["ratelimit-remaining"] ??
    /\b(?:r|remaining)=(\d+)/.exec(headers.ratelimit ?? "")?.[1];

  const problems: string[] = [];
  if (limit !== undefined && Number.parseInt(limit, 10) !== points)
    problems.push(`a limit of ${limit} was named, it is ${points}`);
  if (remaining !== undefined && Number(remaining) > 0)
    problems.push(`${remaining} points were left, by an answer that denied`);
  return problems;
}

/** A denial, and when its key was admitted again. */
export interface Denial {
  denied: SentRequest;
  /** Requests on the key after it, in their order. */
  later: readonly SentRequest[];
}

/** What a denial's headers said that did not come true. */
export function untrueHeaders({ denied, later }: Denial, points: number): string[] {
  const waits = namedWaits(denied);
  const readmission = later.find(({ status }) => status === 200);
  const problems = wrongQuota(denied, points);
  if (!waits.some(({ header }) => header === "retry-after"))
    problems.push("no Retry-After was given");

  for (const { header, seconds } of waits) {
    const until_ms = denied.answered_ms + 1000 * seconds;
    // A client that does as it is told comes back at this moment or later.
    const turnedAway = later.find(
      ({ status, sent_ms }) =>
        status === 429 &&
        sent_ms >= until_ms + SLACK_MS &&
        sent_ms <= (readmission?.sent_ms ?? sent_ms),
    );
    if (turnedAway) {
      problems.push(`${header} named ${seconds} s, and the key was still denied after it`);
      continue;
    }

    const waited_ms = readmission && readmission.answered_ms - denied.sent_ms;
    if (waited_ms !== undefined && 1000 * seconds > waited_ms + ROUNDING_MS + SLACK_MS)
      problems.push(
        `${header} named ${seconds} s, and the key was admitted again after ${(waited_ms / 1000).toFixed(1)} s`,
      );
  }
  return problems;
}

/** Uses a key up at that moment of its window, and asks for it until it must have come back. */
async function deny(system: AuditedSystem, after_ms: number): Promise<Denial | undefined> {
  const key = system.freshKey();
  const { points } = system.limits;
  const last = after_ms + system.window_ms + LONGER_MS;
  const moments: number[] = [];
  for (let moment = after_ms + 2 * EVERY_MS; moment < last; moment += EVERY_MS)
    moments.push(moment);

  const answers: Answers = await system.send([
    { after_ms: 0, keys: [key], count: 1 },
    // One by one: a limiter that is not atomic denies, too.
    ...Array.from({ length: points + 1 }, () => ({
      after_ms,
      keys: [key],
      count: 1,
      waits: true as const,
    })),
    ...moments.map((moment) => ({ after_ms: moment, keys: [key], count: 1 })),
  ]);
  const [denied] = answers.requireDecided().limited;
  return denied && { denied, later: answers.all.filter(({ sent_ms }) => sent_ms > denied.sent_ms) };
}

/** The waits that a denial named, and the one that came true. */
function denialText({ denied, later }: Denial): string {
  const waits = namedWaits(denied).map(({ header, seconds }) => `${header} ${seconds} s`);
  const readmission = later.find(({ status }) => status === 200);
  const waited = readmission
    ? `${((readmission.answered_ms - denied.answered_ms) / 1000).toFixed(1)} s`
    : "never";
  return `${waits.join(", ") || "none"}, admitted after ${waited}`;
}

export const headers: Check = {
  id: "headers",
  title: "Response headers",
  isConcurrent: true,
  promise: "What a denial's headers say about limit, rest and wait comes true.",
  matters:
    "Clients obey them: too short a wait makes them hammer, too long a wait takes quota away.",
  async run(system) {
    const { points } = system.limits;
    const denials: { when: string; denial: Denial }[] = [];
    for (const share of [0, 0.75]) {
      const denial = await deny(system, share * system.window_ms);
      if (denial) denials.push({ when: share === 0 ? "at once" : "late in the window", denial });
    }
    if (denials.length === 0)
      return outcomeOf(false, "a key beyond its quota is denied", "it was admitted");
    const problems = denials.flatMap(({ when, denial }) =>
      untrueHeaders(denial, points).map((problem) => `${when}: ${problem}`),
    );
    const descriptions = denials.map(({ when, denial }) => `${when}: ${denialText(denial)}`);
    return outcomeOf(
      problems.length === 0,
      "the key is admitted when the headers say so, and at most a second before",
      [...descriptions, ...problems].join("; "),
    );
  },
};
