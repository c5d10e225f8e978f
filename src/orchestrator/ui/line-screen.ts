import type { CampaignEvent } from "../../contract/events.js";
import { CampaignState } from "./campaign-state.js";
import {
  campaignText,
  endText,
  lookText,
  phaseText,
  roundText,
  runLine,
  runText,
  secondPieces,
} from "./event-text.js";
import { finalLines, problemLines } from "./final-screen.js";
import { durationText, escapeControls, escapeControlsInLines, escapedJson } from "./text.js";
import type { Detail, Outputs, Screen } from "./types.js";

const clock = (at: string): string => new Date(at).toTimeString().slice(0, 8);

/** One line per run, one line per phase, or also each second and the programs' lines. */
export type LineDetail = "run" | "phase" | "verbose";

/** For a pipe, a file or a CI job: lines with the time of day, without escape sequences. */
export class LineScreen implements Screen {
  readonly #outputs: Outputs;
  readonly #detail: LineDetail;
  readonly #state = new CampaignState();

  constructor(outputs: Outputs, detail: LineDetail) {
    this.#outputs = outputs;
    this.#detail = detail;
  }

  show(event: CampaignEvent): void {
    this.#state.add(event);
    const { out, err } = this.#outputs;
    if (event.event === "notice" && event.level === "warning") {
      err.write(`${escapeControls(event.text)}\n`);
      return;
    }
    for (const line of this.#linesOf(event)) out.write(`${line}\n`);
    if (event.event !== "ended") return;
    for (const line of finalLines(this.#state, Number.POSITIVE_INFINITY)) out.write(`${line}\n`);
    for (const line of problemLines(this.#state)) err.write(`${line}\n`);
  }

  close(): void {}

  #linesOf(event: CampaignEvent): string[] {
    const stamped = (text: string) => [`${clock(event.at)} ${escapeControls(text)}`];
    switch (event.event) {
      case "notice":
        return [escapeControls(event.text)];
      case "campaign":
        return [escapeControls(campaignText(event, durationText(event.estimate_s)))];
      case "run_kept":
        return stamped(`[${event.number}/${event.of}] ${event.file} is kept`);
      case "round_started":
        if (this.#detail === "run") return [];
        return stamped(`${roundText(event)}; ${durationText(event.time_left_s)} left`);
      case "run_started":
        if (this.#detail === "run") return [];
        return stamped(
          `[${event.number}/${event.of}] ${runText(event)}; ${durationText(event.time_left_s)} left`,
        );
      case "phase":
        if (event.phase === "report") return stamped(phaseText("report"));
        return this.#detail === "run" ? [] : stamped(`  ${phaseText(event.phase)}`);
      case "look":
        return stamped(lookText(event));
      case "second":
        return this.#detail === "verbose"
          ? stamped(`  ${event.t_s.toFixed(0)} s: ${secondPieces(event, this.#state).join(", ")}`)
          : [];
      case "run_finished": {
        if (this.#detail !== "run") return stamped(`  ${endText(event, this.#state)}`);
        return stamped(runLine(event, this.#state.started.get(event.file)?.configuration));
      }
      case "detail": {
        if (this.#detail !== "verbose") return [];
        const text = event.role ? `${event.role}: ${event.text}` : event.text;
        return escapeControlsInLines(text)
          .split("\n")
          .map((line) => `${clock(event.at)}     ${line}`);
      }
      default:
        return [];
    }
  }
}

/** Shows set-up, warnings and problems on standard error, and the report's path on standard output. */
export class QuietScreen implements Screen {
  readonly #outputs: Outputs;
  readonly #state = new CampaignState();

  constructor(outputs: Outputs) {
    this.#outputs = outputs;
  }

  show(event: CampaignEvent): void {
    this.#state.add(event);
    const { out, err } = this.#outputs;
    if (event.event === "notice" && event.level !== "info") err.write(`${escapeControls(event.text)}\n`);
    if (event.event === "report") out.write(`${event.path}\n`);
    if (event.event === "ended") for (const line of problemLines(this.#state)) err.write(`${line}\n`);
  }

  close(): void {}
}

const QUIET_EVENTS: readonly string[] = ["second", "phase", "run_started"];

/** Writes events as JSON lines to standard output, and warnings also as text to standard error. */
export class JsonScreen implements Screen {
  readonly #outputs: Outputs;
  readonly #detail: Detail;
  readonly #state = new CampaignState();

  constructor(outputs: Outputs, detail: Detail) {
    this.#outputs = outputs;
    this.#detail = detail;
  }

  show(event: CampaignEvent): void {
    this.#state.add(event);
    if (event.event === "detail" && this.#detail !== "verbose") return;
    if (this.#detail === "quiet" && QUIET_EVENTS.includes(event.event)) return;
    this.#outputs.out.write(`${escapedJson(event)}\n`);
    if (event.event === "notice" && event.level === "warning")
      this.#outputs.err.write(`${escapeControls(event.text)}\n`);
    if (event.event === "ended")
      for (const line of problemLines(this.#state)) this.#outputs.err.write(`${line}\n`);
  }

  close(): void {}
}
