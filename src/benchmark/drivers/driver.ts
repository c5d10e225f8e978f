import type { RunSpec } from "../../contract/run-spec.js";
import type { ClientSettings, Consumes, LimiterScript } from "../../contract/server-api.js";
import type { Descriptors, RequestStream } from "../../traffic/types.js";
import type { LoadLoop } from "../load-loop.js";
import type { OpenChannel } from "./channel.js";

/** The requests of one worker's connections. */
export interface ChannelRequests {
  /** The distinct requests of the traffic. */
  requests: readonly Descriptors[];
  /** One per channel: indexes into `requests`. */
  streams: readonly RequestStream[];
  /** Number of the first channel, counted over all workers. */
  first: number;
}

/** What the driver calls, in the place of the target, while the load loop is warmed up. */
export interface Loopback {
  openChannels(requests: ChannelRequests): OpenChannel;
  close(): Promise<void>;
}

/** What a driver that calls the limiter itself knows about it. */
export interface LimiterReport {
  /** Full text of the target. */
  target: string;
  versions: { client?: string; limiter?: string; store?: string };
  client_settings: ClientSettings;
  limiter_script?: LimiterScript;
  preload_consumes?: number;
  consumes: Consumes;
}

/** A driver in one worker thread. */
export interface OpenDriver {
  /** Channels to the target; channel number n sends the requests of `streams[n]`. */
  openChannels(requests: ChannelRequests): OpenChannel;
  startLoopback(): Promise<Loopback>;
  /** Only where the driver has a closed loop of its own; else the channels make it. */
  closedLoop?(requests: ChannelRequests, timeoutS: number): LoadLoop;
  /** Only where the driver calls the limiter itself. */
  limiterReport?(): LimiterReport;
  close(): Promise<void>;
}

/** Sends requests to the target of one layer and tells their outcomes: one file, and one line in `index.ts`. */
export interface Driver {
  /** The layer at which it enters. */
  id: RunSpecLayer;
  /** The text of a channel's code in `counts.by_code`. */
  codeText(code: number): string;
  /** Named in messages, e.g. `127.0.0.1:3001`. */
  endpoint(spec: RunSpec): string;
  /** @throws environmentError when the target cannot be reached */
  open(spec: RunSpec): Promise<OpenDriver>;
}

type RunSpecLayer = NonNullable<RunSpec["generator"]>["layer"];
