import type { GeneratorRunSpec } from "../../contract/generator-env.js";
import type { Layer } from "../../contract/layers.js";
import type { ClientSettings, Consumes, LimiterScript } from "../../contract/server-api.js";
import type { Algorithm } from "../../contract/target.js";
import type { LoadedPlugin } from "../../plugins/load.js";
import type { Descriptors, RequestStream } from "../../traffic/traffic-types.js";
import type { ClosedConnections } from "../closed-loop.js";
import type { DecisionLog, RequestCounter } from "../measurement/decision-log.js";
import type { OpenChannel } from "./connection-pool.js";

/** The requests of one worker's connections. */
export interface ChannelRequests {
  requests: readonly Descriptors[];
  /** One stream of indexes into `requests` for each channel. */
  streams: readonly RequestStream[];
  /** Number of the first channel, counted over all workers. */
  first: number;
  counts?: RequestCounter;
  log?: DecisionLog;
}

/** Takes the place of the target while the load loop is warmed up. */
export interface Loopback {
  openChannels(requests: ChannelRequests): OpenChannel;
  close(): Promise<void>;
}

export interface LimiterReport {
  versions: { client?: string; limiter?: string; store?: string };
  client_settings: ClientSettings;
  limiter_script?: LimiterScript;
  algorithm?: Algorithm;
  /** Calls of the channels since the driver was opened. */
  requests: number;
  /** Calls that are not finished. */
  in_flight: number;
  consumes?: Consumes;
}

export interface OpenDriver {
  openChannels(requests: ChannelRequests): OpenChannel;
  startLoopback(): Promise<Loopback>;
  /**
   * Opens the driver's own connections for the closed loop. A driver without this method is loaded
   * through its channels.
   */
  closedConnections?(requests: ChannelRequests): ClosedConnections;
  limiterReport?(): LimiterReport;
  close(): Promise<void>;
}

/**
 * Sends requests to the target of one layer and reports their outcomes. A driver is one folder, and
 * one line in `index.ts`.
 */
export interface Driver {
  id: Layer;
  codeText(code: number): string;
  endpoint(spec: GeneratorRunSpec): string;
  versions(): { autocannon?: string };
  /** @param plugins beyond traffic, which is registered already @throws environmentError */
  open(spec: GeneratorRunSpec, plugins: readonly LoadedPlugin[]): Promise<OpenDriver>;
}
