import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./programs.js";

/** The files and commands of the part of docs/extending.md that is about plugins, as they stand there. */
export interface PluginPage {
  files: { name: string; text: string }[];
  commands: string[];
}

export function pluginPage(): PluginPage {
  const page = readFileSync(join(ROOT, "docs/extending.md"), "utf8");
  const part = /^## As a plugin$(.*?)^## /ms.exec(page)?.[1] ?? "";
  const files = [...part.matchAll(/^`(?<name>[\w.-]+)`:\n\n```js\n(?<text>.*?)^```$/gms)];
  const commands = [...part.matchAll(/^```sh\n(?<text>.*?)^```$/gms)];
  return {
    files: files.map(({ groups }) => ({ name: groups?.name ?? "", text: groups?.text ?? "" })),
    commands: commands.map(({ groups }) => groups?.text ?? ""),
  };
}

/** Saves the page's files there. @returns their paths */
export function savePage(folder: string): string[] {
  return pluginPage().files.map(({ name, text }) => {
    const path = join(folder, name);
    writeFileSync(path, text);
    return path;
  });
}
