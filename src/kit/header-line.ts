/** A line such as `X-Api-Key: secret`. */
const HEADER = /^(?<name>[\w!#$%&'*+.^`|~-]+):\s*(?<value>[^\r\n\0]*)$/;

/** The name and the value of a header line; undefined for any other text. */
export function parseHeaderLine(line: string): { name: string; value: string } | undefined {
  const { name, value = "" } = HEADER.exec(line)?.groups ?? {};
  return name === undefined ? undefined : { name, value: value.trim() };
}
