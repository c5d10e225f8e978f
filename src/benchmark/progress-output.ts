import type { Progress } from "../contract/progress.js";

export function secondText(second: Extract<Progress, { event: "second" }>): string {
  const percent = (value: number, digits: number) => `${value.toFixed(digits)} %`;
  const { limited_share, p99_ms, generator_event_loop_utilisation, ...server } = second;
  return [
    `${second.t_s.toFixed(0)} s: ${second.requests_per_second.toFixed(0)} requests/s`,
    limited_share === undefined ? [] : `${percent(100 * limited_share, 1)} limited`,
    p99_ms === undefined ? [] : `p99 ${p99_ms.toFixed(2)} ms`,
    generator_event_loop_utilisation === undefined
      ? []
      : `generator ${percent(100 * generator_event_loop_utilisation, 0)} busy`,
    server.server_event_loop_utilisation === undefined
      ? []
      : `server ${percent(100 * server.server_event_loop_utilisation, 0)} busy`,
    server.server_cpu_percent === undefined
      ? []
      : `server CPU ${percent(server.server_cpu_percent, 0)}`,
  ]
    .flat()
    .join(", ");
}

const eventText = (progress: Exclude<Progress, { event: "second" }>): string =>
  progress.event === "phase" ? progress.phase : `turn: ${progress.answers} answers`;

/** Progress goes to standard error, so that standard output holds nothing but the result. */
export function createProgressWriter(format: "text" | "json"): (progress: Progress) => void {
  return (progress) => {
    const text = progress.event === "second" ? secondText(progress) : eventText(progress);
    process.stderr.write(`${format === "json" ? JSON.stringify(progress) : text}\n`);
  };
}
