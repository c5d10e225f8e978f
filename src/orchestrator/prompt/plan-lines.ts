import { countedRuns, type Plan } from "../../contract/plan.js";
import {
  groupLines,
  noteLines,
  type Preview,
  plannedLoadText,
  roundsText,
  runtimeText,
  subjectCells,
  totalsText,
} from "../campaign/dry-run.js";
import { extentText } from "../ui/event-text.js";
import { counted, flow, textTable, widthOf, wrap } from "../ui/text.js";

/**
 * What all configurations have in common, then a table of what differs. The same in few lines are
 * the first cells of the table alone.
 */
function configurationLines(
  plan: Plan,
  columns: number,
): { head: string[]; table: string[]; targets: string[] } {
  const rows = plan.configurations.map(({ configuration }) => [
    ...subjectCells(configuration),
    plannedLoadText(plan, configuration),
    `${extentText(configuration)} measured`,
  ]);
  const isCommon = (column: number) =>
    column > 0 && rows.every((row) => row[column] === rows[0]?.[column]);
  const common = (rows[0] ?? []).filter((_, column) => isCommon(column));
  const different = rows.map((row) => row.filter((_, column) => !isCommon(column)));
  const table = textTable(different).map((line) => `  ${line}`);
  const isWide = table.some((line) => widthOf(line) > columns);
  const count = counted(rows.length, "configuration");
  const mostRuns = plan.runs_per_configuration;
  const isEqual = plan.configurations.every(({ hash }) => countedRuns(plan, hash) === mostRuns);
  const runs = `${roundsText(plan)} ${isEqual ? "run" : "round"}${mostRuns === 1 ? "" : "s"}`;
  const suffix = isEqual ? " each" : "";
  const isSingle = rows.length === 1;
  const head = [isSingle ? `${count}, ${runs}` : `${count}, ${runs}${suffix}, ${plan.order}`];
  if (common.length > 0) head.push(`${isSingle ? "" : "all: "}${common.join(", ")}`);

  const targets = flow([...new Set(rows.map(([target = ""]) => target))], columns, "  ");
  if (!isWide) return { head, table, targets };

  const narrowTable = different.flatMap(([label = "", ...cells]) => [
    `  ${label}`,
    ...flow(cells, columns, "    "),
  ]);
  return { head, table: narrowTable, targets };
}

/** At most `room` lines, of which the last one counts those left out. */
function folded(lines: readonly string[], room: number): readonly string[] {
  if (lines.length <= room) return lines;
  const shown = lines.slice(0, Math.max(0, room - 1));
  return [...shown, `  … ${lines.length - shown.length} more (--dry-run)`];
}

/** Whole notes within so many lines, of which the last one counts those left out. */
function foldedNotes(notes: readonly string[], columns: number, room: number): readonly string[] {
  const wrapped = notes.map((note) => wrap(note, columns));
  if (wrapped.flat().length <= room) return wrapped.flat();

  const shown: string[] = [];
  let hidden = notes.length;
  for (const lines of wrapped) {
    if (shown.length + lines.length > room - 1) break;
    shown.push(...lines);
    hidden -= 1;
  }
  return [...shown, `… ${counted(hidden, "more note")} (--dry-run)`];
}

/**
 * The plan for the menu. Lines are at most `columns` wide, unless a name is longer. Where `room`
 * lines are too few, the table and the notes are folded, while targets, rounds, memory and time
 * stay.
 * @param warnings lines on what would distort the figures, which come before the notes
 */
export function planLines(
  preview: Preview,
  warnings: readonly string[],
  { columns, room }: { columns: number; room: number },
): string[] {
  const { plan } = preview;
  const wrapped = (lines: readonly string[]) => lines.flatMap((line) => wrap(line, columns));
  const { head, table, targets } = configurationLines(plan, columns);
  const summary = wrapped([runtimeText(preview), ...head]);
  const groups = wrapped(groupLines(preview));
  const notes = [...warnings, ...noteLines(preview)];
  const noteLineCount = wrapped(notes).length;
  const totals = wrapped([totalsText(preview)]);
  const sharedRoom = room - summary.length - groups.length - totals.length;
  // A short table leaves its room to the notes.
  const noteRoom = Math.max(Math.min(noteLineCount, 1), sharedRoom - table.length);
  const tableRoom = sharedRoom - Math.min(noteLineCount, noteRoom);
  const isTableWhole = table.length <= tableRoom;
  return [
    ...summary,
    ...folded(isTableWhole ? table : targets, tableRoom),
    ...groups,
    ...foldedNotes(notes, columns, noteRoom),
    ...totals,
  ];
}
