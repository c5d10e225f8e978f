import { styleText } from "node:util";
import ansi from "ansi-escapes";
import type { CampaignEvent, EventOf, RunStatus } from "../../contract/events.js";
import { isSpoiled } from "../../judge/outcome.js";
import { CampaignState } from "./campaign-state.js";
import {
  campaignText,
  configurationText,
  finishedText,
  lookText,
  phaseText,
  roundText,
  runNumberText,
  runText,
  secondPieces,
} from "./event-text.js";
import { finalLines, problemLines } from "./final-screen.js";
import type { Detail, Output, Outputs, Screen } from "./screen-types.js";
import {
  bar,
  durationText,
  escapeControls,
  escapeControlsInLines,
  flow,
  truncate,
  wrap,
} from "./text.js";

export type Size = { columns: number; rows: number };

/** The role of a line; the live screen gives it a colour. */
type Tone = "head" | "strong" | "normal" | "dim" | "problem";
type LiveLine = { tone: Tone; text: string };

/** Live figures older than this are not shown, because they would look current. */
const STALE_MS = 2_500;
const MAX_BAR_COLUMNS = 40;
const PHASE_BAR_COLUMNS = 20;

const sinceMs = (at: string, nowMs: number): number => Math.max(0, nowMs - Date.parse(at));

/**
 * The progress as `[####----]  3/12 runs  25 %  4 min left (until 14:32)`. On a narrow terminal the
 * bar has a line to itself.
 */
function progressLines(state: CampaignState, nowMs: number, columns: number): string[] {
  const { campaign, timeLeft } = state;
  if (!campaign || !timeLeft) return [];
  const elapsedS = sinceMs(campaign.at, nowMs) / 1000;
  const leftS = Math.max(0, timeLeft.time_left_s - sinceMs(timeLeft.at, nowMs) / 1000);
  const share = elapsedS + leftS > 0 ? elapsedS / (elapsedS + leftS) : 1;
  const until = new Date(nowMs + leftS * 1000).toTimeString().slice(0, 5);
  const pieces = [
    `${state.done}/${state.total} runs`,
    `${Math.floor(100 * share)} %`,
    `${durationText(leftS)} left (until ${until})`,
  ];
  const room = columns - pieces.join("  ").length - 2;
  if (room >= 12) return [`${bar(share, Math.min(MAX_BAR_COLUMNS, room))}  ${pieces.join("  ")}`];
  return [bar(share, Math.min(MAX_BAR_COLUMNS, columns)), ...flow(pieces, columns)];
}

/**
 * A phase as `measure  [####------]  12 of 30 s`, or with the time since it began where its length
 * is not known.
 */
function phaseLine(
  { phase, at, lasts_s }: EventOf<"phase">,
  nowMs: number,
  columns: number,
): string[] {
  const name = phaseText(phase);
  const passedS = sinceMs(at, nowMs) / 1000;
  if (lasts_s === undefined || lasts_s === 0)
    return flow([name, `${Math.floor(passedS)} s`], columns);
  const seconds = `${Math.min(Math.floor(passedS), Math.round(lasts_s))} of ${Number(lasts_s.toFixed(1))} s`;
  const room = columns - name.length - seconds.length - 4;
  const pieces =
    room >= 12
      ? [name, bar(passedS / lasts_s, Math.min(PHASE_BAR_COLUMNS, room)), seconds]
      : [name, seconds];
  return flow(pieces, columns);
}

/** The figures of the latest second, or how long there were none. */
function figureLines(state: CampaignState, nowMs: number, columns: number): string[] {
  const { phase, second } = state;
  if (phase?.phase !== "measure") return [];
  const ageMs = sinceMs(second?.at ?? phase.at, nowMs);
  if (second && ageMs < STALE_MS) return flow(secondPieces(second, state), columns);
  return flow(
    [ageMs < STALE_MS ? "no figures yet" : `no figures for ${Math.floor(ageMs / 1000)} s`],
    columns,
  );
}

/** The labels of the targets of a round. */
function targetsText(state: CampaignState, { runs }: EventOf<"round_started">): string {
  const labels = runs.flatMap((number) => state.startOf(number)?.configuration.target.label ?? []);
  // In a load curve a target has a run for each load.
  return [...new Set(labels)].join(", ");
}

/** How many runs were not valid so far; empty where all were. */
function problemCountLines({ finished }: CampaignState, columns: number): string[] {
  const pieces = (["suspect", "invalid", "failed"] as const).flatMap((status) => {
    const count = finished.filter((run) => run.status === status).length;
    return count > 0 ? [`${count} ${status}`] : [];
  });
  const spoiled = finished.filter(isSpoiled).length;
  if (spoiled > 0) pieces.push(`${spoiled} failed ${spoiled === 1 ? "its" : "their"} load`);
  return pieces.length > 0 ? flow([`so far: ${pieces.join(", ")}`], columns) : [];
}

/** The lines of the live screen, which fit into the terminal. */
export function liveLines(
  state: CampaignState,
  nowMs: number,
  { columns, rows }: Size,
): LiveLine[] {
  // Some terminals break a line whose last column holds a character.
  const room = Math.max(1, columns - 1);
  const toned = (tone: Tone, lines: readonly string[]) =>
    lines.map((text) => ({ tone, text: truncate(text, room) }));
  const { round, run } = state;
  const subject = round ? `${roundText(round)}: ${targetsText(state, round)}` : run && runText(run);
  const lines = [
    ...toned("head", progressLines(state, nowMs, room)),
    ...toned("strong", subject ? wrap(escapeControls(subject), room) : []),
    ...toned("normal", state.phase ? phaseLine(state.phase, nowMs, room) : []),
    ...toned("normal", figureLines(state, nowMs, room)),
    ...toned("problem", problemCountLines(state, room)),
  ];
  return lines.slice(0, Math.max(1, rows - 1));
}

/** Save and restore the place of the cursor. Every terminal knows these, unlike those of ansi-escapes. */
const SAVE_CURSOR = "\u001b7";
const RESTORE_CURSOR = "\u001b8";

/**
 * Draws lines at the bottom of the terminal, and redraws them in place. The hidden cursor stays at
 * the start of the first line, and is put back there because Enter moves it. After a resize the frame
 * still begins where the cursor is, and everything below belongs to it.
 */
export class Frame {
  readonly #output: Output;
  #shown: readonly string[] = [];
  #isDrawn = false;
  #isPlaceSaved = false;

  constructor(output: Output) {
    this.#output = output;
  }

  draw(lines: readonly string[]): void {
    this.#shown = lines;
    this.#output.write(this.#hideCursorText() + this.#startText() + this.#redrawText());
  }

  print(lines: readonly string[], write = (text: string) => this.#output.write(text)): void {
    if (lines.length === 0) return;
    this.#output.write(`${this.#startText()}${ansi.eraseDown}`);
    write(`${lines.join("\n")}\n`);
    if (this.#isDrawn) this.#output.write(this.#redrawText());
  }

  remove(): void {
    if (!this.#isDrawn) return;
    this.#output.write(`${this.#startText()}${ansi.eraseDown}${ansi.cursorShow}`);
    this.#isDrawn = false;
    this.#isPlaceSaved = false;
  }

  /** Keeps the frame where the cursor is now, because a resize moves lines. */
  moved(): void {
    this.#isPlaceSaved = false;
  }

  /** Leads to the start of the first line. */
  #startText(): string {
    return `${this.#isPlaceSaved ? RESTORE_CURSOR : ""}\r`;
  }

  #hideCursorText(): string {
    if (this.#isDrawn) return "";
    this.#isDrawn = true;
    return ansi.cursorHide;
  }

  #redrawText(): string {
    // Each line is overwritten and the area below erased last, so no row is ever blank or flickers.
    const text = this.#shown.map((line) => `${line}${ansi.eraseEndLine}`).join("\n");
    const up = this.#shown.length > 1 ? ansi.cursorUp(this.#shown.length - 1) : "";
    this.#isPlaceSaved = true;
    const end = `${this.#shown.length > 0 ? "" : ansi.eraseEndLine}${ansi.eraseDown}${up}\r`;
    return `${text}${end}${SAVE_CURSOR}`;
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

const STATUS_STYLES: Partial<Record<RunStatus, Style>> = { valid: "green", suspect: "yellow" };

/**
 * The time between redraws. A redraw takes 0.03 to 0.13 ms of CPU (2.5 GHz core), and this process
 * shares its cores with the measured programs, so four per second take about 0.05 % of one core.
 */
const REDRAW_MS = 250;
const CLOCK_MS = 1000;

/** Shows a campaign on a terminal: finished runs scroll by above the current one, which is redrawn. */
export class LiveScreen implements Screen {
  readonly #outputs: Outputs;
  readonly #detail: Detail;
  readonly #state = new CampaignState();
  readonly #frame: Frame;
  readonly #hasColors: boolean;
  readonly #clock: NodeJS.Timeout;
  #drawnAtMs = Number.NEGATIVE_INFINITY;
  #pendingDraw: NodeJS.Timeout | undefined;
  #isClosed = false;

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
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearInterval(this.#clock);
    clearTimeout(this.#pendingDraw);
    this.#outputs.out.off?.("resize", this.#redraw);
    process.off("SIGTSTP", this.#suspend);
    process.off("SIGCONT", this.#redraw);
    this.#frame.remove();
  }

  /** Gives the cursor back to the shell on Ctrl-Z. The frame returns when the campaign continues. */
  readonly #suspend = (): void => {
    this.#frame.remove();
    process.kill(process.pid, "SIGSTOP");
  };

  readonly #redraw = (): void => {
    this.#frame.moved();
    this.#drawnAtMs = Number.NEGATIVE_INFINITY;
    this.#draw();
  };

  #finish(): void {
    this.close();
    const columns = this.#columns;
    const { out, err } = this.#outputs;
    for (const line of finalLines(this.#state, columns)) out.write(`${line}\n`);
    for (const line of problemLines(this.#state, columns))
      err.write(`${this.#styled("yellow", line)}\n`);
  }

  /**
   * The width of permanent lines. It leaves out the last column, because some terminals break a line
   * with a character there.
   */
  get #columns(): number {
    return Math.max(20, (this.#outputs.out.columns ?? 80) - 1);
  }

  #styled(style: Style | undefined, text: string): string {
    if (!this.#hasColors || style === undefined) return text;
    return styleText(style, text, { validateStream: false });
  }

  #wrapped(text: string): string[] {
    return wrap(escapeControls(text), this.#columns);
  }

  #finishedLines(event: EventOf<"run_finished">): string[] {
    const started = this.#state.started.get(event.file);
    const subject = started
      ? `${configurationText(started.configuration)}, ${runNumberText(event)}`
      : event.file;
    const head = this.#wrapped(`[${event.number}/${event.of}] ${subject}`);
    const figures = this.#wrapped(`  ${finishedText(event, started?.configuration, this.#state)}`);
    const style = isSpoiled(event) ? "red" : (STATUS_STYLES[event.status] ?? "red");
    return [
      ...head.map((line) => this.#styled("bold", line)),
      ...figures.map((line) => this.#styled(style, line)),
    ];
  }

  #permanentLines(event: CampaignEvent): string[] {
    const isVerbose = this.#detail === "verbose";
    switch (event.event) {
      case "notice":
        return this.#wrapped(event.text);
      case "campaign":
        return this.#wrapped(campaignText(event, durationText(event.estimate_s)));
      case "run_kept":
        return [
          this.#styled(
            "dim",
            escapeControls(`[${event.number}/${event.of}] ${event.file} is kept`),
          ),
        ];
      case "run_finished":
        // What ended the campaign is said once, at its end.
        return event.status === "aborted" ? [] : this.#finishedLines(event);
      case "look":
        return this.#wrapped(lookText(event));
      case "phase":
        return isVerbose ? [this.#styled("dim", `  ${phaseText(event.phase)}`)] : [];
      case "detail": {
        const text = event.role ? `${event.role}: ${event.text}` : event.text;
        return isVerbose ? [this.#styled("dim", escapeControlsInLines(`    ${text}`))] : [];
      }
      default:
        return [];
    }
  }

  #draw(): void {
    if (this.#isClosed || !this.#state.campaign) return;
    const nowMs = performance.now();
    const waitMs = this.#drawnAtMs + REDRAW_MS - nowMs;
    if (waitMs > 0) {
      this.#pendingDraw ??= setTimeout(() => {
        this.#pendingDraw = undefined;
        this.#draw();
      }, waitMs).unref();
      return;
    }

    this.#drawnAtMs = nowMs;
    const { columns = 80, rows = 24 } = this.#outputs.out;
    const lines = liveLines(this.#state, Date.now(), { columns, rows });
    this.#frame.draw(lines.map(({ tone, text }) => this.#styled(TONES[tone], text)));
  }
}
