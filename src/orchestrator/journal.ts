import { appendFileSync } from "node:fs";
import { messageOf } from "../contract/errors.js";

const clock = (): string => new Date().toTimeString().slice(0, 8);

/** Appends lines to a file. One that cannot be written is told once, and ends nothing: it is only a log. */
export function lineLog(path: string): (line: string) => void {
  let broken = false;
  return (line) => {
    if (broken) return;
    try {
      appendFileSync(path, `${line}\n`);
    } catch (error) {
      broken = true;
      process.stderr.write(`${path} cannot be written: ${messageOf(error)}\n`);
    }
  };
}

/** What the campaign tells: everything to its log, the milestones also to the screen. */
export class Journal {
  #append: ((line: string) => void) | undefined;
  #held: string[] = [];

  /** From now on lines are appended to this file; those said before come first. */
  writeTo(path: string): void {
    this.#append = lineLog(path);
    for (const line of this.#held) this.#append(line);
    this.#held = [];
  }

  /** A milestone. */
  say(text: string): void {
    process.stdout.write(`${text}\n`);
    this.note(text);
  }

  /** Something that matters and may have gone wrong: to standard error. */
  warn(text: string): void {
    process.stderr.write(`${text}\n`);
    this.note(text);
  }

  /** A detail, for the log alone. */
  note(text: string): void {
    const line = `${new Date().toISOString()} ${text}`;
    if (this.#append) this.#append(line);
    else this.#held.push(line);
  }

  /** A milestone with the time of day. */
  stamp(text: string): void {
    process.stdout.write(`${clock()} ${text}\n`);
    this.note(text);
  }
}
