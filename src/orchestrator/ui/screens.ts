import type { CampaignEvent, EventOf } from "../../contract/events.js";
import type { Environment } from "../../kit/env.js";
import { usageError } from "../../kit/errors.js";
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
import { LiveScreen } from "./live-screen.js";
import type { Detail, OutputMode, Outputs, Screen } from "./screen-types.js";
import { durationText, escapeControls, escapeControlsInLines, escapedJson } from "./text.js";

const timeOfDay = (at: string): string => new Date(at).toTimeString().slice(0, 8);

/** How much is written: a line per run, a line per phase, or also seconds and programs' lines. */
export type LineDetail = "run" | "phase" | "verbose";

/** Writes lines to standard output, and warnings and problems to standard error. */
abstract class WrittenScreen<DetailOfScreen extends string> implements Screen {
  protected readonly detail: DetailOfScreen;
  protected readonly state = new CampaignState();
  readonly #outputs: Outputs;

  constructor(outputs: Outputs, detail: DetailOfScreen) {
    this.#outputs = outputs;
    this.detail = detail;
  }

  protected abstract linesOf(event: CampaignEvent): string[];

  protected isWarning({ level }: EventOf<"notice">): boolean {
    return level === "warning";
  }

  show(event: CampaignEvent): void {
    this.state.add(event);
    const { out, err } = this.#outputs;
    for (const line of this.linesOf(event)) out.write(`${line}\n`);
    if (event.event === "notice" && this.isWarning(event))
      err.write(`${escapeControls(event.text)}\n`);
    if (event.event === "ended")
      for (const line of problemLines(this.state)) err.write(`${line}\n`);
  }

  close(): void {}
}

/**
 * Writes lines with the time of day and without escape sequences, for a pipe, a file or a CI job.
 */
export class LineScreen extends WrittenScreen<LineDetail> {
  protected linesOf(event: CampaignEvent): string[] {
    const stamped = (text: string) => [`${timeOfDay(event.at)} ${escapeControls(text)}`];
    switch (event.event) {
      case "notice":
        return this.isWarning(event) ? [] : [escapeControls(event.text)];
      case "campaign":
        return [escapeControls(campaignText(event, durationText(event.estimate_s)))];
      case "run_kept":
        return stamped(`[${event.number}/${event.of}] ${event.file} is kept`);
      case "round_started":
        if (this.detail === "run") return [];
        return stamped(`${roundText(event)}; ${durationText(event.time_left_s)} left`);
      case "run_started":
        if (this.detail === "run") return [];
        return stamped(
          `[${event.number}/${event.of}] ${runText(event)}; ${durationText(event.time_left_s)} left`,
        );
      case "phase":
        if (event.phase === "report") return stamped(phaseText("report"));
        return this.detail === "run" ? [] : stamped(`  ${phaseText(event.phase)}`);
      case "look":
        return stamped(lookText(event));
      case "second":
        return this.detail === "verbose"
          ? stamped(`  ${event.t_s.toFixed(0)} s: ${secondPieces(event, this.state).join(", ")}`)
          : [];
      case "run_finished":
        // What ended the campaign is said once, at its end.
        if (event.status === "aborted") return [];
        if (this.detail !== "run") return stamped(`  ${endText(event, this.state)}`);
        return stamped(runLine(event, this.state));
      case "detail": {
        if (this.detail !== "verbose") return [];
        const text = event.role ? `${event.role}: ${event.text}` : event.text;
        return escapeControlsInLines(text)
          .split("\n")
          .map((line) => `${timeOfDay(event.at)}     ${line}`);
      }
      case "ended":
        return finalLines(this.state, Number.POSITIVE_INFINITY);
      default:
        return [];
    }
  }
}

/**
 * Shows set-up, warnings and problems on standard error, and the report's path on standard output.
 */
export class QuietScreen extends WrittenScreen<"quiet"> {
  protected linesOf(event: CampaignEvent): string[] {
    return event.event === "report" ? [event.path] : [];
  }

  protected override isWarning({ level }: EventOf<"notice">): boolean {
    return level !== "info";
  }
}

/** Events that `--quiet` leaves out of the JSON lines. */
const QUIET_EVENTS: readonly string[] = ["second", "phase", "run_started"];

/** Writes events as JSON lines to standard output, and warnings also as text to standard error. */
export class JsonScreen extends WrittenScreen<Detail> {
  protected linesOf(event: CampaignEvent): string[] {
    if (event.event === "detail" && this.detail !== "verbose") return [];
    if (this.detail === "quiet" && QUIET_EVENTS.includes(event.event)) return [];
    return [escapedJson(event)];
  }
}

const canRedraw = ({ out }: Outputs, env: Environment): boolean =>
  out.isTTY === true && env.TERM !== "dumb";

export const isCi = ({ CI }: Environment): boolean =>
  CI !== undefined && CI !== "" && CI !== "0" && CI !== "false";

/** Whether somebody watches the output now. The log of a CI job is read later. */
const isWatched = (outputs: Outputs, env: Environment): boolean =>
  canRedraw(outputs, env) && !isCi(env);

/** @throws usageError where the user wants a live screen and the output is no terminal */
export function openScreen(
  { format, detail, progress }: OutputMode,
  outputs: Outputs,
  env: Environment,
): Screen {
  if (format === "json") return new JsonScreen(outputs, detail);
  if (detail === "quiet") return new QuietScreen(outputs, "quiet");
  if (progress === "live" && !canRedraw(outputs, env))
    throw usageError("--progress live needs a terminal: give --progress run or phase");
  if (progress === "live" || (progress === undefined && isWatched(outputs, env)))
    return new LiveScreen(outputs, detail);
  return new LineScreen(outputs, detail === "verbose" ? "verbose" : (progress ?? "run"));
}
