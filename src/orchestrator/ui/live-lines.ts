import type { EventOf } from "../../contract/events.js";
import { isSpoiled } from "../../judge/outcome.js";
import type { CampaignState } from "./campaign-state.js";
import { phaseText, roundText, runText, secondPieces } from "./event-text.js";
import { bar, durationText, escapeControls, flow, truncate, wrap } from "./text.js";

export interface Size {
  columns: number;
  rows: number;
}

/** The role of a line; the live screen gives it a colour. */
export type Tone = "head" | "strong" | "normal" | "dim" | "problem";
export interface LiveLine {
  tone: Tone;
  text: string;
}

/** Older live figures are not shown: they would look current. */
const STALE_MS = 2_500;
const MAX_BAR_COLUMNS = 40;
const PHASE_BAR_COLUMNS = 20;

const sinceMs = (at: string, nowMs: number): number => Math.max(0, nowMs - Date.parse(at));

/** `[####----]  3/12 runs  4 min left (14:32)`; on a narrow terminal the bar has its own line. */
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

/** `measure  [####------]  12 of 30 s`, or the time since a phase of unknown length began. */
function phaseLine({ phase, at, lasts_s }: EventOf<"phase">, nowMs: number, columns: number): string[] {
  const name = phaseText(phase);
  const passedS = sinceMs(at, nowMs) / 1000;
  if (lasts_s === undefined || lasts_s === 0) return flow([name, `${Math.floor(passedS)} s`], columns);
  const seconds = `${Math.min(Math.floor(passedS), Math.round(lasts_s))} of ${Number(lasts_s.toFixed(1))} s`;
  const room = columns - name.length - seconds.length - 4;
  const pieces =
    room >= 12 ? [name, bar(passedS / lasts_s, Math.min(PHASE_BAR_COLUMNS, room)), seconds] : [name, seconds];
  return flow(pieces, columns);
}

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

const targetsText = (state: CampaignState, { runs }: EventOf<"round_started">): string =>
  runs.flatMap((number) => state.startOf(number)?.configuration.target.label ?? []).join(", ");

function problemLine({ finished }: CampaignState, columns: number): string[] {
  const pieces = (["suspect", "invalid", "failed"] as const).flatMap((status) => {
    const count = finished.filter((run) => run.status === status).length;
    return count > 0 ? [`${count} ${status}`] : [];
  });
  const spoiled = finished.filter(isSpoiled).length;
  const all = spoiled > 0 ? [...pieces, `${spoiled} failed ${spoiled === 1 ? "its" : "their"} load`] : pieces;
  return all.length > 0 ? flow([`so far: ${all.join(", ")}`], columns) : [];
}

/** The lines of the live screen. They fit into the terminal. Pure. */
export function liveLines(state: CampaignState, nowMs: number, { columns, rows }: Size): LiveLine[] {
  // Some terminals break a line whose last column holds a character.
  const room = Math.max(1, columns - 1);
  const as = (tone: Tone, lines: readonly string[]) =>
    lines.map((text) => ({ tone, text: truncate(text, room) }));
  const { round, run } = state;
  const text = round ? `${roundText(round)}: ${targetsText(state, round)}` : run && runText(run);
  const what = text ? wrap(escapeControls(text), room) : [];
  const lines = [
    ...as("head", progressLines(state, nowMs, room)),
    ...as("strong", what),
    ...as("normal", state.phase ? phaseLine(state.phase, nowMs, room) : []),
    ...as("normal", figureLines(state, nowMs, room)),
    ...as("problem", problemLine(state, room)),
  ];
  return lines.slice(0, Math.max(1, rows - 1));
}
