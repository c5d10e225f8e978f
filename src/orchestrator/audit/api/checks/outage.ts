import type { ApiDefect } from "../../../../contract/api-defects.js";
import type { Step } from "../../../../contract/audit.js";
import { rounded } from "../../../../kit/numbers.js";
import { nowMs } from "../../../../kit/system-clock.js";
import { NotChecked } from "../../audited-system.js";
import { type Answered, admittedOf, answersText, withFate } from "../api-answers.js";
import { type ApiCheck, type ApiOutcome, broken, holding, reported } from "../api-check.js";
import { type AuditedApi, BEYOND_QUOTA } from "../audited-api.js";
import { type Command, runCommand } from "../commands.js";
import {
  awayText,
  BEHAVIOUR_TEXTS,
  type Behaviour,
  behaviourOf,
  type ExpectedOutage,
  longestWait,
  type Memory,
  memoryOf,
  settledBehaviour,
} from "../outage-behaviour.js";

/** First requests of a key that are sent while the store is away, at equal distances. */
const PROBES = 12;
/** How often a used-up key asks in a window whether its quota is back. */
const POLLS = 40;
/** How long the store is away: a quarter of a window, within these bounds. */
const AWAY_S = { least: 1, most: 3 };
/** The pauses before each try of whether the limit holds again. */
const PAUSES_S = [0, 0.25, 0.5, 1, 2, 4, 8];
/** Windows may end so much earlier than they are known to. */
const WINDOW_SHARE = 0.95;

/** Everything that was seen of an outage. */
interface Seen {
  usedUp: Answered[];
  away: Answered[];
  awayText: string;
  behaviour: Behaviour;
  usedUpAway: Answered[];
  /** The first requests of a key when the limit held again. */
  recovered?: Answered[];
  /** How long after the store was back that was. */
  recovered_s?: number;
  usedUpAfter: Answered[];
  memory: Memory;
}

/**
 * Waits until a used-up quota comes back. A key that is used up then stays so for a whole window,
 * whether windows begin with a key's first request or with a clock.
 * @returns whether it came back
 */
async function untilWindowBegins(api: AuditedApi): Promise<boolean> {
  const key = await api.freshKey();
  await api.useUp(key);
  for (let left = POLLS * 1.5; left > 0; left--) {
    await api.pause(api.window_ms / POLLS);
    if ((await api.send(key)).fate === "admitted") return true;
  }
  return false;
}

/** Sends the first requests of fresh keys, and does not wait for their answers. */
async function probe(api: AuditedApi): Promise<Promise<Answered>[]> {
  const { least, most } = AWAY_S;
  const away_ms = 1000 * Math.min(most, Math.max(least, api.limits.window_s / 4));
  const probes: Promise<Answered>[] = [];
  while (probes.length < PROBES) {
    probes.push(api.send(await api.freshKey()));
    await api.pause(away_ms / PROBES);
  }
  return probes;
}

const untilDenied = (api: AuditedApi, key: string): Promise<Answered[]> =>
  api.oneByOne(key, api.limits.points + BEYOND_QUOTA, {}, ({ fate }) => fate !== "admitted");

/** Tries until a fresh key gets its quota and is then denied. */
async function untilLimited(api: AuditedApi): Promise<Answered[] | undefined> {
  for (const pause_s of PAUSES_S) {
    await api.pause(1000 * pause_s);
    const answers = await untilDenied(api, await api.freshKey());
    if (answers.at(-1)?.fate === "denied" && admittedOf(answers) > 0) return answers;
  }
  return undefined;
}

/** How many requests of a used-up key an undisturbed limiter can admit so long after its first. */
function mostAfter(api: AuditedApi, elapsed_ms: number): number {
  const { points } = api.limits;
  if (elapsed_ms >= WINDOW_SHARE * api.window_ms) return points;
  const isFilledUp = !["fixed-window", "sliding-window"].includes(api.settings.algorithm);
  return isFilledUp ? Math.ceil((points * elapsed_ms) / api.window_ms) + 1 : 0;
}

/** Takes the store away, and brings it back whatever happens meanwhile. */
async function breakAndMend<Value>(
  commands: { break: Command; mend: Command },
  signal: AbortSignal,
  meanwhile: () => Promise<Value>,
): Promise<Value> {
  try {
    await runCommand(commands.break, signal);
    return await meanwhile();
  } finally {
    await runCommand(commands.mend);
  }
}

async function seenOf(api: AuditedApi, commands: { break: Command; mend: Command }): Promise<Seen> {
  const isWhole = await untilWindowBegins(api);
  const key = await api.freshKey();
  const usedUp = await api.useUp(key);

  const pending = await breakAndMend(commands, api.signal, async () => {
    const usedUpAway = api.atOnce(key, api.limits.points + BEYOND_QUOTA);
    usedUpAway.catch(() => {});
    return { away: await probe(api), usedUpAway, end_ms: nowMs() };
  });
  const mended_ms = nowMs();

  const recovered = await untilLimited(api);
  const usedUpAfter = await untilDenied(api, key);
  const [away, usedUpAway] = await Promise.all([Promise.all(pending.away), pending.usedUpAway]);

  const elapsed_ms = (usedUpAfter.at(-1)?.answered_ms ?? mended_ms) - (usedUp[0]?.sent_ms ?? 0);
  const most = isWhole ? mostAfter(api, elapsed_ms) : api.limits.points;
  return {
    usedUp,
    away,
    awayText: awayText(away, pending.end_ms),
    behaviour: settledBehaviour(away.map((answer) => behaviourOf(answer, pending.end_ms))),
    usedUpAway,
    usedUpAfter,
    memory: memoryOf(admittedOf(usedUpAfter), most, api.limits.points),
    ...(recovered && { recovered, recovered_s: secondsAfter(mended_ms, recovered) }),
  };
}

const secondsAfter = (from_ms: number, answers: readonly Answered[]): number =>
  rounded(((answers.at(-1)?.answered_ms ?? from_ms) - from_ms) / 1000, 2);

/** Whether a used-up key got a quota of its own elsewhere, and then was denied there, too. */
const isDoubled = ({ usedUpAway }: Seen): boolean =>
  admittedOf(usedUpAway) > 0 && withFate(usedUpAway, "denied").length > 0;

const MEMORY_TEXTS: Readonly<Record<Memory, string>> = {
  remembered: "a used-up quota was remembered",
  forgotten: "a used-up quota was forgotten: it was whole again",
  unknown: "whether a used-up quota was remembered cannot be told here, as its window had ended",
};

function seenText(seen: Seen): string {
  const { behaviour, away, recovered_s, memory } = seen;
  const back =
    recovered_s === undefined
      ? "the limit did not hold again"
      : `the limit held again within ${recovered_s} s after the store was back`;
  return [
    `it ${BEHAVIOUR_TEXTS[behaviour]} (${seen.awayText}; answers after at most ${longestWait(away)} s)`,
    back,
    isDoubled(seen) ? "a used-up key got a second quota while the store was away" : "",
    MEMORY_TEXTS[memory],
  ]
    .filter(Boolean)
    .join("; ");
}

/** The smallest sequence: a used-up key and fresh ones, before, while the store is away, and after. */
function stepsOf(seen: Seen, promised: string): Step[] {
  const { usedUp, away, usedUpAway, recovered = [], usedUpAfter } = seen;
  return [
    {
      sent: `${usedUp.length} requests on a key, until it is denied`,
      answered: answersText(usedUp),
    },
    {
      sent: `--break, and then the first requests of ${away.length} keys`,
      answered: seen.awayText,
      promised,
    },
    {
      sent: `${usedUpAway.length} requests on the used-up key at once, while the store is away`,
      answered: answersText(usedUpAway),
    },
    {
      sent: "--mend, and then requests on fresh keys, until one is denied after its quota",
      answered: answersText(recovered) || "none was",
    },
    { sent: "requests on the used-up key", answered: answersText(usedUpAfter) },
  ];
}

const DEFECTS: Readonly<Record<Behaviour, ApiDefect>> = {
  open: "fails-open",
  closed: "fails-closed",
  error: "fails-with-error",
  hangs: "hangs-with-store",
};

/** The first defect by what `--expect` promises. */
function defectOf(seen: Seen, { behaviour, remembered }: ExpectedOutage): ApiDefect | undefined {
  if (behaviour && seen.behaviour !== behaviour) return DEFECTS[seen.behaviour];
  if (!seen.recovered) return "limit-lost-after-outage";
  if (!remembered) return undefined;
  if (isDoubled(seen)) return "quota-doubled-in-outage";
  return seen.memory === "forgotten" ? "quota-forgotten" : undefined;
}

const promisedText = ({ behaviour, remembered }: ExpectedOutage): string =>
  [
    behaviour ? `it ${BEHAVIOUR_TEXTS[behaviour]}` : "",
    "the limit holds again after it",
    remembered ? "a used-up quota stays used up" : "",
  ]
    .filter(Boolean)
    .join("; ");

function outcomeOf(seen: Seen, expected: ExpectedOutage | undefined): ApiOutcome {
  const text = seenText(seen);
  if (!expected) {
    const holds = seen.behaviour !== "hangs" && seen.recovered !== undefined;
    return {
      ...reported(holds, "nothing: it is told, unless --expect says what is right", text),
      steps: stepsOf(seen, "nothing"),
    };
  }
  const promised = promisedText(expected);
  const defect = defectOf(seen, expected);
  return defect ? broken(defect, promised, text, stepsOf(seen, promised)) : holding(promised, text);
}

export const outage: ApiCheck = {
  id: "outage",
  title: "When the store fails",
  isLast: true,
  promise: "What --expect says of an outage of its store; without it, what happens is told.",
  matters:
    "An outage of its store turns a limiter into none, or an API into one that denies everybody. Which it is should be a decision.",
  unsupportedReason: ({ outage: commands, carrier }) => {
    if (!commands) return "no --break and --mend were given";
    return carrier.hasOneKey
      ? "it takes several keys, and all requests have the same here"
      : undefined;
  },
  cost: ({ points }) => ({
    requests: PROBES + 1.5 * POLLS + (5 + PAUSES_S.length) * (points + BEYOND_QUOTA),
    windows: 2,
  }),
  async run(api) {
    const { outage: commands } = api.settings;
    if (!commands) throw new NotChecked("no --break and --mend were given");
    return outcomeOf(await seenOf(api, commands), commands.expected);
  },
};
