import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../../helpers/programs.js";

/** The paths that npm packs, without packing them. */
function packedPaths(): string[] {
  const parameters = ["pack", "--dry-run", "--json", "--ignore-scripts"];
  const printed = execFileSync("npm", parameters, {
    cwd: ROOT,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  const [tarball] = JSON.parse(printed) as { files: { path: string }[] }[];
  return (tarball?.files ?? []).map(({ path }) => path);
}

/** The paths that a page links to or shows as images, as seen from the root of the package. */
function linkedPaths(page: string): string[] {
  const text = readFileSync(join(ROOT, page), "utf8");
  return [...text.matchAll(/\]\(([^)#]+)[^)]*\)|<img src="([^"]+)"/g)]
    .map(([, link, image]) => link ?? image ?? "")
    .filter((link) => !/^[a-z]+:/.test(link))
    .map((link) => join(dirname(page), link).replace(/\/$/, ""));
}

test("every link of the package's pages leads to a file in it", () => {
  const packed = packedPaths();
  const pages = packed.filter((path) => /^(README|CONTRIBUTING|docs\/.*)\.md$/.test(path));
  expect(pages).toContain("docs/campaigns.md");
  const dead = pages.flatMap((page) =>
    linkedPaths(page)
      .filter((linked) => !packed.some((path) => path === linked || path.startsWith(`${linked}/`)))
      .map((linked) => `${page}: ${linked}`),
  );
  expect(dead).toEqual([]);
});
