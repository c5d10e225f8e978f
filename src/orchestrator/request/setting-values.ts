import { z } from "zod";
import type { Warmup } from "../../contract/configuration.js";
import type { dimensions } from "../../contract/dimensions.js";
import { type NumberName, RANGES } from "../../contract/ranges.js";
import type { TurnLengths } from "../../contract/turns.js";
import { SLICE_MS } from "../../judge/merging/slices.js";
import { type BenchError, usageError } from "../../kit/errors.js";
import { requireKnown } from "../../targets/did-you-mean.js";
import { workloads } from "../../traffic/workloads.js";
import {
  CUSTOM_DURATION,
  DYNAMIC_DURATION,
  FIXED_DURATIONS,
  NAMED_DURATIONS,
  REQUESTS_DURATION,
} from "./durations.js";
import type { DurationMode } from "./request.js";

/** The value of settings that the run or the campaign decides itself. */
export const AUTO = "auto";

/** The error for a value that its setting does not take. */
export const badValue = (source: string, value: string, remedy: string): BenchError =>
  usageError(`${source} ${JSON.stringify(value.slice(0, 60))}: ${remedy}`);

const WHOLE_NUMBER = /^\d{1,12}$/;
const DECIMAL_NUMBER = /^\d{1,9}(\.\d{1,3})?$/;

/**
 * The number that a text names, in the range of its name.
 * @param isWhole whether the number has no fraction
 * @param otherWord a word that is valid too, for the message
 * @throws usageError
 */
export function numberIn(
  name: NumberName,
  flag: string,
  text: string,
  isWhole = true,
  otherWord = "",
): number {
  const { min, max, unit } = RANGES[name];
  const form = isWhole ? WHOLE_NUMBER : DECIMAL_NUMBER;
  const value = form.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;

  const kind = isWhole ? "a whole number" : "a number";
  const alternative = otherWord && `, or ${otherWord}`;
  throw badValue(flag, text, `give ${kind} from ${min} to ${max}${unit}${alternative}`);
}

/** The numbers that a text lists, or `auto` where the campaign finds the number. @throws usageError */
export function countsIn(
  dimension: (typeof dimensions)[number],
  flag: string,
  text: string,
  notices: string[],
): number[] | typeof AUTO {
  const otherWord = "canBeFound" in dimension ? AUTO : "";
  if (otherWord && text.trim() === AUTO) return AUTO;
  return listOf(flag, text, notices).map((word) =>
    numberIn(dimension.key, flag, word, true, otherWord),
  );
}

/** The shortest lengths of turns in milliseconds, e.g. `50,100`. @throws usageError */
export function turnIn(flag: string, text: string): TurnLengths {
  const [lead_in_ms = "", slice_ms = "", ...others] = text.split(",");
  if (others.length > 0 || slice_ms === "")
    throw badValue(flag, text, "give a lead-in and a slice, e.g. 50,100");

  const slice = numberIn("slice", flag, slice_ms);
  if (slice % SLICE_MS > 0) throw badValue(flag, text, `give a slice of whole ${SLICE_MS} ms`);
  return { lead_in_ms: numberIn("lead-in", flag, lead_in_ms, false), slice_ms: slice };
}

/** A warm-up in seconds, or `auto`. @throws usageError that mentions both */
export const warmupIn = (flag: string, text: string): Warmup =>
  text === AUTO ? AUTO : numberIn("warmup", flag, text, false, AUTO);

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The values of a setting that may hold commas: those of a JSON list, or the text itself. */
export function exactTexts(text: string): string[] {
  if (!text.startsWith("[")) return [text];
  const list = z.array(z.string()).min(1).safeParse(jsonIn(text));
  return list.success ? list.data : [text];
}

/** Joins the values of a flag that is given several times and whose values may hold commas. */
export const joinedExactly = (text: string, earlierTexts?: string): string =>
  earlierTexts === undefined ? text : JSON.stringify([...exactTexts(earlierTexts), text]);

/** The words of a list by commas or spaces, each once. @throws usageError for an empty list */
export function listOf(flag: string, text: string, notices: string[]): string[] {
  const words = text.split(/[,\s]+/).filter(Boolean);
  if (words.length === 0) throw usageError(`${flag}: give at least one value`);

  const repeated = words.filter((word, index) => words.indexOf(word) !== index);
  if (repeated.length > 0)
    notices.push(`${flag}: ${[...new Set(repeated)].join(", ")} was given more than once`);
  return [...new Set(words)];
}

/**
 * The mode that a text such as `dynamic`, `fixed30`, `custom:N` or `requests:N,…` names.
 * @throws usageError that lists the modes
 */
export function durationMode(text: string, source = "--duration-mode"): DurationMode {
  if (text === DYNAMIC_DURATION) return { mode: "dynamic" };

  const fixedS = Object.hasOwn(FIXED_DURATIONS, text) ? FIXED_DURATIONS[text] : undefined;
  if (fixedS !== undefined) return { mode: "fixed", seconds: fixedS };

  if (text.startsWith(CUSTOM_DURATION)) {
    const flag = `${source} ${CUSTOM_DURATION}`;
    return {
      mode: "fixed",
      seconds: numberIn("duration", flag, text.slice(CUSTOM_DURATION.length)),
    };
  }
  if (text.startsWith(REQUESTS_DURATION)) {
    const flag = `${source} ${REQUESTS_DURATION}`;
    const words = listOf(flag, text.slice(REQUESTS_DURATION.length), []);
    return { mode: "requests", counts: words.map((word) => numberIn("requests", flag, word)) };
  }
  throw badValue(
    source,
    text,
    `give ${NAMED_DURATIONS.join(", ")} or ${CUSTOM_DURATION}N (seconds), or ${REQUESTS_DURATION}N,…`,
  );
}

/**
 * The workloads of these names, where `both` stands for all.
 * @throws usageError that suggests the nearest name
 */
export function workloadsOf(words: readonly string[]): string[] {
  const ids = workloads.map(({ id }) => id);
  for (const word of words) requireKnown("workload", word, [...ids, "both"]);
  return words.includes("both") ? ids : [...words];
}
