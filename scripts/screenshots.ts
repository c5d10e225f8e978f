import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { launch, openPage, root } from "../test/browser/chromium.js";

/**
 * Takes the pictures in docs/report.md of the example campaign's report: light, dark, and on a
 * phone.
 */
const url = pathToFileURL(join(root, "results/example/report/index.html")).href;
const shots = [
  { name: "light", colorScheme: "light", width: 1280, height: 800 },
  { name: "dark", colorScheme: "dark", width: 1280, height: 800 },
  { name: "phone", colorScheme: "light", width: 390, height: 844 },
] as const;

const browser = await launch();
try {
  for (const { name, colorScheme, width, height } of shots) {
    const { page } = await openPage(browser, url, { width, colorScheme });
    await page.waitForSelector("html[data-ready]");
    await page.setViewportSize({ width, height });
    await page.screenshot({ path: join(root, `docs/images/report-${name}.png`) });
    await page.context().close();
  }
} finally {
  await browser.close();
}
