import type { Extent } from "../contract/configuration.js";
import type { GeneratorPart } from "../contract/generator-part.js";
import type { LatencyHistograms } from "../contract/latency-figures.js";
import type { Counts, Slices } from "../contract/request-outcomes.js";
import type { TurnsRecord } from "../contract/turns.js";
import type { TimelineSlices } from "../judge/merging/slices.js";
import type { EndedAnswers, WorkerSample } from "./measurement/recorder.js";
import type { WarmupLoad } from "./warmup.js";

/** What one worker measured in its window. Times are monotonic milliseconds. */
export interface Window {
  opened_ms: number;
  closed_ms: number;
  counts: Counts;
  /** All answers, the followed ones included. */
  ended: EndedAnswers;
  lead_in_requests: number;
  histograms: LatencyHistograms;
  slices: Slices;
  /** They are counted in every run, and used where the run has a timeline. */
  timeline_slices: TimelineSlices;
  /** The time from send to answer. It is present in an open loop alone, like `schedule`. */
  service_histograms?: LatencyHistograms;
  schedule?: NonNullable<GeneratorPart["schedule"]>;
  /** The requests that were due and had not ended at both ends. Only an open loop has them. */
  backlog?: NonNullable<TurnsRecord["backlog"]>;
}

export interface WindowListener {
  opened(): void;
  /** Takes an interval of about a second. The last one ends with the window. */
  sample(sample: WorkerSample): void;
  closed(): void;
}

export interface WindowPlan {
  extent: Extent;
  opens_ms: number;
  /** Milliseconds of load without record that run into the window. They are 0 for none. */
  lead_in_ms: number;
  /** The rate of an open loop in this window, where it is not that of its load. */
  rate_per_second?: number;
}

/** Makes the load of one worker: decides when each request is sent, and measures it. */
export interface LoadLoop {
  /**
   * Waits until every connection is established. @throws environmentError when some are not in time
   */
  connected(): Promise<void>;
  /** Makes load that does not count, and follows its requests to their end. */
  warmUp(seconds: number): Promise<WarmupLoad>;
  /** The same as a closed loop on all connections of an open one. */
  warmUpClosed?(seconds: number): Promise<WarmupLoad>;
  /**
   * Whether sends of an open loop that fall due together share a wake, from the next window
   * on.
   */
  shareWakes?(shared: boolean): void;
  /**
   * Measures one window and follows its requests to their end. It resolves when nothing is in
   * flight.
   */
  measure(plan: WindowPlan, listener: WindowListener): Promise<Window>;
  stop(): Promise<void>;
}
