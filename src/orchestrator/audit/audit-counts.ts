import type { Audit, AuditedTarget, CheckStatus, Finding } from "../../contract/audit.js";
import { EXIT, type ExitCode } from "../../kit/errors.js";

/** Whether a finding is a broken promise that does not follow from another one. */
export const isDefect = ({ status, consequence_of }: Finding): boolean =>
  status === "broken" && consequence_of === undefined;

export function countsOf(targets: readonly Pick<AuditedTarget, "findings">[]): Audit["counts"] {
  const findings = targets.flatMap((target) => target.findings);
  const count = (status: CheckStatus) =>
    findings.filter((finding) => finding.status === status).length;
  const defects = findings.filter(isDefect).length;
  return {
    holds: count("holds"),
    broken: defects,
    consequences: count("broken") - defects,
    not_promised: count("not-promised"),
    skipped: count("skipped"),
    failed: count("failed"),
  };
}

/**
 * The exit code of an audit. A target that could not be checked comes first, because nothing is known
 * about its promises.
 */
export function auditExitCode({ counts }: Pick<Audit, "counts">): ExitCode {
  if (counts.failed > 0) return EXIT.configurationFailed;
  return counts.broken > 0 ? EXIT.regression : EXIT.done;
}
