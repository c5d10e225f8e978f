import { Agent, request } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import type { SenderReport, SenderRequest, SentRequest } from "../../contract/sender.js";
import { definedOnly } from "../../kit/defined-only.js";
import { messageOf } from "../../kit/errors.js";
import { nowMs } from "../../kit/system-clock.js";

const ABOUT_LIMITS = /^(retry-after$|(x-)?ratelimit)/;

/** The time at which a script begins, in milliseconds since 1970. */
function beginOf({ begin }: Pick<SenderRequest, "begin">): number {
  if (begin === undefined) return nowMs();
  if ("at_ms" in begin) return begin.at_ms;
  const { every_ms, offset_ms } = begin;
  const passed_ms = nowMs() - offset_ms;
  return offset_ms + Math.ceil(passed_ms / every_ms) * every_ms;
}

const pathOf = (keys: readonly string[]): string => {
  const query = keys.map((key) => `userId=${encodeURIComponent(key)}`).join("&");
  return query ? `/light?${query}` : "/light";
};

type Answer = Pick<SentRequest, "status" | "error" | "headers">;

/**
 * Sends requests at requested moments. Connections are kept, so that no request of a group waits
 * for one.
 */
export class Sender {
  readonly #agent = new Agent({
    keepAlive: true,
    maxSockets: Number.POSITIVE_INFINITY,
    maxFreeSockets: 20_000,
  });
  readonly #opened = new Map<string, number>();

  async send(script: SenderRequest): Promise<SenderReport> {
    const { servers, groups, timeout_ms } = script;
    const largestCount = Math.max(...groups.map(({ count }) => count));
    const perServer = Math.ceil(largestCount / servers.length);
    await Promise.all(servers.map((server) => this.#open(server, perServer, timeout_ms)));
    const begin_ms = beginOf(script);
    const sent: Promise<SentRequest>[] = [];

    for (const [group, { after_ms, keys, count, waits, addresses }] of groups.entries()) {
      if (waits) await Promise.all(sent);
      const wait_ms = begin_ms + after_ms - nowMs();
      if (wait_ms > 0) await delay(wait_ms);
      const path = pathOf(keys);
      for (let index = 0; index < count; index++) {
        const server = index % servers.length;
        const address = addresses?.[index % addresses.length];
        const place = { group, server, sent_ms: nowMs() };
        const answered = this.#get(`${servers[server]}${path}`, timeout_ms, address);
        sent.push(answered.then((answer) => ({ ...place, answered_ms: nowMs(), ...answer })));
      }
    }

    return { requests: await Promise.all(sent) };
  }

  close(): void {
    this.#agent.destroy();
  }

  /**
   * Opens connections until there are so many, because requests that are sent at once need one
   * each.
   */
  async #open(server: string, count: number, timeoutMs: number): Promise<void> {
    if ((this.#opened.get(server) ?? 0) >= count) return;
    await Promise.all(
      Array.from({ length: count }, () => this.#get(`${server}/healthz`, timeoutMs)),
    );
    this.#opened.set(server, count);
  }

  #get(url: string, timeoutMs: number, address?: string): Promise<Answer> {
    const options = definedOnly({
      agent: this.#agent,
      signal: AbortSignal.timeout(timeoutMs),
      headers: address === undefined ? undefined : { "x-forwarded-for": address },
    });
    return new Promise((resolve) => {
      const failed = (error: unknown) =>
        resolve({ status: null, error: messageOf(error).slice(0, 300) });
      const sent = request(url, options, (answer) => {
        const headers = Object.fromEntries(
          Object.entries(answer.headers).flatMap(([name, value]) =>
            ABOUT_LIMITS.test(name) && value !== undefined ? [[name, String(value)]] : [],
          ),
        );
        const hasHeaders = Object.keys(headers).length > 0;
        answer.on("error", failed);
        answer.once("end", () =>
          resolve(
            definedOnly({
              status: answer.statusCode ?? null,
              headers: hasHeaders ? headers : undefined,
            }),
          ),
        );
        answer.resume();
      });
      sent.on("error", failed);
      sent.end();
    });
  }
}
