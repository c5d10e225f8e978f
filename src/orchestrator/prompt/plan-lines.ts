import { countedRuns, type Plan } from "../../contract/plan.js";
import {
  outlookLines,
  type Preview,
  plannedLoadText,
  roundsText,
  subjectCells,
  totalsText,
} from "../campaign/dry-run.js";
import { extentText } from "../ui/event-text.js";
import { counted, flow, textTable, widthOf } from "../ui/text.js";

/** What all configurations have in common, then a table of what differs. */
function configurationLines(plan: Plan, columns: number): string[] {
  const rows = plan.configurations.map(({ configuration }) => [
    ...subjectCells(configuration),
    plannedLoadText(plan, configuration),
    `${extentText(configuration)} measured`,
  ]);
  const isCommon = (column: number) => column > 0 && rows.every((row) => row[column] === rows[0]?.[column]);
  const common = (rows[0] ?? []).filter((_, column) => isCommon(column));
  const different = rows.map((row) => row.filter((_, column) => !isCommon(column)));
  const table = textTable(different).map((line) => `  ${line}`);
  const isWide = table.some((line) => widthOf(line) > columns);
  const count = counted(rows.length, "configuration");
  const most = plan.runs_per_configuration;
  const isEqual = plan.configurations.every(({ hash }) => countedRuns(plan, hash) === most);
  const runs = `${roundsText(plan)} ${isEqual ? "run" : "round"}${most === 1 ? "" : "s"}`;
  const each = isEqual ? " each" : "";
  return [
    rows.length === 1 ? `${count}, ${runs}` : `${count}, ${runs}${each}, ${plan.order}`,
    ...(common.length > 0 ? [`${rows.length === 1 ? "" : "all: "}${common.join(", ")}`] : []),
    ...(isWide
      ? different.flatMap(([label = "", ...rest]) => [`  ${label}`, ...flow(rest, columns, "    ")])
      : table),
  ];
}

/** The plan for the menu. Lines are at most `columns` wide, unless a name is longer. */
export function planLines(found: Preview, columns: number): string[] {
  const { runtime, plan } = found;
  return [
    `runtime: ${runtime.id} (${runtime.choice})`,
    ...configurationLines(plan, columns),
    ...outlookLines(found),
    totalsText(found),
  ];
}
