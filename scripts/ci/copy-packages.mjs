/**
 * Copies packages with all that they depend on from one tree of packages into a folder:
 * copy-packages.mjs FROM FOLDER NAME…
 */
import { cpSync, existsSync, readFileSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";

const [from = "", folder = "", ...names] = process.argv.slice(2);

/** The folder of a package as an importer in `place` finds it. */
function find(name, place) {
  for (let parent = place; ; parent = dirname(parent)) {
    const candidate = join(parent, "node_modules", name);
    if (existsSync(join(candidate, "package.json"))) return candidate;
    if (parent === dirname(parent)) return undefined;
  }
}

const waiting = names.map((name) => ({ name, place: realpathSync(from) }));
const copied = new Set();
for (let next = waiting.pop(); next; next = waiting.pop()) {
  const source = find(next.name, next.place);
  if (!source || copied.has(source)) continue;
  copied.add(source);
  const target = join(folder, "node_modules", next.name);
  if (!existsSync(target))
    cpSync(source, target, { recursive: true, filter: (path) => !path.endsWith(".bin") });
  const { dependencies = {} } = JSON.parse(readFileSync(join(source, "package.json"), "utf8"));
  for (const name of Object.keys(dependencies)) waiting.push({ name, place: source });
}
