import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, renameSync, rmdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Browser } from "playwright-core";
import { expect } from "vitest";
import { type Look, launch, openPage, python, root } from "./chromium.js";

export interface Opening extends Look {
  /** What follows the page's path, e.g. `?client=iovalkey`. */
  address?: string;
  /** As a reader meets it; by default all of it is unfolded. */
  folded?: boolean;
}

/** The report of a campaign, and a browser to open it in. */
export class ReportPage {
  // A space and a number sign: the page must not care where it lies.
  readonly folder = mkdtempSync(join(tmpdir(), "ratelimit-bench report #"));
  readonly url = pathToFileURL(join(this.folder, "report/index.html")).href;
  #browser: Browser | undefined;

  /** The report of a campaign that a Python file of test/report writes. */
  async start(writer: string): Promise<void> {
    execFileSync(python, [join(root, "test/report", writer), this.folder]);
    await this.#render();
  }

  /** The report of a packed campaign. */
  async startFrom(archive: string): Promise<void> {
    execFileSync("python3", ["-m", "tarfile", "-e", join(root, archive), this.folder]);
    const unpacked = join(this.folder, basename(archive, ".tar.xz"));
    for (const name of readdirSync(unpacked)) renameSync(join(unpacked, name), join(this.folder, name));
    rmdirSync(unpacked);
    await this.#render();
  }

  async #render(): Promise<void> {
    const out = execFileSync("python3", [join(root, "scripts/generate_report.py"), this.folder], {
      encoding: "utf8",
    });
    expect(out.trim().split("\n").at(-1)).toMatch(/report\/index\.html$/);
    this.#browser = await launch();
  }

  async stop(): Promise<void> {
    await this.#browser?.close();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Opens the page, and collects whatever it should not do. */
  async open({ address = "", folded = false, ...look }: Opening = {}) {
    if (!this.#browser) throw new Error("start first");
    const opened = await openPage(this.#browser, this.url + address, look);
    await opened.page.waitForSelector("html[data-ready]");
    if (!folded)
      await opened.page.evaluate("for (const part of document.querySelectorAll('details')) part.open = true");
    return opened;
  }
}
