import type { Progress } from "../contract/progress.js";

/** Progress goes to standard error, so that standard output holds the result alone. */
export function createReporter(format: "text" | "json"): (progress: Progress) => void {
  if (format === "json") return (progress) => void process.stderr.write(`${JSON.stringify(progress)}\n`);
  return (progress) => {
    if (progress.event === "phase") {
      process.stderr.write(`${progress.phase}\n`);
      return;
    }
    const { t_s, requests_per_second, limited_share, p99_ms } = progress;
    const p99 = p99_ms === undefined ? "" : `, p99 ${p99_ms.toFixed(2)} ms`;
    const limited = `${(100 * limited_share).toFixed(1)} % limited`;
    process.stderr.write(
      `${t_s.toFixed(0)} s: ${requests_per_second.toFixed(0)} requests/s, ${limited}${p99}\n`,
    );
  };
}
