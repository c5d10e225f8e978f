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
  /** The check that must find its defect; right ones have none. */
  check?: string;
  /** What the audit is told beyond address, quota and key. */
  flags?: readonly string[];
  /** How many of them run side by side: one where it is absent. */
  instances?: number;
  /** How its store is taken away by a test of outages. */
  outage?: "restarts" | "hangs";
  /** How many it admits at once: its quota where this is absent. */
  burst?: number;
  needs?: readonly Need[];
}

const MEMORY = "wrong-in-memory.mjs";
const STORE = "wrong-on-store.mjs";

export const wrongApis: readonly Api[] = [
  { name: "never-active", program: MEMORY, check: "active" },
  { name: "off-by-one", program: MEMORY, check: "active" },
  { name: "counts-after-answer", program: STORE, check: "active" },
  { name: "check-then-act", program: STORE, check: "active" },
  {
    name: "window-edge",
    program: MEMORY,
    check: "window-edge",
    flags: ["--algorithm", "sliding-window"],
  },
  { name: "per-instance", program: MEMORY, check: "instances", instances: 2 },
  { name: "per-connection", program: MEMORY, check: "connections" },
  { name: "forwarded-for", program: MEMORY, check: "bypass" },
  { name: "trailing-slash", program: MEMORY, check: "bypass" },
  { name: "letter-case", program: MEMORY, check: "bypass" },
  { name: "wait-in-ms", program: MEMORY, check: "headers" },
  { name: "wait-too-short", program: MEMORY, check: "headers" },
  { name: "wait-in-the-past", program: MEMORY, check: "headers" },
  { name: "fails-open", program: STORE, check: "outage", outage: "restarts" },
  { name: "fails-closed", program: STORE, check: "outage", outage: "restarts" },
  { name: "hangs-with-store", program: STORE, check: "outage", outage: "hangs" },
  { name: "forgets-after-restart", program: STORE, check: "outage", outage: "restarts" },
  { name: "truncated-keys", program: MEMORY, check: "isolation" },
  { name: "shared-routes", program: MEMORY, check: "isolation" },
  { name: "status-403", program: MEMORY, check: "active" },
];

export const rightApis: readonly Api[] = [
  { name: "express-rate-limit", program: "right-express-rate-limit.mjs" },
  { name: "rate-limiter-flexible", program: "right-rate-limiter-flexible.mjs", instances: 2 },
  { name: "@fastify/rate-limit", program: "right-fastify-rate-limit.mjs" },
  { name: "@nestjs/throttler", program: "right-nestjs-throttler.mjs" },
  { name: "Python's standard library", program: "right_standard_library.py" },
  { name: "nginx", program: "nginx", flags: ["--algorithm", "gcra"], needs: ["nginx"] },
];
