import type { CampaignEvent } from "../../contract/events.js";

/** Shows the events of a campaign. A screen never throws because of its output. */
export interface Screen {
  show(event: CampaignEvent): void;
  /** Restores the terminal. Called once, also if the process exits unexpectedly. */
  close(): void;
}

/** The part of a stream that a screen uses, e.g. of `process.stdout`. */
export interface Output {
  write(text: string): unknown;
  isTTY?: boolean;
  columns?: number;
  rows?: number;
  /** Whether to use colours; considers NO_COLOR, FORCE_COLOR and TERM. */
  hasColors?(): boolean;
  on?(event: "resize", listener: () => void): unknown;
  off?(event: "resize", listener: () => void): unknown;
}

export type Outputs = { out: Output; err: Output };

export type Detail = "quiet" | "normal" | "verbose";

export const progressModes = ["live", "run", "phase"] as const;

export interface OutputMode {
  format: "text" | "json";
  detail: Detail;
  progress?: (typeof progressModes)[number];
}
