import type { Audit, AuditedTarget, CheckStatus, Finding } from "../../contract/audit.js";
import { EXIT, type ExitCode } from "../../kit/errors.js";

/** A broken promise that follows from no other. */
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

/** A target that could not be checked comes first: what it promises is not known. */
export function auditExitCode({ counts }: Pick<Audit, "counts">): ExitCode {
  if (counts.failed > 0) return EXIT.configurationFailed;
  return counts.broken > 0 ? EXIT.regression : EXIT.done;
}
