import type { Progress } from "../contract/progress.js";

/** One line with the live figures of a second. */
export function secondText(second: Extract<Progress, { event: "second" }>): string {
  const percent = (value: number, digits: number) => `${value.toFixed(digits)} %`;
  const { limited_share, p99_ms, generator_event_loop_utilisation } = second;
  const { server_event_loop_utilisation, server_cpu_percent } = second;
  const texts = [`${second.t_s.toFixed(0)} s: ${second.requests_per_second.toFixed(0)} requests/s`];
  if (limited_share !== undefined) texts.push(`${percent(100 * limited_share, 1)} limited`);
  if (p99_ms !== undefined) texts.push(`p99 ${p99_ms.toFixed(2)} ms`);
  if (generator_event_loop_utilisation !== undefined)
    texts.push(`generator ${percent(100 * generator_event_loop_utilisation, 0)} busy`);
  if (server_event_loop_utilisation !== undefined)
    texts.push(`server ${percent(100 * server_event_loop_utilisation, 0)} busy`);
  if (server_cpu_percent !== undefined) texts.push(`server CPU ${percent(server_cpu_percent, 0)}`);
  return texts.join(", ");
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
