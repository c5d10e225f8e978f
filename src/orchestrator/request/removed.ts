/** What to use instead of a command, or a flag with its dashes, that earlier versions had. */
const REMOVED: Readonly<Record<string, string>> = {
  claims:
    "ratelimit-bench run --config claims/NAME.yaml measures a claim, and python3 report claims, in a checkout, writes results/claims.md",
  "plan-capacity":
    "measure with run --servers 1,2,4 and read the report's table of several servers (servers.csv)",
  noise: "doctor --seconds 60 measures which differences this machine can show",
};

/** One line on a word that is gone; undefined for any other. */
export function removedText(word: string): string | undefined {
  const name = word.split("=", 1)[0] ?? word;
  return Object.hasOwn(REMOVED, name) ? `${name} was removed: ${REMOVED[name]}` : undefined;
}
