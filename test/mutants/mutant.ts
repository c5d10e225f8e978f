/** A bug to plant, and the cheapest test that must catch it. */
export interface Mutant {
  /** The bug as a user would notice it. */
  what: string;
  file: string;
  /** Exact text, which must occur in the file exactly once. */
  find: string;
  replace: string;
  /** A test file of vitest or pytest. */
  test: string;
}
