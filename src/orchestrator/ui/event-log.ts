import { appendFileSync, closeSync, constants, openSync } from "node:fs";
import { join } from "node:path";
import {
  type CampaignEvent,
  EVENT_SCHEMA,
  EVENT_SCHEMA_VERSION,
  type EventOf,
} from "../../contract/events.js";
import { definedOnly } from "../../kit/defined-only.js";
import { messageOf } from "../../kit/errors.js";
import { CampaignState } from "./campaign-state.js";
import {
  adaptiveLines,
  campaignText,
  endText,
  lookText,
  roundText,
  runText,
} from "./event-text.js";
import type { Screen } from "./screen-types.js";
import { durationText, escapeControls, escapeControlsInLines } from "./text.js";

// Nothing is written through a link, and nobody waits for the reader of a pipe.
const { O_APPEND, O_CREAT, O_WRONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
const FLAGS = O_APPEND | O_CREAT | O_WRONLY | O_NOFOLLOW | O_NONBLOCK;

/** The names of a campaign's log: ours, and the one that the original's run-all.sh gave it. */
const LOG_NAMES = ["benchmark.log", "full_benchmark.log"];

/** Appends lines to a file. A write error is reported once and stops nothing but the log. */
export function lineLog(
  path: string,
  report = (text: string): unknown => process.stderr.write(`${text}\n`),
): (line: string) => void {
  let hasFailed = false;
  return (line) => {
    if (hasFailed) return;
    try {
      const file = openSync(path, FLAGS, 0o666);
      try {
        appendFileSync(file, `${line}\n`);
      } finally {
        closeSync(file);
      }
    } catch (error) {
      hasFailed = true;
      report(`${path} cannot be written: ${messageOf(error)}`);
    }
  };
}

/** An event without its time, which the log adds. */
export type NewEvent = CampaignEvent extends infer Event
  ? Event extends CampaignEvent
    ? Omit<Event, "at">
    : never
  : never;

/** Takes the events of a campaign, and passes them on to its screen and its logs. */
export class EventLog {
  readonly #screen: Screen;
  readonly #state = new CampaignState();
  #append: ((line: string) => void) | undefined;
  /** Lines from before the folder of the campaign is known. */
  #heldLines: string[] = [];
  #hasEnded = false;

  constructor(screen: Screen) {
    this.#screen = screen;
    this.emit({ event: "opened", schema: EVENT_SCHEMA, schema_version: EVENT_SCHEMA_VERSION });
  }

  /**
   * Writes all lines to the folder's logs, including those from before this call. Both logs are
   * files, because a results folder with links is refused where it is unpacked.
   */
  writeTo(folder: string): void {
    const logs = LOG_NAMES.map((name) => lineLog(join(folder, name), (text) => this.warn(text)));
    this.#append = (line) => {
      for (const append of logs) append(line);
    };
    for (const line of this.#heldLines) this.#append(line);
    this.#heldLines = [];
  }

  /** Passes on an event, unless the log has ended. */
  emit(newEvent: NewEvent): void {
    if (this.#hasEnded) return;

    const { event: kind, ...members } = newEvent;
    const event = { event: kind, at: new Date().toISOString(), ...members } as CampaignEvent;
    this.#state.add(event);
    for (const line of logLines(event, this.#state)) this.#log(`${event.at} ${line}`);
    this.#screen.show(event);
  }

  info(text: string): void {
    this.emit({ event: "notice", level: "info", text });
  }

  /**
   * Announces set-up that takes more than a few seconds. `--quiet` shows it too, so that it does not
   * look like a hang.
   */
  setUp(text: string): void {
    this.emit({ event: "notice", level: "setup", text });
  }

  warn(text: string): void {
    this.emit({ event: "notice", level: "warning", text });
  }

  detail(text: string): void {
    this.emit({ event: "detail", text });
  }

  programLine(role: string, text: string): void {
    this.emit({ event: "detail", role, text });
  }

  /** Emits the last event and releases the screen. @param reason why the campaign ended early */
  end(exitCode: number, reason?: string): void {
    const ending = definedOnly({
      exit_code: exitCode,
      reason,
      folder: this.folder,
      runs: this.#state.counts,
    });
    this.emit({ event: "ended", ...ending });
    this.#hasEnded = true;
    this.close();
  }

  get folder(): string | undefined {
    return this.#state.campaign?.folder;
  }

  get measured(): number {
    return this.#state.measured;
  }

  close(): void {
    this.#screen.close();
  }

  #log(line: string): void {
    if (this.#append) this.#append(line);
    else this.#heldLines.push(line);
  }
}

/** The sentences that say what the search and the adaptive rounds of a campaign found out. */
function reportSentences({ max_rate = [], adaptive }: EventOf<"report">): string[] {
  const sentences = max_rate.map(({ sentence }) => sentence);
  return adaptive ? [...sentences, ...adaptiveLines(adaptive)] : sentences;
}

/** The lines of the logs for an event. Live figures are left out, because results hold better ones. */
function logLines(event: CampaignEvent, state: CampaignState): string[] {
  switch (event.event) {
    case "opened":
    case "second":
    case "planned":
    case "round_finished":
      return [];
    case "round_started":
      return [roundText(event)];
    case "report":
      return reportSentences(event).map(escapeControls);
    case "look":
      return [escapeControls(lookText(event))];
    case "notice":
      return [escapeControls(event.text)];
    case "detail":
      // The run's log has the lines of its programs.
      return event.role ? [] : [escapeControlsInLines(event.text)];
    case "campaign":
      return [escapeControls(campaignText(event, durationText(event.estimate_s)))];
    case "run_kept":
      return [`[${event.number}/${event.of}] ${escapeControls(event.file)} is kept`];
    case "run_started":
      return [escapeControls(`[${event.number}/${event.of}] ${runText(event)}`)];
    case "phase":
      return [event.phase === "report" ? "building the report" : `  ${event.phase}`];
    case "run_finished":
      return [escapeControls(`  ${endText(event, state)}`)];
    case "ended":
      return [
        escapeControls(`ended with ${event.exit_code}${event.reason ? `: ${event.reason}` : ""}`),
      ];
  }
}
