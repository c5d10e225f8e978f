/** What says how this machine reaches a registry. Only CI asks that each package supports its Node.js. */
const REACHING =
  /^(npm_config_(?!engine_strict$).*|https?_proxy|no_proxy|node_extra_ca_certs|ssl_cert_.*)$/i;

/** The variables by which npm reaches its registry from here, for a program that gets no others. */
export const registryEnvironment = (): Record<string, string> =>
  Object.fromEntries(
    Object.entries(process.env).filter(
      (entry): entry is [string, string] => REACHING.test(entry[0]) && entry[1] !== undefined,
    ),
  );
