import { setTimeout as delay } from "node:timers/promises";
import type { ClientSettings } from "../../contract/server-api.js";

/** Settings that all clients share; docs/clients.md has the reason for each value. */
export const common = {
  requestTimeoutMs: 5_000,
  connectTimeoutMs: 3_000,
  /** The time between two attempts to connect again. */
  reconnectDelayMs: 200,
  tcpKeepAliveMs: 30_000,
} as const;

/** What the description of almost every client says. */
export const commonProperties = {
  control: false,
  survivesStoreRestart: true,
  survivesScriptFlush: true,
} as const;

/** What a client of a service opens, by every protocol. */
export const SERVICE_CONNECTIONS = 10;

/** How long `open` tries before it gives up. */
export const OPEN_DEADLINE_MS = 5_000;

/**
 * In a result, in place of a setting that was not passed: the library's own value, whatever its
 * version has.
 */
const LIBRARY_DEFAULT = "default";

/**
 * The value of `proto` in the answer to HELLO. Libraries give pairs as a map, an object, or
 * a list of one of two forms.
 */
function protocolIn(answer: unknown): unknown {
  if (answer instanceof Map) return answer.get("proto");
  if (!Array.isArray(answer)) return (answer as { proto?: unknown } | undefined)?.proto;
  const pair = answer.find((entry) => (entry as { key?: unknown } | null)?.key === "proto");
  return pair ? (pair as { value?: unknown }).value : answer[answer.indexOf("proto") + 1];
}

/**
 * The settings as a result reports them. Where only some were passed, the protocol is that
 * which the connection speaks, as the store names it, because other versions of a library have
 * another default.
 * @param shared the settings that all clients share, where null means that the library has no such
 * setting
 * @param passed the settings that were passed, by default the shared ones
 * @param hello sends HELLO without a version, which changes nothing
 */
export async function reportedSettings(
  shared: ClientSettings,
  passed: ClientSettings | undefined,
  hello: () => Promise<unknown>,
): Promise<ClientSettings> {
  if (!passed) return shared;
  // A store that does not know it speaks what the library chose.
  const version = Number(protocolIn(await hello().catch(() => undefined)));
  return {
    ...Object.fromEntries(
      Object.entries(shared).map(([name, value]) => [
        name,
        value === null ? null : LIBRARY_DEFAULT,
      ]),
    ),
    ...passed,
    protocol: version === 2 || version === 3 ? `RESP${version}` : LIBRARY_DEFAULT,
  };
}

/** The reply, or an Error when it takes longer than this. */
export function bounded<Reply>(reply: Promise<Reply>, timeoutMs: number): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new Error(`no answer within ${timeoutMs} ms`)),
      timeoutMs,
    );
    const settled =
      <Value>(settle: (value: Value) => void) =>
      (value: Value) => {
        clearTimeout(timer);
        settle(value);
      };
    reply.then(settled(resolve), settled(reject));
  });
}

/**
 * Tries until the deadline of `open`. @param attempt gets the time that is left @throws its last
 * error
 */
export async function retried<Value>(attempt: (leftMs: number) => Promise<Value>): Promise<Value> {
  const deadlineMs = performance.now() + OPEN_DEADLINE_MS;
  for (;;) {
    try {
      return await attempt(Math.max(1, deadlineMs - performance.now()));
    } catch (error) {
      if (performance.now() + common.reconnectDelayMs >= deadlineMs) throw error;
      await delay(common.reconnectDelayMs);
    }
  }
}
