import { appendFileSync } from "node:fs";

const clock = (): string => new Date().toTimeString().slice(0, 8);

/** What the campaign tells: everything to its log, the milestones also to the screen. */
export class Journal {
  #path: string | undefined;
  #held: string[] = [];

  /** From now on lines are appended to this file; those said before come first. */
  writeTo(path: string): void {
    this.#path = path;
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
    if (this.#path) this.#append(line);
    else this.#held.push(line);
  }

  /** A milestone with the time of day. */
  stamp(text: string): void {
    process.stdout.write(`${clock()} ${text}\n`);
    this.note(text);
  }

  #append(line: string): void {
    if (this.#path) appendFileSync(this.#path, `${line}\n`);
  }
}
