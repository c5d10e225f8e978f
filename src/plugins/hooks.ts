import { isBuiltin } from "node:module";

/** Resolves the imports of plugins of one file as if the file were in this project. */

type Context = { parentURL?: string | undefined };
type Next<Resolved> = (specifier: string, context: Context) => Resolved;

const singleFiles = new Set<string>();

export function initialize(urls: readonly string[]): void {
  for (const url of urls) singleFiles.add(url);
}

export function resolve<Resolved>(
  specifier: string,
  context: Context,
  next: Next<Resolved>,
): Resolved {
  if (!singleFiles.has(context.parentURL ?? "") || isBuiltin(specifier))
    return next(specifier, context);
  if (/^\.{0,2}\/|^file:/.test(specifier))
    throw new Error(
      `it imports ${specifier}: a plugin of several files is a folder with a package.json`,
    );
  return next(specifier, { ...context, parentURL: import.meta.url });
}
