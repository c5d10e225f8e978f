import {
  type Descriptors,
  FRESH_KEY,
  FRESH_KEY_DIGITS,
  FRESH_KEY_PREFIX,
  type RequestStream,
} from "../../../traffic/types.js";

/** What the limiter is asked about: one key, or all keys of a request. */
export type Keys = string | readonly string[];

/** Digits that number the requests of one connection; those before them number the connection, as over HTTP. */
const COUNTED_DIGITS = 11;

/** The next keys of one channel. */
export class KeySource {
  readonly #requests: readonly Descriptors[];
  readonly #stream: RequestStream;
  readonly #freshPrefix: string;
  #fresh = 0;

  /** @param connection number of the channel, counted over all workers */
  constructor(requests: readonly Descriptors[], stream: RequestStream, connection: number) {
    this.#requests = requests;
    this.#stream = stream;
    this.#freshPrefix =
      FRESH_KEY_PREFIX + String(connection).padStart(FRESH_KEY_DIGITS - COUNTED_DIGITS, "0");
  }

  next(): Keys {
    const which = this.#stream.next();
    const descriptors = this.#requests[which];
    if (!descriptors) throw new Error(`the traffic has no request ${which}`);
    if (descriptors.length === 1) return this.#keyOf(descriptors[0]);
    return descriptors.map((key) => this.#keyOf(key));
  }

  #keyOf(key: string): string {
    if (key !== FRESH_KEY) return key;
    return this.#freshPrefix + String(++this.#fresh).padStart(COUNTED_DIGITS, "0");
  }
}
