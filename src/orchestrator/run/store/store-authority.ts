import { webcrypto } from "node:crypto";
import { isIPv4 } from "node:net";
import type { Configuration } from "../../../contract/configuration.js";
import { isEncrypted } from "../../../targets/options.js";

/** Vouches for the encrypted stores that this process starts. */
export interface StoreAuthority {
  /** The authority's own certificate, PEM. */
  ca: string;
  /** The private key of all its stores, PEM. */
  key: string;
  /**
   * The certificate of a store, PEM.
   * @param hosts the names or IPv4 addresses under which the store is reached
   */
  certificateFor(hosts: readonly string[]): Promise<string>;
}

const AUTHORITY_NAME = "CN=ratelimit-bench";
const STORE_NAME = "CN=ratelimit-bench store";
const ALGORITHM = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;

const DAY_MS = 86_400_000;
/**
 * The days for which a certificate is valid. It outlives any campaign, and begins early enough for
 * machines whose clocks differ.
 */
const VALID_DAYS = { before: 1, after: 365 } as const;

/** The authority of a campaign or an audit; undefined where none of its stores is encrypted. */
export async function authorityOf(
  configurations: readonly Pick<Configuration, "target">[],
): Promise<StoreAuthority | undefined> {
  const needsAuthority = configurations.some(({ target }) => isEncrypted(target));
  return needsAuthority ? newStoreAuthority() : undefined;
}

/** A new authority, whose private key exists only in memory and ends with the process. */
export async function newStoreAuthority(): Promise<StoreAuthority> {
  const x509 = await loadX509();
  const authorityKeys = await newKeys();
  const storeKeys = await newKeys();

  const authorityCertificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: AUTHORITY_NAME,
    keys: authorityKeys,
    signingAlgorithm: ALGORITHM,
    ...validity(),
    extensions: [
      new x509.BasicConstraintsExtension(true, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true),
    ],
  });
  const storeKey = await webcrypto.subtle.exportKey("pkcs8", storeKeys.privateKey);

  return {
    ca: authorityCertificate.toString("pem"),
    key: x509.PemConverter.encode(storeKey, x509.PemConverter.PrivateKeyTag),
    certificateFor: async (hosts) => {
      const certificate = await x509.X509CertificateGenerator.create({
        subject: STORE_NAME,
        issuer: AUTHORITY_NAME,
        publicKey: storeKeys.publicKey,
        signingKey: authorityKeys.privateKey,
        signingAlgorithm: ALGORITHM,
        ...validity(),
        extensions: [new x509.SubjectAlternativeNameExtension(hosts.map(alternativeName))],
      });
      return certificate.toString("pem");
    },
  };
}

/**
 * The library has twenty packages, and asks for a polyfill of `Reflect` in the whole process. So it
 * is loaded only where a store is encrypted.
 */
async function loadX509() {
  await import("reflect-metadata");
  return import("@peculiar/x509");
}

const newKeys = () => webcrypto.subtle.generateKey(ALGORITHM, true, ["sign", "verify"]);

function validity(): { notBefore: Date; notAfter: Date } {
  const now_ms = Date.now();
  return {
    notBefore: new Date(now_ms - VALID_DAYS.before * DAY_MS),
    notAfter: new Date(now_ms + VALID_DAYS.after * DAY_MS),
  };
}

const alternativeName = (host: string): { type: "ip" | "dns"; value: string } => ({
  type: isIPv4(host) ? "ip" : "dns",
  value: host,
});
