import { findKnown } from "../did-you-mean.js";
import { RANDOM_KEY } from "./load-program.js";

/** Keys over which the operations of a run are spread. */
export const KEYSPACE = 50_000;

const SCRIPT_WINDOW_S = 60;

/** An operation of the store layer. Each has an entry in this list. */
interface OperationDescription {
  id: string;
  summary: string;
  /** Whether it reads or writes a value, whose size then is part of the configuration. */
  hasPayload: boolean;
  /**
   * Prefix of the keys that must be there before the load, so that it never meets an absent key.
   */
  filledKeys?: string;
  /** The server's feature that it needs. */
  needs?: "EVAL";
  /** Names of its command in `INFO commandstats`; a run uses one of them. */
  commands: readonly string[];
  /**
   * One of the program's own tests, or a command.
   * @param script the one prepared for the store
   */
  test(script: readonly string[]): { own: string } | { command: readonly string[] };
}

export const operations: readonly OperationDescription[] = [
  {
    id: "set",
    summary: "write a value",
    hasPayload: true,
    filledKeys: "key:",
    commands: ["set"],
    test: () => ({ own: "set" }),
  },
  {
    id: "get",
    summary: "read a value that is there",
    hasPayload: true,
    filledKeys: "key:",
    commands: ["get"],
    test: () => ({ own: "get" }),
  },
  {
    id: "incr",
    summary: "add one to a counter",
    hasPayload: false,
    commands: ["incr"],
    test: () => ({ own: "incr" }),
  },
  {
    id: "script",
    summary: "the fixed-window script of rate-limiter-flexible",
    hasPayload: false,
    needs: "EVAL",
    commands: ["evalsha", "eval"],
    test: (script) => ({
      command: [...script, "1", `rlflx:${RANDOM_KEY}`, "1", String(SCRIPT_WINDOW_S)],
    }),
  },
];

export const operationIds: readonly string[] = operations.map(({ id }) => id);

export const findOperation = (id: string): OperationDescription =>
  findKnown("operation", operations, id);

/** The name of a key that the load program draws. It has 12 digits after the prefix. */
export const keyName = (prefix: string, index: number): string =>
  `${prefix}${String(index).padStart(12, "0")}`;

/**
 * The text of the script that decides in rate-limiter-flexible's class for Redis.
 * @throws Error if it names none
 */
export async function fixedWindowScript(): Promise<string> {
  const { RateLimiterRedis } = await import("rate-limiter-flexible");
  // The class accepts any client: none is called before the first consume.
  const limiter = new RateLimiterRedis({ storeClient: {}, points: 1, duration: SCRIPT_WINDOW_S });
  const { _incrTtlLuaScript: text } = limiter as unknown as { _incrTtlLuaScript?: string };
  if (!text) throw new Error("rate-limiter-flexible names no script");
  return text;
}
