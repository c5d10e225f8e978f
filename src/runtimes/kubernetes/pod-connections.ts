import { get as httpGet, type IncomingMessage } from "node:http";
import { get as httpsGet, type RequestOptions } from "node:https";
import type { Readable, Writable } from "node:stream";
import { text as textOf } from "node:stream/consumers";
import { within } from "../../kit/deadline.js";

/** A connection for exec or a log that follows. */
export const CONNECT_TIMEOUT_MS = 10_000;
/** A proxy in front of a cluster may cut connections that are silent for a minute. */
export const PING_EVERY_MS = 25_000;

export interface ExecProcess {
  stdin: Writable;
  stdout: Readable;
  stderr: Readable;
  /** Its exit code; undefined where the connection was lost. */
  exited: Promise<number | undefined>;
  /** Ends the connection. The process in the pod sees the end of its input. */
  close(): void;
}

export interface Following {
  /** Resolves when it ends, by itself or by `close`. */
  ended: Promise<void>;
  close(): void;
}

/**
 * The answer to a GET request, whose body is still to come. @throws with the status and the body of
 * a refusal
 */
export function answerOf(url: URL, options: RequestOptions): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const get = url.protocol === "https:" ? httpsGet : httpGet;
    const request = get(url, options, async (response) => {
      const { statusCode: code } = response;
      if (code === 200) return resolve(response);
      const body = await textOf(response).catch(() => "");
      reject(Object.assign(new Error(`HTTP status ${code}`), { code, body }));
    });
    request.on("timeout", () =>
      request.destroy(
        new Error(`the cluster did not answer within ${CONNECT_TIMEOUT_MS / 1000} s`),
      ),
    );
    request.on("error", reject);
  });
}

export async function openedInTime<Value>(
  work: Promise<Value>,
  discard: (value: Value) => void,
): Promise<Value> {
  const late = () =>
    `the cluster did not open a process in it within ${CONNECT_TIMEOUT_MS / 1000} s`;
  return within(work, CONNECT_TIMEOUT_MS, late, discard).catch((error) => {
    // A refused WebSocket rejects with an event, not with an error.
    throw error instanceof Error
      ? error
      : ((error as { error?: Error }).error ?? new Error(String(error.message)));
  });
}
