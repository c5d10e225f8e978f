import type { EventOf } from "../../contract/events.js";
import type { CampaignState } from "./campaign-state.js";
import { phaseText, runText, secondPieces } from "./event-text.js";
import { bar, cut, durationText, flow, plain, wrap } from "./text.js";

export interface Size {
  columns: number;
  rows: number;
}

/** How a line is meant; the terminal gives it a colour, or none. */
export type Tone = "head" | "strong" | "normal" | "dim" | "bad";
export interface LiveLine {
  tone: Tone;
  text: string;
}

/** Live figures that are older than this are not shown any more: they would look like those of now. */
const STALE_MS = 2_500;
const WIDEST_BAR = 40;
const PHASE_BAR = 20;

const sinceMs = (at: string, nowMs: number): number => Math.max(0, nowMs - Date.parse(at));

/** `[####----]  3/12 runs  4 min left (14:32)`; on a narrow terminal the bar has a line of its own. */
function overall(state: CampaignState, nowMs: number, columns: number): string[] {
  const { campaign, left } = state;
  if (!campaign || !left) return [];
  const elapsedS = sinceMs(campaign.at, nowMs) / 1000;
  const leftS = Math.max(0, left.time_left_s - sinceMs(left.at, nowMs) / 1000);
  const share = elapsedS + leftS > 0 ? elapsedS / (elapsedS + leftS) : 1;
  const until = new Date(nowMs + leftS * 1000).toTimeString().slice(0, 5);
  const pieces = [
    `${state.done}/${state.total} runs`,
    `${Math.floor(100 * share)} %`,
    `${durationText(leftS)} left (until ${until})`,
  ];
  const room = columns - pieces.join("  ").length - 2;
  if (room >= 12) return [`${bar(share, Math.min(WIDEST_BAR, room))}  ${pieces.join("  ")}`];
  return [bar(share, Math.min(WIDEST_BAR, columns)), ...flow(pieces, columns)];
}

/** `measure  [####------]  12 of 30 s`, or how long a phase of unknown length has lasted. */
function phaseLine({ phase, at, lasts_s }: EventOf<"phase">, nowMs: number, columns: number): string[] {
  const name = phaseText(phase);
  const passedS = sinceMs(at, nowMs) / 1000;
  if (lasts_s === undefined || lasts_s === 0) return flow([name, `${Math.floor(passedS)} s`], columns);
  const seconds = `${Math.min(Math.floor(passedS), Math.round(lasts_s))} of ${Number(lasts_s.toFixed(1))} s`;
  const room = columns - name.length - seconds.length - 4;
  const pieces =
    room >= 12 ? [name, bar(passedS / lasts_s, Math.min(PHASE_BAR, room)), seconds] : [name, seconds];
  return flow(pieces, columns);
}

function figureLines(state: CampaignState, nowMs: number, columns: number): string[] {
  const { phase, second } = state;
  if (phase?.phase !== "measure") return [];
  const newest = second?.at ?? phase.at;
  const ageMs = sinceMs(newest, nowMs);
  if (second && ageMs < STALE_MS) return flow(secondPieces(second), columns);
  return flow(
    [ageMs < STALE_MS ? "no figures yet" : `no figures for ${Math.floor(ageMs / 1000)} s`],
    columns,
  );
}

function badLine({ finished }: CampaignState, columns: number): string[] {
  const pieces = (["suspect", "invalid", "failed"] as const).flatMap((status) => {
    const count = finished.filter((run) => run.status === status).length;
    return count > 0 ? [`${count} ${status}`] : [];
  });
  return pieces.length > 0 ? flow([`so far: ${pieces.join(", ")}`], columns) : [];
}

/** The lines of the live screen; none is wider or all together higher than the terminal. Pure. */
export function liveLines(state: CampaignState, nowMs: number, { columns, rows }: Size): LiveLine[] {
  // The last column stays free: a character in it makes some terminals break the line.
  const room = Math.max(1, columns - 1);
  const as = (tone: Tone, lines: readonly string[]) => lines.map((text) => ({ tone, text: cut(text, room) }));
  const what = state.run ? wrap(plain(runText(state.run)), room) : [];
  const lines = [
    ...as("head", overall(state, nowMs, room)),
    ...as("strong", what),
    ...as("normal", state.phase ? phaseLine(state.phase, nowMs, room) : []),
    ...as("normal", figureLines(state, nowMs, room)),
    ...as("bad", badLine(state, room)),
  ];
  return lines.slice(0, Math.max(1, rows - 1));
}
