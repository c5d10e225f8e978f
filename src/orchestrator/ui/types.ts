import type { CampaignEvent } from "../../contract/events.js";

/** Shows what happens in a campaign. One file each; none of them ever throws because of where it writes. */
export interface Screen {
  show(event: CampaignEvent): void;
  /** Leaves the terminal as it was found. Called once, also when the process ends by surprise. */
  close(): void;
}

/** What a screen needs of a stream; `process.stdout` is one. */
export interface Output {
  write(text: string): unknown;
  isTTY?: boolean;
  columns?: number;
  rows?: number;
  /** Whether colours are welcome: knows NO_COLOR, FORCE_COLOR and TERM. */
  hasColors?(): boolean;
  on?(event: "resize", listener: () => void): unknown;
  off?(event: "resize", listener: () => void): unknown;
}

export interface Outputs {
  /** What was asked for. */
  out: Output;
  /** Diagnostics. */
  err: Output;
}

/** How much is shown. */
export type Detail = "quiet" | "normal" | "verbose";

export const progressModes = ["live", "run", "phase"] as const;

/** How a campaign reports what happens in it. */
export interface OutputMode {
  format: "text" | "json";
  detail: Detail;
  /** Absent where nobody chose: live on a terminal, a line a run elsewhere. */
  progress?: (typeof progressModes)[number];
}
