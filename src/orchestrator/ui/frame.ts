import ansi from "ansi-escapes";
import type { Output } from "./types.js";

/**
 * Lines at the bottom of the terminal that are drawn over again and again. The cursor, hidden, rests at the start of
 * the first of them: after a resize, whether the terminal breaks long lines anew or not, that is still where the
 * frame begins, and all below it is ours.
 */
export class Frame {
  readonly #output: Output;
  #shown: readonly string[] = [];
  #hidden = false;

  constructor(output: Output) {
    this.#output = output;
  }

  /** @param lines each fits into one row; all together into the screen */
  draw(lines: readonly string[]): void {
    this.#shown = lines;
    this.#output.write(this.#hide() + this.#drawn());
  }

  /** Writes lines that stay, above the frame. @param write where they go, if not to this terminal's own stream */
  print(lines: readonly string[], write = (text: string) => this.#output.write(text)): void {
    if (lines.length === 0) return;
    this.#output.write(`\r${ansi.eraseDown}`);
    write(`${lines.join("\n")}\n`);
    if (this.#hidden) this.#output.write(this.#drawn());
  }

  /** Removes the frame and gives the cursor back; it can be drawn again. */
  remove(): void {
    if (!this.#hidden) return;
    this.#hidden = false;
    this.#output.write(`\r${ansi.eraseDown}${ansi.cursorShow}`);
  }

  #hide(): string {
    if (this.#hidden) return "";
    this.#hidden = true;
    return ansi.cursorHide;
  }

  #drawn(): string {
    // Each line over the old one, and only then what is left below: nothing is blank in between, so nothing flickers.
    const text = this.#shown.map((line) => `${line}${ansi.eraseEndLine}`).join("\n");
    const up = this.#shown.length > 1 ? ansi.cursorUp(this.#shown.length - 1) : "";
    return `\r${text}${this.#shown.length > 0 ? "" : ansi.eraseEndLine}${ansi.eraseDown}${up}\r`;
  }
}
