import { z } from "zod";
import { decimalNumber, wholeNumber } from "../kit/env.js";
import { byDimension, DEFAULT_COUNT } from "./dimensions.js";
import { MIN_RUNS } from "./statistics.js";

/**
 * What a number may be, by the setting that gives it: flags, files, variables, documents and help
 * read this list.
 */
export const RANGES = {
  duration: { min: 1, max: 86_400, unit: " seconds" },
  requests: { min: 1, max: 1_000_000_000, unit: " requests" },
  connections: { min: 1, max: 10_000, unit: "" },
  ...byDimension(({ max, other }) => ({ min: DEFAULT_COUNT, max, unit: ` ${other}` })),
  "payload-bytes": { min: 1, max: 1_000_000, unit: " bytes" },
  rate: { min: 0.1, max: 1_000_000, unit: " requests a second" },
  "trace-speed": { min: 0.001, max: 100_000, unit: "" },
  steps: { min: 2, max: 100, unit: " rates" },
  runs: { min: 1, max: 1_000, unit: "" },
  "max-runs": { min: MIN_RUNS, max: 1_000, unit: "" },
  warmup: { min: 0, max: 3_600, unit: " seconds" },
  "lead-in": { min: 1, max: 60_000, unit: " milliseconds" },
  slice: { min: 100, max: 5_000, unit: " milliseconds" },
  cooldown: { min: 0, max: 3_600, unit: " seconds" },
  complexity: { min: 1, max: 1_000_000, unit: "" },
  points: { min: 1, max: 1_000_000_000, unit: "" },
  window: { min: 1, max: 86_400, unit: " seconds" },
  cost: { min: 1, max: 1_000_000, unit: " points" },
  block: { min: 0, max: 86_400, unit: " seconds" },
  margin: { min: 0.1, max: 50, unit: " %" },
  tolerate: { min: 0.2, max: 90, unit: " %" },
  seed: { min: 0, max: 4_294_967_295, unit: "" },
  workers: { min: 1, max: 64, unit: "" },
} as const;

/** The longest key of a request, in characters. */
export const MAX_KEY_LENGTH = 256;

/** The most descriptors of a request: keys that its limiter decides on. */
export const MAX_DESCRIPTORS = 16;

export type NumberName = keyof typeof RANGES;

/** The schema of a whole number in a document. */
export const wholeIn = (name: NumberName) => z.int().min(RANGES[name].min).max(RANGES[name].max);
/** The schema of a number in a document. */
export const numberSchema = (name: NumberName) =>
  z.number().min(RANGES[name].min).max(RANGES[name].max);

/** The schema of a whole number in an environment variable. */
export const wholeText = (name: NumberName) => wholeNumber(RANGES[name].min, RANGES[name].max);
/** The schema of a number in an environment variable. */
export const decimalText = (name: NumberName) => decimalNumber(RANGES[name].min, RANGES[name].max);
