import { MAX_KEY_LENGTH } from "../../../contract/ranges.js";
import type { Answers, AuditedSystem } from "../audited-system.js";
import { type Check, outcomeOf } from "../check.js";
import { admittedInAll } from "../expected.js";

/** The share of a window of the wall clock that has passed when a pair is tried. */
const BEGIN = 0.1;
const MOST_TRIES = 3;

/** The number of requests beyond the quota. */
const BEYOND_QUOTA = 4;

/** Two keys that a careless limiter takes for one. */
interface Pair {
  what: string;
  keys: (fresh: string) => [string, string];
  /**
   * Whether the keys are always the same, so that they must meet a window of the wall clock which
   * nobody has used.
   */
  isSame?: true;
}

const longKeys = (length: number) => (fresh: string) =>
  ["a", "b"].map((end) => fresh + "x".repeat(length - fresh.length - 1) + end) as [string, string];

const PAIRS: readonly Pair[] = [
  { what: "empty", keys: () => ["", " "], isSame: true },
  { what: "64 kB", keys: longKeys(65_536) },
  { what: `${MAX_KEY_LENGTH} characters`, keys: longKeys(MAX_KEY_LENGTH) },
  { what: "NUL", keys: (fresh) => [`${fresh}\0a`, `${fresh}\0b`] },
  { what: "braces as hash tags", keys: (fresh) => [`{${fresh}}a`, `{${fresh}}b`] },
  { what: "empty braces", keys: (fresh) => [`{}${fresh}a`, `{}${fresh}b`] },
  { what: "unicode", keys: (fresh) => [`${fresh}é`, `${fresh}e\u0301`] },
  { what: "beyond 16 bits", keys: (fresh) => [`${fresh}\u{1F600}`, `${fresh}\u{1F601}`] },
  { what: "newline", keys: (fresh) => [`${fresh}\na`, `${fresh}\nb`] },
  {
    what: "line of a protocol",
    keys: (fresh) => [`${fresh}\r\nFLUSHALL\r\n`, `${fresh}\r\nPING\r\n`],
  },
  { what: "trailing blank", keys: (fresh) => [fresh, `${fresh} `] },
  { what: "case", keys: (fresh) => [`${fresh}k`, `${fresh}K`] },
  { what: "percent sign", keys: (fresh) => [`${fresh}%20`, `${fresh}+`] },
  { what: "separator", keys: (fresh) => [`${fresh}:a`, `${fresh}:b`] },
  { what: "names of an object", keys: () => ["__proto__", "constructor"], isSame: true },
];

type Fate = "counted apart" | "refused" | "merged" | "wrong";

interface PairOutcome {
  fate: Fate;
  /** A text on the answers, where the keys were not counted apart. */
  text: string;
}

/** Whether the server, the library or the store refused a key, which was then never counted. */
const isRefused = (answers: Answers): boolean => answers.failed.length === answers.all.length;

/** Whether as many requests were admitted as a key of its own gets. */
function isRightlyCounted(system: AuditedSystem, { failed, admitted, bursts }: Answers): boolean {
  const { least, most } = admittedInAll(system.algorithm, system.limits, bursts);
  return failed.length === 0 && admitted >= least && admitted <= most;
}

async function tryPair(system: AuditedSystem, { keys, isSame }: Pair): Promise<PairOutcome> {
  const { points } = system.limits;
  for (let tries = 1; ; tries++) {
    const [firstKey, secondKey] = keys(system.freshKey());
    const begin = isSame && system.alignedTo(BEGIN);
    // Requests beyond the quota show that it was the quota that was admitted.
    const count = points + BEYOND_QUOTA;
    const first = await system.oneByOne([firstKey], count, begin);
    const second = await system.oneByOne([secondKey], count);
    if (system.metEdge(first.with(second)) && tries < MOST_TRIES) continue;

    const answersOfKeys = [first, second];
    const refused = answersOfKeys.filter(isRefused);
    const counted = answersOfKeys.filter((answers) => !isRefused(answers));
    if (counted.every((answers) => isRightlyCounted(system, answers))) {
      if (refused.length === 0) return { fate: "counted apart", text: "" };
      const statuses = refused.map(({ all }) => String(all[0]?.status ?? "none"));
      return { fate: "refused", text: [...new Set(statuses)].join(", ") };
    }

    // A bucket may have refilled a few points since the first key was used up.
    const isMerged =
      first.failed.length === 0 && second.failed.length === 0 && second.admitted <= points / 2;
    return {
      fate: isMerged ? "merged" : "wrong",
      text: `${first.admitted} and ${second.admitted} admitted`,
    };
  }
}

export const hostileKeys: Check = {
  id: "hostile-keys",
  title: "Hostile keys",
  promise: "Any text is counted as a key of its own or is refused; two keys are never merged.",
  matters:
    "Keys come from outside: who can choose one that is merged with another's uses up its quota.",
  async run(system) {
    const outcomes: (PairOutcome & { what: string })[] = [];
    for (const pair of PAIRS) {
      const outcome = await tryPair(system, pair);
      outcomes.push({ what: pair.what, ...outcome });
    }

    const withFate = (fate: Fate) => outcomes.filter((outcome) => outcome.fate === fate);
    const seen = [`${withFate("counted apart").length} pairs counted apart`];
    for (const fate of ["merged", "wrong", "refused"] as const) {
      const names = withFate(fate).map(({ what, text }) => (text ? `${what} (${text})` : what));
      if (names.length > 0) seen.push(`${fate}: ${names.join(", ")}`);
    }
    return outcomeOf(
      withFate("merged").length === 0 && withFate("wrong").length === 0,
      `${PAIRS.length} pairs of keys are counted apart or refused`,
      seen.join("; "),
    );
  },
};
