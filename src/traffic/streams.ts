import { AliasTable, createSequentialStreams, createStreams } from "./random.js";
import type { Descriptors, RequestStream, TrafficProfile } from "./types.js";

/** Which connections of a run are meant. */
export interface Share {
  /** Connections of the whole run. */
  connections: number;
  /** The first one that is meant, and how many. */
  first: number;
  count: number;
}

/** The requests that a profile's connections send: what there is to send, and one stream a connection. */
export function openTraffic(
  profile: TrafficProfile,
  seed: number,
  { connections, first, count }: Share,
): { requests: readonly Descriptors[]; streams: RequestStream[] } {
  const { requests, shares } = profile.population();
  const streams =
    profile.order === "sequential"
      ? createSequentialStreams(requests.length, connections, first, count)
      : createStreams(new AliasTable(shares), seed, first, count);
  return { requests, streams };
}
