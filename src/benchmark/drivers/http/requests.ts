import { type AppRequest, KEY_PLACE } from "../../../contract/app.js";
import type { Outcome } from "../../../contract/request-outcomes.js";
import {
  type Descriptors,
  FRESH_KEY,
  FRESH_KEY_DIGITS,
  FRESH_KEY_PREFIX,
  type RequestStream,
} from "../../../traffic/traffic-types.js";
import { type ConnectionLog, RequestCounter } from "../../measurement/decision-log.js";
import type { ChannelRequests } from "../driver.js";

export const LIMITED_STATUS = 429;

export function outcomeOfStatus(status: number): Outcome {
  if (status >= 200 && status < 300) return "allowed";
  return status === LIMITED_STATUS ? "limited" : "failed";
}

type PreparedRequest = { requestBuffer: Buffer };

export interface RequestSource {
  /** Takes the next request, which is valid until the next call. */
  next(): PreparedRequest;
  sent(): void;
  /** Says that nobody knows whether the last request was decided on. */
  undecided(): void;
  /**
   * Takes each decision, and the wait that a limited answer names. It is absent where nobody needs
   * them.
   */
  log?: Pick<ConnectionLog, "answered">;
}

/** An address, and the request that a server of somebody else gets there. */
export interface Endpoint {
  url: URL;
  /** Absent for our own servers, whose requests name their keys as `userId`. */
  request?: AppRequest;
}

/** The header fields of the load itself, which no request can change. */
const connectionLines = ({ host }: URL): string => `Host: ${host}\r\nConnection: keep-alive\r\n`;

/** Builds the bytes of one request to a server of somebody else. */
function appRequestBuffer(url: URL, { path, headers = {} }: AppRequest, key: string): Buffer {
  const target = path.replaceAll(KEY_PLACE, encodeURIComponent(key));
  const fields = Object.entries(headers).map(
    ([name, value]) => `${name}: ${value.replaceAll(KEY_PLACE, key)}\r\n`,
  );
  return Buffer.from(
    `GET ${target} HTTP/1.1\r\n${connectionLines(url)}${fields.join("")}\r\n`,
    "latin1",
  );
}

/** Builds the bytes of one request in advance. */
export function requestBuffer({ url, request }: Endpoint, descriptors: Descriptors): Buffer {
  if (request) return appRequestBuffer(url, request, descriptors[0]);
  const query = new URLSearchParams(url.search);
  for (const userId of descriptors) query.append("userId", userId);
  return Buffer.from(`GET ${url.pathname}?${query} HTTP/1.1\r\n${connectionLines(url)}\r\n`);
}

function freshKeyOffsets(buffer: Buffer): number[] {
  const offsets: number[] = [];
  for (
    let position = buffer.indexOf(FRESH_KEY);
    position >= 0;
    position = buffer.indexOf(FRESH_KEY, position + 1)
  )
    offsets.push(position + FRESH_KEY_PREFIX.length);
  return offsets;
}

const ZERO = 48;
const NINE = 57;

/** Fresh numbers reserved for each connection: 1e11, more than any run sends. */
const NUMBERS_PER_CONNECTION = 1e11;

/**
 * The digits of fresh keys. They are counted up in place, because formatting a large number for
 * each request costs far more.
 */
class FreshNumber {
  readonly #digits: Buffer;

  constructor(last: number) {
    this.#digits = Buffer.from(String(last).padStart(FRESH_KEY_DIGITS, "0"));
  }

  write(buffer: Buffer, offset: number): void {
    const digits = this.#digits;
    let position = FRESH_KEY_DIGITS - 1;
    for (; digits[position] === NINE; position--) digits[position] = ZERO;
    digits[position] = (digits[position] ?? ZERO) + 1;
    digits.copy(buffer, offset);
  }
}

/**
 * A connection has one request in flight, so its copy of a request with fresh keys is free for the
 * next.
 */
function sourcesFor(
  endpoint: Endpoint,
  { requests, counts = new RequestCounter(requests.length), log }: ChannelRequests,
) {
  const shared = requests.map((descriptors) => ({
    requestBuffer: requestBuffer(endpoint, descriptors),
  }));
  const offsets = shared.map((request) => freshKeyOffsets(request.requestBuffer));
  const hasFresh = offsets.some((places) => places.length > 0);

  return (stream: RequestStream, connection: number): RequestSource => {
    const copyOf = (request: PreparedRequest, which: number): PreparedRequest =>
      offsets[which]?.length ? { requestBuffer: Buffer.from(request.requestBuffer) } : request;
    // A trace has so many keys that a list for each connection would fill the memory.
    const prepared = hasFresh ? shared.map(copyOf) : shared;
    const number = new FreshNumber(connection * NUMBERS_PER_CONNECTION);
    const counted = counts.connection();
    const logged = log?.connection();
    let which = 0;

    const source: RequestSource = {
      next() {
        which = stream.next();
        const request = prepared[which];
        if (!request) throw new Error(`the traffic has no request ${which}`);
        for (const offset of offsets[which] ?? []) number.write(request.requestBuffer, offset);
        return request;
      },
      sent() {
        counted.sent(which);
        logged?.sent(which);
      },
      undecided: () => counted.undecided(),
    };
    if (logged) source.log = logged;
    return source;
  };
}

/** The address of a connection, and what it sends. */
export type Connection = { url: URL; source: RequestSource };

/**
 * Connection i of all workers goes to endpoint i modulo their number, so that they are spread
 * evenly.
 */
export function connectionsTo(
  endpoints: readonly Endpoint[],
  requests: ChannelRequests,
): Connection[] {
  const { streams, first } = requests;
  const sources = new Map<Endpoint, ReturnType<typeof sourcesFor>>();
  return streams.flatMap((stream, index) => {
    const connection = first + index;
    const endpoint = endpoints[connection % endpoints.length];
    if (!endpoint) return [];
    const sourceOf = sources.get(endpoint) ?? sourcesFor(endpoint, requests);
    sources.set(endpoint, sourceOf);
    return { url: endpoint.url, source: sourceOf(stream, connection) };
  });
}
