import { usageError } from "../../../kit/errors.js";
import { rounded } from "../../../kit/numbers.js";
import { type Answered, answersText } from "./api-answers.js";

/** What an API does with the first request of a key while its store is away. */
export type Behaviour = "open" | "closed" | "error" | "hangs";

export const BEHAVIOUR_TEXTS: Readonly<Record<Behaviour, string>> = {
  open: "fails open",
  closed: "fails closed",
  error: "answers with an error",
  hangs: "hangs",
};

const BEHAVIOURS = ["open", "closed", "error"] as const;
const REMEMBERED = "remembered";

/** What `--expect` promises of an outage. */
export interface ExpectedOutage {
  behaviour?: (typeof BEHAVIOURS)[number];
  /** Whether a quota that was used up before is still used up afterwards, and was all the time. */
  remembered: boolean;
}

/** Reads `--expect`, such as `closed` or `error,remembered`. @throws usageError */
export function parseExpectedOutage(text: string): ExpectedOutage {
  const words = text.split(",");
  const behaviours = BEHAVIOURS.filter((behaviour) => words.includes(behaviour));
  const remembered = words.includes(REMEMBERED);
  const isKnown = behaviours.length + (remembered ? 1 : 0) === words.length;
  const [behaviour] = behaviours;
  if (!isKnown || behaviours.length > 1)
    throw usageError(
      `--expect ${JSON.stringify(text.slice(0, 80))}: give one of ${BEHAVIOURS.join(", ")}, and ${REMEMBERED} where a used-up quota has to last: --expect closed,${REMEMBERED}`,
    );
  return behaviour ? { behaviour, remembered } : { remembered };
}

/** @param mended_ms when the store was brought back: an answer that came later waited for it */
export function behaviourOf({ fate, answered_ms }: Answered, mended_ms: number): Behaviour {
  if (answered_ms >= mended_ms) return "hangs";
  if (fate === "admitted") return "open";
  return fate === "denied" ? "closed" : "error";
}

/**
 * What most requests met in the second half of the outage, when an API has noticed it.
 * @param behaviours in the order in which the requests were sent
 */
export function settledBehaviour(behaviours: readonly Behaviour[]): Behaviour {
  const later = behaviours.slice(Math.floor(behaviours.length / 2));
  const count = (behaviour: Behaviour) => later.filter((other) => other === behaviour).length;
  return later.reduce((most, other) => (count(other) > count(most) ? other : most));
}

/**
 * What came back while the store was away, in the order of requests, such as
 * `2 × no answer until the store was back, 10 × 503`.
 */
export const awayText = (answers: readonly Answered[], mended_ms: number): string =>
  answersText(
    answers.map((answer) =>
      behaviourOf(answer, mended_ms) === "hangs"
        ? { ...answer, status: null, error: "no answer until the store was back" }
        : answer,
    ),
  );

/** The longest time that any of these waited for its answer, in seconds. */
export const longestWait = (answers: readonly Answered[]): number =>
  rounded(Math.max(...answers.map(({ sent_ms, answered_ms }) => answered_ms - sent_ms)) / 1000, 2);

/** What became of a quota that was used up before the outage. */
export type Memory = "remembered" | "forgotten" | "unknown";

/**
 * @param admitted requests of that key that were admitted after the outage
 * @param most how many of them an undisturbed limiter could have admitted
 */
export function memoryOf(admitted: number, most: number, points: number): Memory {
  if (admitted > most) return "forgotten";
  return most < points ? "remembered" : "unknown";
}
