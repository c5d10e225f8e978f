import { EventEmitter } from "node:events";
import type { ClientSettings } from "../../contract/server-api.js";
import { within } from "../../kit/deadline.js";
import type { Libraries } from "../target-types.js";
import { common, SERVICE_CONNECTIONS as connections, retried } from "./client-settings.js";

export const HTTP_PACKAGE = "undici";

/** How long `close` waits for answers. */
const CLOSE_TIMEOUT_MS = 1_000;
/** An idle connection stays open. */
const IDLE_TIMEOUT_MS = 600_000;

type HttpAnswer = { status: number; text: string };

interface HttpPool {
  version: string;
  settings: ClientSettings;
  /**
   * Posts JSON on the next free connection.
   * @throws Error when the request fails or takes too long
   */
  post(path: string, body: string): Promise<HttpAnswer>;
  close(): Promise<void>;
}

/** A call answered with JSON; throws where the status is none of `decided`. */
export const postJson =
  (pool: Pick<HttpPool, "post">, path: string, name: string, decided: readonly number[] = [200]) =>
  async <Answer>(request: object): Promise<Answer> => {
    const { status, text } = await pool.post(path, JSON.stringify(request));
    if (decided.includes(status)) return JSON.parse(text) as Answer;
    throw new Error(`${name} answered ${status}: ${text.trim().slice(0, 200)}`);
  };

/**
 * Opens a Pool of undici.
 * @param path answers 200 once the server is ready
 * @throws Error when the server is not ready in time
 */
export async function openHttpPool(
  libraries: Libraries,
  { host, port }: { host: string; port: number },
  path: string,
): Promise<HttpPool> {
  const { Pool } = await libraries.load(HTTP_PACKAGE, () => import("undici"));
  const pool = new Pool(`http://${host}:${port}`, {
    connections,
    pipelining: 1,
    connect: { timeout: common.connectTimeoutMs },
    keepAliveTimeout: IDLE_TIMEOUT_MS,
    keepAliveMaxTimeout: IDLE_TIMEOUT_MS,
    // The signal bounds the whole request, also while it waits for a connection.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  const headers = { "content-type": "application/json" };
  const request = async (method: "GET" | "POST", to: string, timeoutMs: number, body?: string) => {
    // undici takes an emitter, which costs less than an AbortController.
    const signal = new EventEmitter();
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      signal.emit("abort");
    }, timeoutMs);
    const content = body === undefined ? undefined : { headers, body };
    try {
      const answer = await pool.request({ method, path: to, signal, ...content });
      return { status: answer.statusCode, text: await answer.body.text() };
    } catch (error) {
      throw isLate ? new Error(`no answer within ${timeoutMs} ms`) : error;
    } finally {
      clearTimeout(timer);
    }
  };
  const close = async (): Promise<void> => {
    const closed = pool.close().catch(() => undefined);
    await within(closed, CLOSE_TIMEOUT_MS, () => "late").catch(() => pool.destroy());
  };
  try {
    await retried(async (leftMs) => {
      const { status } = await request("GET", path, leftMs);
      if (status !== 200) throw new Error(`it answers ${status} to GET ${path}`);
    });
  } catch (error) {
    await close();
    throw error;
  }
  return {
    version: libraries.version(HTTP_PACKAGE),
    settings: {
      protocol: "HTTP/1.1",
      connections,
      http_pipelining: 1,
      request_timeout_ms: common.requestTimeoutMs,
      connect_timeout_ms: common.connectTimeoutMs,
      idle_timeout_ms: IDLE_TIMEOUT_MS,
      auto_pipelining: false,
    },
    post: (to, body) => request("POST", to, common.requestTimeoutMs, body),
    close,
  };
}
