import { expect, test } from "vitest";
import type { Audit, Finding } from "../../../../src/contract/audit.js";
import { junitText } from "../../../../src/orchestrator/audit/junit.js";

const finding = (check: string, rest: Partial<Finding>): Finding => ({
  check,
  status: "holds",
  seconds: 1.25,
  ...rest,
});

const FINDINGS = [
  finding("active", {}),
  finding("bypass", {
    status: "broken",
    defect: "renewed-by-path",
    promised: "0 of 5",
    seen: '5 of 5 & "more" <b>\0',
    steps: [{ sent: "5 requests", answered: "5 × 200" }],
  }),
  finding("connections", { status: "broken", consequence_of: "bypass" }),
  finding("headers", { status: "failed", reason: "no answer" }),
  finding("instances", { status: "skipped", reason: "no --instance" }),
  finding("outage", { status: "not-promised", seen: "it fails open" }),
];

const textOf = (findings: readonly Finding[]): string =>
  junitText({
    targets: [{ target: { label: "http://127.0.0.1:3000/a?b=…&c=…" }, findings, seconds: 2 }],
  } as unknown as Audit);

test("each check is a case, and only defects are failures", () => {
  const text = textOf(FINDINGS);
  expect(text.match(/<testcase /g)).toHaveLength(FINDINGS.length);
  expect(text).toContain('tests="6" failures="1" errors="1" skipped="3"');
  expect(text).toMatch(/name="bypass"[^>]*><failure type="renewed-by-path"/);
  expect(text).toMatch(/name="connections"[^>]*><skipped message="[^"]*bypass/);
  expect(text).toMatch(/name="headers"[^>]*><error message="no answer"\/>/);
  expect(text).toMatch(/name="active"[^>]*\/>/);
});

test("texts of an API break no document", () => {
  const text = textOf(FINDINGS);
  expect(text).toContain("&amp; &quot;more&quot; &lt;b&gt;\ufffd");
  expect(text).toContain("?b=…&amp;c=…");
});
