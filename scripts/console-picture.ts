import { readFileSync } from "node:fs";

/**
 * Draws what a command printed as a picture for a page: text on standard input, SVG on standard
 * output. The command that printed it is the argument.
 *   tsx scripts/console-picture.ts 'ratelimit-bench audit …' <printed.txt >docs/images/NAME.svg
 */
const CHARACTER_PX = 7.8;
const LINE_PX = 18;
const MARGIN_PX = 16;

const ESCAPES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };
const escaped = (text: string): string => text.replaceAll(/[&<>]/g, (one) => ESCAPES[one] ?? one);

/** Lines on what does not hold stand out. */
const colourOf = (line: string): string => {
  if (line.startsWith("$")) return "#7ee787";
  return /does not hold/i.test(line) ? "#ff7b72" : "#e6edf3";
};

const [command = ""] = process.argv.slice(2);
const lines = [`$ ${command}`, ...readFileSync(0, "utf8").trimEnd().split("\n")];
const width = Math.ceil(
  2 * MARGIN_PX + CHARACTER_PX * Math.max(...lines.map((line) => line.length)),
);
const height = 2 * MARGIN_PX + LINE_PX * lines.length;
const texts = lines.map(
  (line, index) =>
    `<text x="${MARGIN_PX}" y="${MARGIN_PX + LINE_PX * (index + 0.75)}" fill="${colourOf(line)}" xml:space="preserve">${escaped(line)}</text>`,
);
process.stdout.write(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="ui-monospace, Menlo, Consolas, monospace" font-size="13">
<title>${escaped(command)}</title>
<rect width="100%" height="100%" rx="8" fill="#0d1117"/>
${texts.join("\n")}
</svg>
`);
