import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../../helpers/programs.js";

const MEGABYTE = 1e6;
/** Who clones the repository gets all archives, so each kind of them has a budget. */
const BUDGETS_MB = { claims: 12, published: 8, "example.tar.xz": 1 };

function archiveBytes(path: string): number {
  if (!statSync(path).isDirectory()) return path.endsWith(".tar.xz") ? statSync(path).size : 0;
  let bytes = 0;
  for (const name of readdirSync(path)) bytes += archiveBytes(join(path, name));
  return bytes;
}

test.each(Object.entries(BUDGETS_MB))(
  "the archives of results/%s are at most %d MB",
  (name, megabytes) => {
    const bytes = archiveBytes(join(ROOT, "results", name));
    expect(bytes).toBeGreaterThan(0);
    expect(bytes).toBeLessThanOrEqual(megabytes * MEGABYTE);
  },
);
