import { isBuiltin } from "node:module";

/** Resolution of what plugins of one file import: as if they were files of this project, wherever they lie. */

interface Context {
  parentURL?: string | undefined;
}
type Next<Resolved> = (specifier: string, context: Context) => Resolved;

const alone = new Set<string>();

/** @param urls of the plugins that are one file each */
export function initialize(urls: readonly string[]): void {
  for (const url of urls) alone.add(url);
}

export function resolve<Resolved>(specifier: string, context: Context, next: Next<Resolved>): Resolved {
  if (!alone.has(context.parentURL ?? "") || isBuiltin(specifier)) return next(specifier, context);
  if (/^\.{0,2}\/|^file:/.test(specifier)) {
    throw new Error(`it imports ${specifier}: a plugin of several files is a folder with a package.json`);
  }
  return next(specifier, { ...context, parentURL: import.meta.url });
}
