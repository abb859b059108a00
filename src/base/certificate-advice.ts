/** What to do about a certificate that Node does not trust. Its own message does not say. */

const TRUST = 'Name a file with the certificate of the signer in the variable NODE_EXTRA_CA_CERTS before the process starts.'

const ADVICE: Readonly<Record<string, string>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: `The certificate is self-signed. ${TRUST}`,
  SELF_SIGNED_CERT_IN_CHAIN: `The certificate authority is unknown to this machine (a proxy may be in between). ${TRUST}`,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: `The certificate authority is unknown to this machine. ${TRUST}`,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: `The server does not send its full certificate chain. Its owner must fix that, or: ${TRUST}`,
}

/** @param code of the error of Node. Undefined: the error is not about trust in a certificate */
export const certificateAdvice = (code: unknown): string | undefined =>
  typeof code === 'string' && Object.hasOwn(ADVICE, code) ? ADVICE[code] : undefined
