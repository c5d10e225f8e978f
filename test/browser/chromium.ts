import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Browser, chromium, type Page } from "playwright-core";
import { browserProgram } from "../helpers/programs.js";

export const root = fileURLToPath(new URL("../../", import.meta.url));
const venv = join(root, ".venv/bin/python");
/** With the packages that write campaigns of the tests. */
export const python = existsSync(venv) ? venv : "python3";

export const launchOptions = () => ({
  executablePath: browserProgram() ?? "",
  args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"],
});

export const launch = (): Promise<Browser> => chromium.launch(launchOptions());

export interface Look {
  width?: number;
  colorScheme?: "light" | "dark";
  javaScriptEnabled?: boolean;
}

/** Opens a page without a network, and collects whatever it should not do. */
export async function openPage(
  browser: Browser,
  url: string,
  { width = 1280, colorScheme = "light", javaScriptEnabled = true }: Look = {},
): Promise<{ page: Page; complaints: string[] }> {
  const viewport = { width, height: 900 };
  const context = await browser.newContext({
    viewport,
    colorScheme,
    javaScriptEnabled,
    offline: true,
  });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("console", (message) => complaints.push(`${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => complaints.push(`error: ${error.message}`));
  page.on("dialog", (dialog) => complaints.push(`dialog: ${dialog.message()}`));
  page.on("request", (request) => {
    if (request.url() !== url && !request.url().startsWith("data:")) complaints.push(request.url());
  });
  await page.addInitScript({
    content: `document.addEventListener("securitypolicyviolation", (event) =>
      console.error("policy:", event.violatedDirective, event.blockedURI));`,
  });
  await page.goto(url);
  return { page, complaints };
}

interface Finding {
  id: string;
  impact: string | null;
  nodes: { html: string; failureSummary: string }[];
}

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** What axe takes for serious or critical, with one place each. */
export async function seriousFindings(page: Page): Promise<unknown[]> {
  await page.evaluate("for (const part of document.querySelectorAll('details')) part.open = true");
  // Not as a script element: the page's policy refuses those.
  await page.evaluate(axe);
  const { violations } = (await page.evaluate("axe.run({ resultTypes: ['violations'] })")) as {
    violations: Finding[];
  };
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => [id, nodes.length, nodes[0]?.html, nodes[0]?.failureSummary]);
}
