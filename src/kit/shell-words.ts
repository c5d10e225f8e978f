/** A text in single quotes, so that a POSIX shell reads it as one word whatever it contains. */
export const shellQuoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
