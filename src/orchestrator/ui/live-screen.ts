import { styleText } from "node:util";
import ansi from "ansi-escapes";
import type { CampaignEvent, RunStatus } from "../../contract/events.js";
import { isSpoiled } from "../../judge/outcome.js";
import { CampaignState } from "./campaign-state.js";
import {
  campaignText,
  configurationText,
  finishedText,
  lookText,
  phaseText,
  runNumberText,
} from "./event-text.js";
import { finalLines, problemLines } from "./final-screen.js";
import { liveLines, type Tone } from "./live-lines.js";
import { durationText, escapeControls, escapeControlsInLines, wrap } from "./text.js";
import type { Detail, Output, Outputs, Screen } from "./types.js";

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

type Style = Parameters<typeof styleText>[0];

const TONES: Record<Tone, Style | undefined> = {
  head: "cyan",
  strong: "bold",
  normal: undefined,
  dim: "dim",
  problem: "yellow",
};

/**
 * A redraw takes 0.03 to 0.13 ms of CPU (2.5 GHz core), and this process shares its cores with the measured programs:
 * four per second take about 0.05 % of one core.
 */
const REDRAW_MS = 250;
const CLOCK_MS = 1000;

/** For a terminal: finished runs scroll by; below them, the current run is redrawn in place. */
export class LiveScreen implements Screen {
  readonly #outputs: Outputs;
  readonly #detail: Detail;
  readonly #state = new CampaignState();
  readonly #frame: Frame;
  readonly #hasColors: boolean;
  readonly #clock: NodeJS.Timeout;
  #drawnAtMs = 0;
  #pending: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(outputs: Outputs, detail: Detail) {
    this.#outputs = outputs;
    this.#detail = detail;
    this.#frame = new Frame(outputs.out);
    this.#hasColors = outputs.out.hasColors?.() ?? false;
    this.#clock = setInterval(() => this.#draw(), CLOCK_MS).unref();
    outputs.out.on?.("resize", this.#redraw);
    process.on("SIGTSTP", this.#suspend);
    process.on("SIGCONT", this.#redraw);
  }

  show(event: CampaignEvent): void {
    this.#state.add(event);
    if (event.event === "ended") {
      this.#finish();
      return;
    }
    if (event.event === "notice" && event.level === "warning") {
      const { err } = this.#outputs;
      const lines = wrap(escapeControls(event.text), this.#columns);
      this.#frame.print(
        lines.map((line) => this.#styled("yellow", line)),
        (text) => err.write(text),
      );
    } else this.#frame.print(this.#permanentLines(event));
    this.#draw();
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    clearInterval(this.#clock);
    clearTimeout(this.#pending);
    this.#outputs.out.off?.("resize", this.#redraw);
    process.off("SIGTSTP", this.#suspend);
    process.off("SIGCONT", this.#redraw);
    this.#frame.remove();
  }

  /** Ctrl-Z: the shell gets its cursor back. The frame returns when the campaign continues. */
  readonly #suspend = (): void => {
    this.#frame.remove();
    process.kill(process.pid, "SIGSTOP");
  };

  readonly #redraw = (): void => {
    this.#drawnAtMs = 0;
    this.#draw();
  };

  #finish(): void {
    this.close();
    const columns = this.#columns;
    const { out, err } = this.#outputs;
    for (const line of finalLines(this.#state, columns)) out.write(`${line}\n`);
    for (const line of problemLines(this.#state, columns)) err.write(`${this.#styled("yellow", line)}\n`);
  }

  /** Width of permanent lines. Some terminals break a line whose last column holds a character. */
  get #columns(): number {
    return Math.max(20, (this.#outputs.out.columns ?? 80) - 1);
  }

  #styled(style: Style | undefined, text: string): string {
    if (!this.#hasColors || style === undefined) return text;
    return styleText(style, text, { validateStream: false });
  }

  #permanentLines(event: CampaignEvent): string[] {
    const verbose = this.#detail === "verbose";
    switch (event.event) {
      case "notice":
        return wrap(escapeControls(event.text), this.#columns);
      case "campaign":
        return wrap(escapeControls(campaignText(event, durationText(event.estimate_s))), this.#columns);
      case "run_kept":
        return [this.#styled("dim", escapeControls(`[${event.number}/${event.of}] ${event.file} is kept`))];
      case "run_finished": {
        const started = this.#state.started.get(event.file);
        const what = started
          ? `${configurationText(started.configuration)}, ${runNumberText(event)}`
          : event.file;
        const styles: Partial<Record<RunStatus, Style>> = { valid: "green", suspect: "yellow" };
        const style = isSpoiled(event) ? "red" : (styles[event.status] ?? "red");
        const head = wrap(escapeControls(`[${event.number}/${event.of}] ${what}`), this.#columns);
        const figures = wrap(
          escapeControls(`  ${finishedText(event, started?.configuration)}`),
          this.#columns,
        );
        return [
          ...head.map((line) => this.#styled("bold", line)),
          ...figures.map((line) => this.#styled(style, line)),
        ];
      }
      case "look":
        return wrap(escapeControls(lookText(event)), this.#columns);
      case "phase":
        return verbose ? [this.#styled("dim", `  ${phaseText(event.phase)}`)] : [];
      case "detail": {
        const text = event.role ? `${event.role}: ${event.text}` : event.text;
        return verbose ? [this.#styled("dim", escapeControlsInLines(`    ${text}`))] : [];
      }
      default:
        return [];
    }
  }

  #draw(): void {
    if (this.#closed || !this.#state.campaign) return;
    const now = Date.now();
    const wait = this.#drawnAtMs + REDRAW_MS - now;
    if (wait > 0) {
      this.#pending ??= setTimeout(() => {
        this.#pending = undefined;
        this.#draw();
      }, wait).unref();
      return;
    }
    this.#drawnAtMs = now;
    const { columns = 80, rows = 24 } = this.#outputs.out;
    const lines = liveLines(this.#state, now, { columns, rows });
    this.#frame.draw(lines.map(({ tone, text }) => this.#styled(TONES[tone], text)));
  }
}
