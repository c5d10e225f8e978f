import { type Answered, admittedOf, answersText } from "../api-answers.js";
import { type ApiCheck, type ApiOutcome, broken, holding, skippedBecause } from "../api-check.js";
import type { ApiSettings } from "../api-settings.js";
import { type AuditedApi, BEYOND_QUOTA } from "../audited-api.js";

/** Two keys that a careless limiter takes for one, or does not count at all. */
interface Pair {
  what: string;
  keys(fresh: string): readonly string[];
}

const longKeys = (length: number) => (fresh: string) =>
  ["a", "b"].map((end) => fresh + "x".repeat(length - fresh.length - 1) + end);

const PAIRS: readonly Pair[] = [
  { what: "empty", keys: () => [""] },
  { what: "names of an object", keys: () => ["__proto__", "constructor"] },
  { what: "100 characters", keys: longKeys(100) },
  { what: "300 characters", keys: longKeys(300) },
  { what: "4 kB", keys: longKeys(4_096) },
  { what: "Unicode", keys: (fresh) => [`${fresh}é`, `${fresh}e\u0301`] },
  { what: "beyond 16 bits", keys: (fresh) => [`${fresh}\u{1F600}`, `${fresh}\u{1F601}`] },
  { what: "control characters", keys: (fresh) => [`${fresh}\0a`, `${fresh}\0b`] },
  { what: "line of a protocol", keys: (fresh) => [`${fresh}\r\nFLUSHALL`, `${fresh}\r\nPING`] },
  { what: "separator", keys: (fresh) => [`${fresh}:a`, `${fresh}:b`] },
  { what: "braces", keys: (fresh) => [`{${fresh}}a`, `{${fresh}}b`] },
  { what: "percent sign", keys: (fresh) => [`${fresh}%20`, `${fresh}+`] },
];

type Fate = "counted apart" | "refused" | "merged" | "never limited";

interface PairOutcome {
  pair: Pair;
  fate: Fate;
  first: readonly Answered[];
  second: readonly Answered[];
}

const pairsFor = ({ carrier }: ApiSettings): Pair[] =>
  PAIRS.filter(({ keys }) => keys("audit").every((key) => carrier.canHold(key)));

const isRefused = (answers: readonly Answered[]): boolean =>
  answers.every(({ fate }) => fate === "other" || fate === "failed");

async function tryPair(api: AuditedApi, pair: Pair): Promise<PairOutcome> {
  const [firstKey = "", secondKey] = pair.keys(await api.freshKey());
  const most = 2 * api.limits.points + BEYOND_QUOTA;
  const first = await api.oneByOne(firstKey, most, {}, ({ fate }) => fate !== "admitted");
  const second = secondKey === undefined ? [] : await api.oneByOne(secondKey, 1);

  const outcome = { pair, first, second };
  if (isRefused(first) || (second.length > 0 && isRefused(second)))
    return { ...outcome, fate: "refused" };
  if (admittedOf(first) === most) return { ...outcome, fate: "never limited" };
  const isMerged = second.length > 0 && admittedOf(second) === 0;
  return { ...outcome, fate: isMerged ? "merged" : "counted apart" };
}

/** The outcome of all pairs, of which the worst one is shown. */
function outcomeOf(outcomes: readonly PairOutcome[], untried: number): ApiOutcome {
  const ofFate = (fate: Fate) => outcomes.filter((outcome) => outcome.fate === fate);
  const fates: readonly Fate[] = ["merged", "never limited", "refused"];
  const texts = fates.flatMap((fate) => {
    const names = ofFate(fate).map(({ pair }) => pair.what);
    return names.length > 0 ? [`${fate}: ${names.join(", ")}`] : [];
  });
  const seen = [`${ofFate("counted apart").length} counted apart`, ...texts].join("; ");
  const promised = `keys of ${outcomes.length} kinds are counted apart or refused`;
  const notes = untried > 0 ? [`the carrier of keys cannot hold ${untried} further kinds`] : [];

  const [shown] = [...ofFate("merged"), ...ofFate("never limited")];
  if (!shown) return holding(promised, seen, notes);
  const { pair, fate, first, second } = shown;
  const defect = fate === "merged" ? "keys-merged" : "key-unlimited";
  const firstStep = {
    sent: `requests on a key (${pair.what})`,
    answered: answersText(first),
    ...(fate === "merged" ? {} : { promised: "it is denied beyond its quota, or refused" }),
  };
  const secondStep = {
    sent: "a request on another such key, which differs in its end",
    answered: answersText(second),
    promised: "it is admitted, or refused",
  };
  const steps = fate === "merged" ? [firstStep, secondStep] : [firstStep];
  return { ...broken(defect, promised, seen, steps), ...(notes.length > 0 ? { notes } : {}) };
}

export const keyTexts: ApiCheck = {
  id: "key-texts",
  title: "Hostile keys",
  promise: "Any text is counted as a key of its own or is refused; two keys are never merged.",
  matters:
    "Keys come from outside: who can choose one that is merged with another's uses up its quota.",
  unsupportedReason: ({ carrier }) => (carrier.holdsAddresses ? "keys are addresses" : undefined),
  cost: ({ points }, settings) => ({
    requests: pairsFor(settings).length * (points + 2),
    windows: 0,
  }),
  async run(api) {
    const pairs = pairsFor(api.settings);
    if (pairs.length === 0) return skippedBecause("the carrier of keys holds no such text");
    const outcomes: PairOutcome[] = [];
    for (const pair of pairs) outcomes.push(await tryPair(api, pair));
    return outcomeOf(outcomes, PAIRS.length - pairs.length);
  },
};
