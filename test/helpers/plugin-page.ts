import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./programs.js";

/** The files and commands that the part of docs/extending.md about plugins names. */
export interface PluginPage {
  files: { name: string; text: string }[];
  commands: string[];
}

export function pluginPage(): PluginPage {
  const page = readFileSync(join(ROOT, "docs/extending.md"), "utf8");
  const part = /^## As a plugin$(.*?)^## /ms.exec(page)?.[1] ?? "";
  const names = [...part.matchAll(/\]\(plugins\/(?<name>[\w.-]+)\)/g)].map(
    ({ groups }) => groups?.name ?? "",
  );
  const commands = [...part.matchAll(/^```sh\n(?<text>.*?)^```$/gms)];
  return {
    files: names.map((name) => ({
      name,
      text: readFileSync(join(ROOT, "docs/plugins", name), "utf8"),
    })),
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
