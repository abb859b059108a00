/** A checkup: steps one after the other, each with its time, until one fails. */

import { asText } from '../../base/as-text.ts'
import { McpError } from '../../client/index.ts'

export interface Finding {
  step: string
  status: 'ok' | 'failed' | 'skipped'
  ms: number
  /** What was found, or what went wrong. */
  detail: string
  /** What to do about it. */
  advice?: string
}

/** Thrown by a step that knows what to do about its failure. */
export class Failure extends Error {
  override readonly name = 'Failure'
  readonly advice: string | undefined

  constructor(message: string, advice?: string) {
    super(message)
    this.advice = advice
  }
}

export class Checkup {
  readonly findings: Finding[] = []
  readonly #onFinding: (finding: Finding) => void

  constructor(onFinding: (finding: Finding) => void) {
    this.#onFinding = onFinding
  }

  get isHealthy(): boolean {
    return !this.findings.some(({ status }) => status === 'failed')
  }

  /** Runs a step unless one before it has failed. @returns what it found out, or undefined */
  async step<T>(name: string, run: () => Promise<{ detail: string; value: T }>): Promise<T | undefined> {
    if (!this.isHealthy) {
      this.skip(name, 'not reached')
      return undefined
    }
    const started = performance.now()
    const took = (): number => Math.round(performance.now() - started)
    try {
      const { detail, value } = await run()
      this.#add({ step: name, status: 'ok', ms: took(), detail })
      return value
    } catch (error) {
      const advice = error instanceof Failure ? error.advice : adviceFor(error)
      this.#add({ step: name, status: 'failed', ms: took(), detail: describe(error), ...(advice !== undefined && { advice }) })
      return undefined
    }
  }

  skip(name: string, detail: string): void {
    this.#add({ step: name, status: 'skipped', ms: 0, detail })
  }

  #add(finding: Finding): void {
    this.findings.push(finding)
    this.#onFinding(finding)
  }
}

const describe = (error: unknown): string => {
  if (error instanceof AggregateError && error.errors.length > 0) return describe(error.errors[0])
  // OpenSSL's own messages are full of addresses and line numbers; the reason is the part for people.
  const { reason, library } = (error ?? {}) as { reason?: unknown; library?: unknown }
  if (typeof reason === 'string' && typeof library === 'string') return reason
  return error instanceof Error ? error.message : asText(error)
}

const ADVICE: Readonly<Record<string, string>> = {
  ENOTFOUND: 'The name does not exist: look for a typing mistake, or whether a VPN is needed',
  EAI_AGAIN: 'The name server does not answer: is this machine online?',
  ECONNREFUSED: 'Nothing listens at that port: is the server running, and is it this port?',
  ETIMEDOUT: 'No answer at all: a firewall may be in the way',
  EHOSTUNREACH: 'There is no way to that address: is this machine online, or is a VPN needed?',
  ENETUNREACH: 'There is no way to that address: is this machine online, or is a VPN needed?',
  ECONNRESET: 'The connection was cut: https where http is spoken, or the other way round?',
  EPROTO: 'The other side does not speak TLS there: http:// instead of https://?',
  ERR_SSL_WRONG_VERSION_NUMBER: 'The other side does not speak TLS there: http:// instead of https://?',
  CERT_HAS_EXPIRED: 'The certificate has expired: its owner must renew it (or the clock of this machine is wrong)',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'The certificate vouches for itself: give its authority by NODE_EXTRA_CA_CERTS',
  SELF_SIGNED_CERT_IN_CHAIN: 'An authority this machine does not know: give it by NODE_EXTRA_CA_CERTS (a proxy may be in between)',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'The server does not send the whole chain of certificates: its owner must mend that',
  ERR_TLS_CERT_ALTNAME_INVALID: 'The certificate is for another name: is the address right?',
  ERR_AUTH: 'portico servers login logs in; -H "Authorization: Bearer ..." gives a token of your own',
  ERR_VERSION_UNSUPPORTED: 'The two sides have no protocol revision in common: one of them must be updated',
  ERR_TIMEOUT: 'It accepts connections and says nothing: is this the right path, and is it a server of the protocol?',
  ERR_NO_ENDPOINT: 'Something answers there, but no server of the protocol: is the path right? Many are at /mcp or /sse',
}

function adviceFor(error: unknown): string | undefined {
  const first = error instanceof AggregateError ? (error.errors[0] as unknown) : error
  const { code, cause } = (first ?? {}) as { code?: string; cause?: { code?: string } }
  const own = ADVICE[String(code)]
  return own ?? (error instanceof McpError && cause ? ADVICE[String(cause.code)] : undefined)
}
