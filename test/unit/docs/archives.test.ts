import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../../helpers/programs.js";

/** As `ls -h` and `du -h` print it. */
const MEGABYTE = 2 ** 20;
/**
 * Who clones the repository gets all archives, so each kind of them has a budget, which leaves out
 * those of a kind below it.
 */
const BUDGETS_MB = {
  claims: 12,
  "claims/original-matrix": 4,
  published: 8,
  "example.tar.xz": 1,
};

function archiveBytes(path: string, isOtherKind: (path: string) => boolean): number {
  if (!statSync(path).isDirectory()) return path.endsWith(".tar.xz") ? statSync(path).size : 0;
  let bytes = 0;
  for (const name of readdirSync(path)) {
    const member = join(path, name);
    if (!isOtherKind(member)) bytes += archiveBytes(member, isOtherKind);
  }
  return bytes;
}

test.each(Object.entries(BUDGETS_MB))(
  "the archives of results/%s are at most %d MB",
  (name, megabytes) => {
    const kinds = Object.keys(BUDGETS_MB).map((kind) => join(ROOT, "results", kind));
    const bytes = archiveBytes(join(ROOT, "results", name), (path) => kinds.includes(path));
    expect(bytes).toBeGreaterThan(0);
    expect(bytes).toBeLessThanOrEqual(megabytes * MEGABYTE);
  },
);
