import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";
import type { TestProject } from "vitest/node";
import { browserProgram } from "../helpers/programs.js";
import { launchOptions, python, root } from "./chromium.js";

declare module "vitest" {
  interface ProvidedContext {
    pages: string;
    browser: string;
  }
}

/** One browser and one set of pages for all tests. */
export default async function setup(
  project: TestProject,
): Promise<(() => Promise<void>) | undefined> {
  if (browserProgram() === undefined) return;
  // A space and a number sign: the pages must not care where they lie.
  const pages = mkdtempSync(join(tmpdir(), "ratelimit-bench pages #"));
  execFileSync(python, [join(root, "test/report/write_pages.py"), pages]);
  const server = await chromium.launchServer(launchOptions());
  project.provide("pages", pages);
  project.provide("browser", server.wsEndpoint());
  return async () => {
    await server.close();
    rmSync(pages, { recursive: true, force: true });
  };
}
