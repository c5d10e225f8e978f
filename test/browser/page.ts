import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { type Browser, chromium } from "playwright-core";
import { expect } from "vitest";

const root = fileURLToPath(new URL("../../", import.meta.url));
const venv = join(root, ".venv/bin/python");
const python = existsSync(venv) ? venv : "python3";

/** Where a browser is; without one the tests are skipped, but never in CI. */
export const executablePath = [
  process.env.CHROMIUM,
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
].find((path) => path && existsSync(path));

if (!executablePath) {
  const message = "no Chromium was found: set CHROMIUM to its path";
  if (process.env.CI) throw new Error(message);
  process.stderr.write(`browser tests are skipped: ${message}\n`);
}

export interface Opening {
  width?: number;
  colorScheme?: "light" | "dark";
  /** What follows the page's path, e.g. `?client=iovalkey`. */
  address?: string;
}

/** The report of a campaign that a Python file of test/report writes, and a browser to open it in. */
export class ReportPage {
  // A space and a number sign: the page must not care where it lies.
  readonly folder = mkdtempSync(join(tmpdir(), "ratelimit-bench report #"));
  readonly url = pathToFileURL(join(this.folder, "report/index.html")).href;
  #browser: Browser | undefined;

  async start(writer: string): Promise<void> {
    execFileSync(python, [join(root, "test/report", writer), this.folder]);
    const out = execFileSync("python3", [join(root, "scripts/generate_report.py"), this.folder], {
      encoding: "utf8",
    });
    expect(out.trim().split("\n").at(-1)).toMatch(/report\/index\.html$/);
    this.#browser = await chromium.launch({
      executablePath: executablePath ?? "",
      args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"],
    });
  }

  async stop(): Promise<void> {
    await this.#browser?.close();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Opens the page without a network, and collects whatever it should not do. */
  async open({ width = 1280, colorScheme = "light", address = "" }: Opening = {}) {
    if (!this.#browser) throw new Error("start first");
    const context = await this.#browser.newContext({
      viewport: { width, height: 900 },
      colorScheme,
      offline: true,
    });
    const page = await context.newPage();
    const complaints: string[] = [];
    page.on("console", (message) => complaints.push(`${message.type()}: ${message.text()}`));
    page.on("pageerror", (error) => complaints.push(`error: ${error.message}`));
    page.on("dialog", (dialog) => complaints.push(`dialog: ${dialog.message()}`));
    page.on("request", (request) => {
      if (request.url() !== this.url + address && !request.url().startsWith("data:")) {
        complaints.push(request.url());
      }
    });
    await page.addInitScript({
      content: `document.addEventListener("securitypolicyviolation", (event) =>
        console.error("policy:", event.violatedDirective, event.blockedURI));`,
    });
    await page.goto(this.url + address);
    await page.waitForSelector("html[data-ready]");
    return { page, complaints };
  }
}
