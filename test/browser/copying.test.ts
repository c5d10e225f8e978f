import type { Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { needs } from "../helpers/needs.js";
import { openReport, sharedReport } from "./page.js";

describe("tables that are copied as Markdown", needs(["chromium"]), () => {
  const sharedPage = sharedReport("report");
  const letCopy = (page: Page) =>
    page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  beforeAll(() => letCopy(sharedPage().page));
  const button = (page: Page, table: string) => page.locator(`button[data-copy="${table}"]`);
  const clipboard = (page: Page) =>
    page.evaluate("navigator.clipboard.readText()") as Promise<string>;

  async function copied(page: Page, table: string): Promise<string> {
    await page.evaluate("navigator.clipboard.writeText('')");
    await button(page, table).click();
    await expect.poll(() => clipboard(page)).not.toBe("");
    return clipboard(page);
  }

  /** Cells of a Markdown table's lines, split where a bar is not escaped. */
  const cells = (markdown: string) =>
    markdown
      .split("\n")
      .filter((line) => line.startsWith("|"))
      .map((line) =>
        line
          .split(/(?<!\\)\|/)
          .slice(1, -1)
          .map((cell) => cell.trim()),
      );

  test("every table is copied with its title and campaign, as one table without an empty column", async () => {
    const { page, complaints } = sharedPage();
    const tables = (await page.evaluate(
      "[...document.querySelectorAll('button[data-copy]')].map(({ dataset }) => dataset.copy)",
    )) as string[];
    expect(tables).toEqual(
      expect.arrayContaining(["table1", "run-rows", "problem-rows", "error-kinds"]),
    );
    for (const table of tables) {
      const markdown = await copied(page, table);
      expect(markdown.split("\n")[0], table).toMatch(
        /^\*\*.+, campaign 20260102\\_030405, 2026-01-02\*\*$/,
      );
      const [header = [], rule = [], ...rows] = cells(markdown);
      expect(rows.length, table).toBeGreaterThan(0);
      expect(rule, table).toEqual(header.map(() => expect.stringMatching(/^--[-:]$/)));
      for (const row of rows) expect(row, table).toHaveLength(header.length);
      for (const [column, name] of header.entries())
        expect(
          rows.some((row) => row[column]),
          `${table}: ${name}`,
        ).toBe(true);
    }
    expect(complaints).toEqual([]);
  });

  test("verdicts are copied", async () => {
    const { page } = sharedPage();
    const [header = [], , ...rows] = cells(await copied(page, "table2"));
    const verdict = header.findIndex((name) => name.startsWith("Verdict"));
    expect(rows.map((row) => row[verdict])).toContainEqual(expect.stringContaining("invalid"));
    const answer = await copied(page, "decision");
    expect(answer).toContain(
      (await page.locator("#answer .headline").first().textContent()) ?? "no headline",
    );
    for (const line of await page.locator("#answer .findings li").allInnerTexts())
      expect(answer.replaceAll("\\", "")).toContain(line);
    expect(answer).toContain("| not decided takes about 5 runs |");
  });

  test("what the filters hide is not copied, and the copy says so", async () => {
    const { page } = await openReport("report", { address: "?client=iovalkey" });
    await letCopy(page);
    const markdown = await copied(page, "run-rows");
    expect(markdown.split("\n")[0]).toContain(", filtered: 6 of 23 configurations**");
    const [, , ...rows] = cells(markdown);
    expect(rows).toHaveLength(18);
    expect(rows.every(([name]) => name?.startsWith("iovalkey"))).toBe(true);
  });

  test("the button says that it copied, and has its own text again, however often it is pressed", async () => {
    const { page } = sharedPage();
    const copy = button(page, "table1");
    const before = await copy.innerHTML();
    // It says so for 1.5 s, which a busy machine may miss.
    const said = await copy.evaluateHandle((element) => {
      const texts: (string | null)[] = [];
      const { MutationObserver } = element.ownerDocument.defaultView;
      new MutationObserver(() => texts.push(element.textContent)).observe(element, {
        childList: true,
      });
      return texts;
    });
    await copy.click();
    await expect.poll(() => said.jsonValue(), { timeout: 20_000 }).toContain("Copied");
    await copy.click();
    await expect.poll(() => copy.innerHTML(), { timeout: 60_000 }).toBe(before);
  });

  // It changes the page.
  test("line breaks, bars and markup in a cell stay in the cell", async () => {
    const { page } = sharedPage();
    await page.evaluate(`{
      const cell = document.querySelector("#problem-rows tbody .reasons");
      cell.innerHTML = "<p>one | *two*</p><p>three\\nfour<br>five</p>";
    }`);
    const [, , first] = cells(await copied(page, "problem-rows"));
    expect(first).toContain("one \\| \\*two\\*; three four five");
  });
});
