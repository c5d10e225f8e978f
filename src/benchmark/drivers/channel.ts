/**
 * One connection of a driver to what is measured: at most one request is under way on it. It connects by itself, and
 * again whenever the connection ends.
 */
export interface Channel {
  /** Sends the next request; only between `ready` and the next event. */
  send(): void;
  /** Gives up the request under way, and with it the connection. No event tells of it but the next `ready`. */
  abandon(): void;
  /** Ends it for good; no event follows. */
  close(): void;
}

/** What a channel tells its owner. */
export interface ChannelListener {
  /** It is connected and has no request under way. */
  ready(): void;
  /** @param status as HTTP has it: the driver's outcomes are told by it */
  answered(status: number): void;
  /** The connection ended, with the request that was under way, if there was one. */
  lost(): void;
}

/** Opens channel number `index`. */
export type OpenChannel = (index: number, listener: ChannelListener) => Channel;
