import ansi from "ansi-escapes";
import type { Output } from "./types.js";

/**
 * Lines at the bottom of the terminal, redrawn in place. The hidden cursor stays at the start of the first line: after
 * a resize the frame still begins there, and everything below belongs to it.
 */
export class Frame {
  readonly #output: Output;
  #shown: readonly string[] = [];
  #isDrawn = false;

  constructor(output: Output) {
    this.#output = output;
  }

  draw(lines: readonly string[]): void {
    this.#shown = lines;
    this.#output.write(this.#hideCursorText() + this.#redrawText());
  }

  print(lines: readonly string[], write = (text: string) => this.#output.write(text)): void {
    if (lines.length === 0) return;
    this.#output.write(`\r${ansi.eraseDown}`);
    write(`${lines.join("\n")}\n`);
    if (this.#isDrawn) this.#output.write(this.#redrawText());
  }

  remove(): void {
    if (!this.#isDrawn) return;
    this.#isDrawn = false;
    this.#output.write(`\r${ansi.eraseDown}${ansi.cursorShow}`);
  }

  #hideCursorText(): string {
    if (this.#isDrawn) return "";
    this.#isDrawn = true;
    return ansi.cursorHide;
  }

  #redrawText(): string {
    // Overwrites each line and erases the rest last: no row is ever blank, so nothing flickers.
    const text = this.#shown.map((line) => `${line}${ansi.eraseEndLine}`).join("\n");
    const up = this.#shown.length > 1 ? ansi.cursorUp(this.#shown.length - 1) : "";
    return `\r${text}${this.#shown.length > 0 ? "" : ansi.eraseEndLine}${ansi.eraseDown}${up}\r`;
  }
}
