import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { needs } from "../helpers/needs.js";
import { openReport, sharedReport, showAll } from "./page.js";

describe("tables, keys and access in the report", needs(["chromium"]), () => {
  const sharedPage = sharedReport("report");

  const column = (page: Page, table: string, name: string) =>
    page.locator(`${table} thead th`, { has: page.getByRole("button", { name, exact: true }) });
  const names = (page: Page, table: string) =>
    page.locator(`${table} tbody tr[data-row]:visible th`).allInnerTexts();

  async function figures(page: Page, table: string, name: string): Promise<number[]> {
    const headers = await page.locator(`${table} thead th`).allInnerTexts();
    const index = headers.findIndex((text) => text.startsWith(name));
    const texts = await page
      .locator(`${table} tbody tr:not(:has(.no-figures)) > :nth-child(${index + 1})`)
      .allInnerTexts();
    return texts.map((text) => Number(text.replace(/[^\d.]/g, "")));
  }

  test("sorts by a column, back, and as it was", async () => {
    const { page, complaints } = sharedPage();
    const header = column(page, "#table1", "Throughput requests/s");
    const before = await names(page, "#table1");
    await header.getByRole("button").click();
    expect(await header.getAttribute("aria-sort")).toBe("descending");
    const sorted = await figures(page, "#table1", "Throughput");
    expect(sorted).toEqual([...sorted].sort((a, b) => b - a));
    await header.getByRole("button").click();
    expect(await header.getAttribute("aria-sort")).toBe("ascending");
    expect(await figures(page, "#table1", "Throughput")).toEqual([...sorted].sort((a, b) => a - b));
    await header.getByRole("button").click();
    expect(await header.getAttribute("aria-sort")).toBeNull();
    expect(await names(page, "#table1")).toEqual(before);
    expect(complaints).toEqual([]);
  });

  test("keeps rows without a figure last, whichever way it sorts", async () => {
    const { page } = sharedPage();
    const button = column(page, "#table2", "p99 ms at full load").getByRole("button");
    for (let clicks = 0; clicks < 2; clicks += 1) {
      await button.click();
      expect(await page.locator("#table2 tbody tr").last().locator(".no-figures").count()).toBe(1);
    }
  });

  test("sorts by keyboard, and sorting survives a filter", async () => {
    const { page } = sharedPage();
    const button = column(page, "#table1", "p50 ms at full load").getByRole("button");
    await button.focus();
    await page.keyboard.press("Enter");
    const all = await names(page, "#table1");
    await page.locator('.chip input[value="iovalkey"]').check();
    expect(await names(page, "#table1")).toEqual(all.filter((name) => name.startsWith("iovalkey")));
    await showAll(page);
  });

  test("leads by keyboard through the page in reading order", async () => {
    const { page } = await openReport("report");
    const seen: string[] = [];
    for (let presses = 0; presses < 70; presses += 1) {
      await page.keyboard.press("Tab");
      seen.push(
        await page.evaluate(`(() => {
          const element = document.activeElement;
          return element.name ? element.name + "=" + element.value : element.textContent.trim().slice(0, 20);
        })()`),
      );
    }
    expect(seen.slice(0, 2)).toEqual(["Skip to the content", "Theme: system"]);
    expect(seen).toContain("Throughput");
    const clients = seen.filter((text) => text.startsWith("client="));
    expect(clients).toHaveLength(6);
    expect(seen.indexOf("Throughput")).toBeLessThan(seen.indexOf(clients[0] ?? ""));
    expect(seen.indexOf("topology=")).toBeGreaterThan(seen.indexOf(clients.at(-1) ?? ""));
    const places = (await page.evaluate(
      `[...document.querySelectorAll("[tabindex]")].map((element) => element.tabIndex)`,
    )) as number[];
    expect(places.every((place) => place <= 0)).toBe(true);
  });

  test("opens a folded answer that a link leads to", async () => {
    const { page } = sharedPage();
    const details = page.locator("#comparisons > details");
    await details.evaluate((element) => element.removeAttribute("open"));
    await page.locator(".decision tbody a").first().click();
    await expect.poll(() => details.getAttribute("open")).toBe("");
  });
});
