import type { Outcome } from "../../contract/result.js";

/** A driver's connection, with at most one request in flight. It connects by itself, again after an end. */
export interface Channel {
  /** Sends the next request; only between `ready` and the next event. */
  send(): void;
  /** Gives up the request in flight and its connection. The only event that follows is the next `ready`. */
  abandon(): void;
  close(): void;
}

export interface ChannelListener {
  ready(): void;
  /** @param code below 1000; `Driver.codeText` names it */
  answered(outcome: Outcome, code: number): void;
  /** The connection ended, and with it the request in flight, if there was one. */
  lost(): void;
}

export type OpenChannel = (index: number, listener: ChannelListener) => Channel;
