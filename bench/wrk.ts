import { execa } from "execa";

export interface WrkFigures {
  requestsPerSecond: number;
  p50Ms: number;
}

/** wrk prints each latency with its unit. */
const UNITS_MS: Readonly<Record<string, number>> = { us: 0.001, ms: 1, s: 1000 };

/** Exits with 3 and says how to install wrk, if it is missing. */
export async function needWrk(): Promise<void> {
  try {
    await execa("wrk", ["-v"], { reject: false }).then(({ failed, code }) => {
      if (failed && code === "ENOENT") throw new Error("no wrk");
    });
  } catch {
    process.stderr.write(
      "wrk is not installed: apt-get install wrk (Debian, Ubuntu) or brew install wrk (macOS)\n",
    );
    process.exit(3);
  }
}

/** Runs wrk with one thread. @throws Error when it prints no figures */
export async function runWrk(
  url: string,
  connections: number,
  seconds: number,
): Promise<WrkFigures> {
  const { stdout } = await execa("wrk", [
    "-t1",
    `-c${connections}`,
    `-d${seconds}s`,
    "--latency",
    url,
  ]);
  const rate = /^Requests\/sec:\s+([\d.]+)$/m.exec(stdout)?.[1];
  const [, p50, unit = ""] = /^\s+50%\s+([\d.]+)(us|ms|s)$/m.exec(stdout) ?? [];
  const factor = UNITS_MS[unit];
  if (!rate || !p50 || !factor) throw new Error(`wrk printed no figures: ${stdout}`);
  return { requestsPerSecond: Number(rate), p50Ms: Number(p50) * factor };
}
