import { appendFileSync } from "node:fs";
import { messageOf } from "../../contract/errors.js";
import type { CampaignEvent, EventOf, RunStatus } from "../../contract/events.js";
import { EVENT_SCHEMA, EVENT_SCHEMA_VERSION } from "../../contract/events.js";
import { logLines } from "./log.js";
import type { Screen } from "./types.js";

/** Appends lines to a file. One that cannot be written is told once, and ends nothing: it is only a log. */
export function lineLog(
  path: string,
  tell = (text: string): unknown => process.stderr.write(`${text}\n`),
): (line: string) => void {
  let broken = false;
  return (line) => {
    if (broken) return;
    try {
      appendFileSync(path, `${line}\n`);
    } catch (error) {
      broken = true;
      tell(`${path} cannot be written: ${messageOf(error)}`);
    }
  };
}

/** An event as it is told: the journal adds when. */
export type Told = CampaignEvent extends infer Each
  ? Each extends CampaignEvent
    ? Omit<Each, "at">
    : never
  : never;

/** What the campaign tells: every event to the screen, and in words to its log. */
export class Journal {
  readonly #screen: Screen;
  readonly #runs: EventOf<"ended">["runs"] = {
    ...({ valid: 0, suspect: 0, invalid: 0, failed: 0, aborted: 0 } satisfies Record<RunStatus, number>),
    kept: 0,
    not_begun: 0,
  };
  #append: ((line: string) => void) | undefined;
  #held: string[] = [];
  #folder: string | undefined;
  #ended = false;

  constructor(screen: Screen) {
    this.#screen = screen;
    this.tell({ event: "opened", schema: EVENT_SCHEMA, schema_version: EVENT_SCHEMA_VERSION });
  }

  /** From now on lines are appended to this file; those said before come first. */
  writeTo(path: string): void {
    this.#append = lineLog(path, (text) => this.warn(text));
    for (const line of this.#held) this.#append(line);
    this.#held = [];
  }

  /** Something happened. After the end nothing is told any more. */
  tell(told: Told): void {
    if (this.#ended) return;
    const { event: kind, ...rest } = told;
    const event = { event: kind, at: new Date().toISOString(), ...rest } as CampaignEvent;
    this.#count(event);
    for (const line of logLines(event)) this.#log(`${event.at} ${line}`);
    this.#screen.show(event);
  }

  /** Something to know. */
  say(text: string): void {
    this.tell({ event: "notice", level: "info", text });
  }

  /** Set-up that takes more than a few seconds: with `--quiet`, too, so that nobody takes it for a hang. */
  saySetUp(text: string): void {
    this.tell({ event: "notice", level: "setup", text });
  }

  /** Something that matters and may have gone wrong: to standard error. */
  warn(text: string): void {
    this.tell({ event: "notice", level: "warning", text });
  }

  /** A detail, for the log and for those who asked for all of it. */
  note(text: string): void {
    this.tell({ event: "detail", text });
  }

  /** A line of one of the run's programs; the run has a log of its own, so that the campaign's stays readable. */
  programLine(role: string, text: string): void {
    this.tell({ event: "detail", role, text });
  }

  /** The last word; the screen is given back. @param reason why, where it did not come to its end */
  end(exitCode: number, reason?: string): void {
    this.tell({
      event: "ended",
      exit_code: exitCode,
      ...(reason === undefined ? {} : { reason }),
      ...(this.#folder === undefined ? {} : { folder: this.#folder }),
      runs: { ...this.#runs },
    });
    this.#ended = true;
    this.close();
  }

  /** The campaign's, once it has one. */
  get folder(): string | undefined {
    return this.#folder;
  }

  /** How many runs are measured, whatever they are worth. */
  get measured(): number {
    const { valid, suspect, invalid, kept } = this.#runs;
    return valid + suspect + invalid + kept;
  }

  /** Gives the terminal back, also without a last word. */
  close(): void {
    this.#screen.close();
  }

  #count(event: CampaignEvent): void {
    const runs = this.#runs;
    if (event.event === "campaign") {
      this.#folder = event.folder;
      runs.not_begun = event.runs;
    } else if (event.event === "look") {
      runs.not_begun = Math.max(0, runs.not_begun - event.not_needed);
    } else if (event.event === "run_kept") {
      runs.kept++;
      runs.not_begun--;
    } else if (event.event === "run_finished") {
      runs[event.status]++;
      runs.not_begun--;
    }
  }

  #log(line: string): void {
    if (this.#append) this.#append(line);
    else this.#held.push(line);
  }
}
