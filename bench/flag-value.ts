/** The value of a flag on the command line of a bench. */
export function flagValue(flag: string, fallback: string): string {
  const index = process.argv.indexOf(flag);
  return index < 0 ? fallback : (process.argv[index + 1] ?? "");
}
