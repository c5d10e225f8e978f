import type { IncomingMessage, RequestOptions } from "node:http";
import { type Agent, Agent as InsecureAgent, request as insecureRequest } from "node:http";
import { Agent as SecureAgent, request as secureRequest } from "node:https";
import { rootCertificates } from "node:tls";
import { definedOnly } from "../../../kit/defined-only.js";
import { messageOf } from "../../../kit/errors.js";
import { nowMs } from "../../../kit/system-clock.js";
import type { RequestParts } from "./key-carrier.js";

/**
 * What came back. Times are milliseconds since 1970 by a clock that never goes back. An answer has
 * come when its headers have: whoever denies has decided by then, and a body may never end.
 */
export interface ApiAnswer {
  sent_ms: number;
  answered_ms: number;
  /** null where no answer came. */
  status: number | null;
  /** Why no answer came. */
  error?: string;
  /** The code of that error, e.g. `ECONNREFUSED`. */
  code?: string;
  /** All headers of the answer by their name in lower case. They may hold secrets. */
  headers: Readonly<Record<string, string>>;
  /** The begin of the body. */
  body: string;
}

/** A connection that is kept for one request after the other. */
export interface Connection {
  agent: Agent;
  close(): void;
}

interface ClientOptions {
  /** Certificates in PEM that are trusted besides those of the system. */
  ca?: string | undefined;
  /** Headers of each request that name the tool and the run. */
  ownHeaders: Readonly<Record<string, string>>;
  body?: Buffer | undefined;
  signal: AbortSignal;
}

const TIMEOUT_MS = 15_000;
/** So much of a body is read, for so long after its headers. Whatever is longer is cut off. */
const MOST_BODY_BYTES = 262_144;
const MOST_BODY_MS = 1_000;

/**
 * Sends requests to an API. It has its own connections, which no proxy of the environment gets, and
 * follows no redirect.
 */
export class ApiClient {
  readonly #options: ClientOptions;
  readonly #connections = new Set<Connection>();
  readonly #shared: { insecure: Agent; secure: Agent };

  constructor(options: ClientOptions) {
    this.#options = options;
    this.#shared = this.#agents(Number.POSITIVE_INFINITY);
  }

  /** A connection of its own, which is kept until it is closed. */
  connect(origin: string): Connection {
    const { insecure, secure } = this.#agents(1);
    const agent = isSecure(origin) ? secure : insecure;
    const connection: Connection = {
      agent,
      close: () => {
        agent.destroy();
        this.#connections.delete(connection);
      },
    };
    this.#connections.add(connection);
    return connection;
  }

  close(): void {
    for (const connection of [...this.#connections]) connection.close();
    this.#shared.insecure.destroy();
    this.#shared.secure.destroy();
  }

  /**
   * Sends a request. A connection that the API had closed meanwhile is opened again, once.
   * @param origin scheme, host and port
   * @param connection the connection that it uses; by default any that is kept
   */
  async send(origin: string, parts: RequestParts, connection?: Connection): Promise<ApiAnswer> {
    const { insecure, secure } = this.#shared;
    const agent = connection?.agent ?? (isSecure(origin) ? secure : insecure);
    const first = await this.#attempt(origin, parts, agent);
    return first.wasClosed ? (await this.#attempt(origin, parts, agent)).answer : first.answer;
  }

  #agents(maxSockets: number): { insecure: Agent; secure: Agent } {
    const { ca } = this.#options;
    const options = { keepAlive: true, maxSockets, maxFreeSockets: 1_000 };
    return {
      insecure: new InsecureAgent(options),
      // A list of authorities takes the place of the usual ones, which are still trusted.
      secure: new SecureAgent(
        ca === undefined ? options : { ...options, ca: [...rootCertificates, ca] },
      ),
    };
  }

  #attempt(
    origin: string,
    parts: RequestParts,
    agent: Agent,
  ): Promise<{ answer: ApiAnswer; wasClosed: boolean }> {
    const { ownHeaders, body, signal } = this.#options;
    const options: RequestOptions = definedOnly({
      method: parts.method,
      path: parts.path,
      headers: { ...ownHeaders, ...parts.headers, ...lengthOf(parts.method, body) },
      localAddress: parts.localAddress,
      agent,
      signal,
    });
    const sent_ms = nowMs();
    return new Promise((resolve) => {
      const settle = (rest: Partial<ApiAnswer>, wasClosed = false) => {
        clearTimeout(timer);
        const nothing = { status: null, headers: {}, body: "" };
        const answer = { sent_ms, answered_ms: nowMs(), ...nothing, ...rest };
        resolve({ answer, wasClosed });
      };
      const failed = (error: Error & { code?: string }) =>
        settle(
          definedOnly({ error: messageOf(error).slice(0, 300), code: error.code }),
          sent.reusedSocket && error.code === "ECONNRESET",
        );

      const sent = (isSecure(origin) ? secureRequest : insecureRequest)(origin, options);
      const timer = setTimeout(
        () => sent.destroy(new Error(`no answer within ${TIMEOUT_MS / 1000} s`)),
        TIMEOUT_MS,
      );
      sent.on("error", failed);
      sent.on("response", (answer) => {
        const answered_ms = nowMs();
        clearTimeout(timer);
        const status = answer.statusCode ?? null;
        const headers = headersOf(answer);
        void beginOfBody(answer).then((text) =>
          settle({ status, headers, body: text, answered_ms }),
        );
      });
      sent.end(takesBody(parts.method) ? body : undefined);
    });
  }
}

const isSecure = (origin: string): boolean => origin.startsWith("https:");

const takesBody = (method: string): boolean => method !== "GET" && method !== "HEAD";

const lengthOf = (method: string, body: Buffer | undefined): Record<string, string> =>
  body && takesBody(method) ? { "content-length": String(body.length) } : {};

const headersOf = ({ headers }: IncomingMessage): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, Array.isArray(value) ? value.join(", ") : value]],
    ),
  );

/** The begin of a body. The connection of a body that is longer, or takes longer, is closed. */
function beginOfBody(answer: IncomingMessage): Promise<string> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const end = () => {
      clearTimeout(timer);
      resolve(Buffer.concat(chunks).toString("utf8"));
    };
    const cut = () => {
      answer.destroy();
      end();
    };
    const timer = setTimeout(cut, MOST_BODY_MS);

    answer.on("data", (chunk: Buffer) => {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > MOST_BODY_BYTES) cut();
    });
    answer.once("end", end);
    answer.once("error", end);
  });
}
