import type { ApiDefect } from "../../../src/contract/api-defects.js";
import type { Need } from "../need-names.js";

/** How a key is carried by the requests to all of these APIs. */
export const KEY_FLAG = "header:X-Api-Key";

/** The path that every API serves. */
export const PATH = "/api/items";

/** A server that an audit by address must judge rightly. */
export interface Api {
  /** For wrong ones the defect, which its program is told. */
  name: string;
  /** Its file in this folder; nginx has its configuration from `nginx.ts`. */
  program: string;
  /** What must be found, and the check that must find it; right ones have neither. */
  defect?: ApiDefect;
  check?: string;
  /** What the audit is told beyond address, quota and key; a fixed window where they are absent. */
  flags?: readonly string[];
  /** How many of them run side by side: one where it is absent. */
  instances?: number;
  /** How its store is taken away by the audit, if it is. */
  outage?: "restarts" | "hangs";
  /** How many it admits at once: its quota where this is absent. */
  burst?: number;
  needs?: readonly Need[];
}

const wrong = (
  program: string,
  name: string,
  check: string,
  defect: ApiDefect,
  rest: Partial<Api> = {},
): Api => ({ name, program, check, defect, ...rest });

const inMemory = wrong.bind(undefined, "wrong-in-memory.mjs");
const onStore = wrong.bind(undefined, "wrong-on-store.mjs");

export const wrongApis: readonly Api[] = [
  inMemory("never-active", "active", "never-active"),
  inMemory("off-by-one", "active", "off-by-one"),
  inMemory("status-403", "denied-status", "denied-status"),
  onStore("counts-after-answer", "at-once", "counts-late"),
  onStore("check-then-act", "at-once", "counts-late"),
  inMemory("window-edge", "edge-burst", "double-at-edge", {
    flags: ["--algorithm", "sliding-window"],
  }),
  inMemory("per-instance", "instances", "quota-per-instance", { instances: 2 }),
  inMemory("per-connection", "connections", "quota-per-connection"),
  inMemory("forwarded-for", "bypass-forwarding", "renewed-by-forwarding-header"),
  inMemory("trailing-slash", "bypass-path", "renewed-by-path"),
  inMemory("letter-case", "bypass-case", "renewed-by-letter-case"),
  inMemory("wait-in-ms", "retry-after", "retry-after-in-ms"),
  inMemory("wait-too-short", "retry-after", "retry-after-too-short"),
  inMemory("wait-in-the-past", "retry-after", "retry-after-in-the-past"),
  inMemory("truncated-keys", "key-texts", "keys-merged"),
  inMemory("shared-routes", "other-paths", "routes-share-a-key", {
    flags: ["--algorithm", "fixed-window", "--also", "/api/reports=5/2s"],
  }),
  onStore("fails-open", "outage", "fails-open", {
    outage: "restarts",
    flags: ["--expect", "closed"],
  }),
  onStore("fails-closed", "outage", "fails-closed", {
    outage: "restarts",
    flags: ["--expect", "error"],
  }),
  onStore("hangs-with-store", "outage", "hangs-with-store", {
    outage: "hangs",
    flags: ["--expect", "error"],
  }),
  onStore("forgets-after-restart", "outage", "quota-forgotten", {
    outage: "restarts",
    flags: ["--algorithm", "fixed-window", "--expect", "error,remembered"],
  }),
];

export const rightApis: readonly Api[] = [
  { name: "express-rate-limit", program: "right-express-rate-limit.mjs" },
  { name: "rate-limiter-flexible", program: "right-rate-limiter-flexible.mjs", instances: 2 },
  { name: "@fastify/rate-limit", program: "right-fastify-rate-limit.mjs" },
  // A key that goes on asking stays blocked, which is no fixed window.
  {
    name: "@nestjs/throttler",
    program: "right-nestjs-throttler.mjs",
    flags: ["--algorithm", "unknown"],
  },
  { name: "Python's standard library", program: "right_standard_library.py" },
  { name: "nginx", program: "nginx", flags: ["--algorithm", "gcra"], needs: ["nginx"] },
];
