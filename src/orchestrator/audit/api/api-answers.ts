import type { Burst } from "../expected.js";
import type { ApiAnswer } from "./api-client.js";

/**
 * What an answer says about the request. `other` is an answer that neither admits nor denies, e.g. 404
 * or a redirect; a request that got none, or a failure of the server, has `failed`.
 */
export type Fate = "admitted" | "denied" | "failed" | "other";

export type Answered = ApiAnswer & { fate: Fate };

export function fateOf({ status }: Pick<ApiAnswer, "status">, deniedStatus: number): Fate {
  if (status === deniedStatus) return "denied";
  if (status === null || status >= 500) return "failed";
  return status >= 200 && status < 300 ? "admitted" : "other";
}

export const withFate = (answers: readonly Answered[], fate: Fate): Answered[] =>
  answers.filter((answer) => answer.fate === fate);

export const admittedOf = (answers: readonly Answered[]): number =>
  withFate(answers, "admitted").length;

/** Requests that were sent together, as one burst. */
export const burstOf = (answers: readonly ApiAnswer[]): Burst => ({
  from_ms: Math.min(...answers.map(({ sent_ms }) => sent_ms)),
  to_ms: Math.max(...answers.map(({ answered_ms }) => answered_ms)),
  count: answers.length,
});

/** Requests that were sent one after the other, each as a burst of its own. */
export const burstsOf = (answers: readonly ApiAnswer[]): Burst[] =>
  answers.map((answer) => burstOf([answer]));

const answerText = ({ status, error }: ApiAnswer): string => String(status ?? error ?? "no answer");

/** Answers in their order, where equal ones in a row are counted: `20 × 200, 3 × 429`. */
export function answersText(answers: readonly ApiAnswer[]): string {
  const rows: { text: string; count: number }[] = [];
  for (const answer of answers) {
    const text = answerText(answer);
    const last = rows.at(-1);
    if (last?.text === text) last.count++;
    else rows.push({ text, count: 1 });
  }
  return rows.map(({ text, count }) => (count === 1 ? text : `${count} × ${text}`)).join(", ");
}
