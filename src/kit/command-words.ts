/** A piece of a command. Outside of quotes, characters that only a shell understands are none. */
const PIECE =
  /(?<blank>\s+)|'(?<single>[^']*)'|"(?<double>(?:\\.|[^"\\$`])*)"|\\(?<escaped>.)|(?<plain>[^\s'"\\|&;<>()$`*?~]+)/gsy;

/**
 * The words of a command as a POSIX shell reads them: between blanks, with quotes and backslashes,
 * but without any expansion.
 * @throws Error where a quote is not closed, nothing is named, or a character takes a shell
 */
export function commandWords(command: string): string[] {
  const words: string[] = [];
  let isOpen = false;
  let place = 0;
  for (const match of command.matchAll(PIECE)) {
    place += match[0].length;
    const { blank, single, double, escaped, plain } = match.groups ?? {};
    const text = single ?? double?.replaceAll(/\\(["\\$`])/g, "$1") ?? escaped ?? plain ?? "";
    if (blank === undefined) words.push(isOpen ? `${words.pop()}${text}` : text);
    isOpen = blank === undefined;
  }

  if (place < command.length) throw new Error(unreadText(command.slice(place)));
  if (words.length === 0) throw new Error("it names no program");
  return words;
}

/** Why a command cannot be read from here on. */
function unreadText(rest: string): string {
  const [first = ""] = rest;
  const isUnclosed = (first === "'" || first === '"') && !rest.slice(1).includes(first);
  if (isUnclosed || first === "\\") return `${first} is not closed`;
  const character = first === '"' ? "$" : first;
  return `${character} takes a shell`;
}
