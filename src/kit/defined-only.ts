/** The members of an object without `undefined` among their types. */
type Defined<Members extends object> = {
  [Name in keyof Members as undefined extends Members[Name] ? never : Name]: Members[Name];
} & {
  [Name in keyof Members as undefined extends Members[Name] ? Name : never]?: Exclude<
    Members[Name],
    undefined
  >;
};

/**
 * A copy of an object without the members whose value is `undefined`.
 *
 * Documents leave out what they do not know, and `exactOptionalPropertyTypes` refuses `undefined`
 * where a member may be missing.
 */
export function definedOnly<Members extends object>(members: Members): Defined<Members> {
  const defined = Object.entries(members).filter(([, value]) => value !== undefined);
  return Object.fromEntries(defined) as Defined<Members>;
}
