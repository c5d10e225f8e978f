import type { Counts, EncodedHistogram, Outcome } from "../contract/result.js";
import type { ScheduleCounts } from "../contract/schedule.js";
import type { WorkerSample } from "./recorder.js";

/** When a window closes: after a time, or once so many requests were sent and answered. */
export type Extent = { durationS: number } | { requests: number };

/** What one worker measured in its window. Times are monotonic milliseconds. */
export interface Window {
  opened_ms: number;
  closed_ms: number;
  counts: Counts;
  histograms: Record<Outcome, EncodedHistogram>;
  /** Open loop alone, as `schedule`. */
  service_histograms?: Record<Outcome, EncodedHistogram>;
  schedule?: ScheduleCounts & { lateness: EncodedHistogram };
}

export interface WindowListener {
  /** An interval of about a second; the last one ends with the window. */
  sample(sample: WorkerSample): void;
  /** The window is closed: what follows is the end of what is still in flight. */
  closed(): void;
}

/** What makes the load of one worker: it decides when a request is sent, and measures. */
export interface Engine {
  /** Waits until every connection is established. @throws environmentError when some are not in time */
  connected(): Promise<void>;
  /** Makes load for so many seconds and records nothing; resolves when nothing is in flight any more. */
  warmUp(durationS: number): Promise<void>;
  /**
   * Measures one window; resolves when nothing is in flight any more.
   * @param opens_ms when the windows of all workers open; an engine without a schedule opens its own at once
   */
  measure(extent: Extent, listener: WindowListener, opens_ms: number): Promise<Window>;
  stop(): Promise<void>;
}
