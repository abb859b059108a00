/** Runs the steps of a checkup, with times, until one fails. */

import { asText } from '../../base/as-text.ts'
import { certificateAdvice } from '../../base/certificate-advice.ts'
import { isObject } from '../../base/json.ts'
import { McpError } from '../../protocol/errors.ts'

/** The result of one step of a checkup. */
export interface CheckupFinding {
  step: string
  status: 'ok' | 'failed' | 'skipped'
  ms: number
  /** The result, or the error. */
  detail: string
  /** What to do about it. */
  advice?: string
  /** The code of the error, such as ERR_AUTH, if the step failed with one: for a program with an advice of its own. */
  code?: string
}

/**
 * Thrown by a step that knows what to do about its failure.
 * @example
 * throw new CheckupFailure('Program not found', 'Is it installed?')
 */
export class CheckupFailure extends Error {
  override readonly name = 'CheckupFailure'
  /** What to do about it. */
  readonly advice: string | undefined

  constructor(message: string, advice?: string) {
    super(message)
    this.advice = advice
  }
}

/**
 * Runs steps until one fails, and keeps their findings.
 * @example
 * const checkup = new Checkup((finding) => console.log(finding.step, finding.status))
 */
export class Checkup {
  /** The findings so far, in order. */
  readonly findings: CheckupFinding[] = []
  readonly #onFinding: (finding: CheckupFinding) => void

  constructor(onFinding: (finding: CheckupFinding) => void) {
    this.#onFinding = onFinding
  }

  /** Whether no step has failed so far. */
  get isHealthy(): boolean {
    return !this.findings.some(({ status }) => status === 'failed')
  }

  /**
   * Runs a step if all before it passed.
   * @returns its value, or undefined
   * @example
   * await checkup.step('lists', async () => ({ detail: await countOffering(client), value: undefined }))
   */
  async step<T>(name: string, run: () => Promise<{ detail: string; value: T }>): Promise<T | undefined> {
    if (!this.isHealthy) {
      this.skip(name, 'skipped: an earlier step failed')
      return undefined
    }
    const started = performance.now()
    const took = (): number => Math.round(performance.now() - started)
    try {
      const { detail, value } = await run()
      this.#add({ step: name, status: 'ok', ms: took(), detail })
      return value
    } catch (error) {
      const advice = error instanceof CheckupFailure ? error.advice : adviceFor(error)
      this.#add({
        step: name,
        status: 'failed',
        ms: took(),
        detail: describe(error),
        ...(advice !== undefined && { advice }),
        ...(error instanceof McpError && { code: error.code }),
      })
      return undefined
    }
  }

  /**
   * Adds a step that is not needed.
   * @example
   * checkup.skip('TLS', 'not needed: http on this machine')
   */
  skip(name: string, detail: string): void {
    this.#add({ step: name, status: 'skipped', ms: 0, detail })
  }

  #add(finding: CheckupFinding): void {
    this.findings.push(finding)
    this.#onFinding(finding)
  }
}

const describe = (error: unknown): string => {
  if (error instanceof AggregateError && error.errors.length > 0) return describe(error.errors[0])
  // OpenSSL's own messages are full of addresses and line numbers; the reason is the part for people.
  const { reason, library } = (error ?? {}) as { reason?: unknown; library?: unknown }
  if (typeof reason === 'string' && typeof library === 'string') return reason
  const refused = refusalIn(error)
  if (refused) return refused.refusal
  return error instanceof Error ? error.message : asText(error)
}

/** What a server said to a request without the right credentials, and the header where it expects them. */
function refusalIn(error: unknown): { refusal: string; header: string; isKeyRefused: boolean } | undefined {
  const data = error instanceof McpError ? error.data : undefined
  if (!isObject(data) || typeof data.refusal !== 'string' || typeof data.header !== 'string') return undefined
  return { refusal: data.refusal, header: data.header, isKeyRefused: data.isKeyRefused === true }
}

const ADVICE: Readonly<Record<string, string>> = {
  ENOTFOUND: 'The host name does not exist. Check the spelling, or whether a VPN is needed.',
  EAI_AGAIN: 'The DNS server does not answer. Is this machine online?',
  ECONNREFUSED: 'Nothing listens on that port. Is the server running, and is the port right?',
  ETIMEDOUT: 'No answer. A firewall may block the connection.',
  EHOSTUNREACH: 'The address is unreachable. Is this machine online, or is a VPN needed?',
  ENETUNREACH: 'The address is unreachable. Is this machine online, or is a VPN needed?',
  ECONNRESET: 'The connection was reset. Is it https where the server expects http, or the reverse?',
  EPROTO: 'The server does not use TLS on that port. Should it be http:// instead of https://?',
  ERR_SSL_WRONG_VERSION_NUMBER: 'The server does not use TLS on that port. Should it be http:// instead of https://?',
  CERT_HAS_EXPIRED: 'The certificate has expired. Its owner must renew it, or the clock of this machine is wrong.',
  ERR_TLS_CERT_ALTNAME_INVALID: 'The certificate is for another name. Is the address right?',
  ERR_AUTH: 'Log in with "portico servers login NAME", or send a token with -H "Authorization: Bearer ..."',
  ERR_VERSION_UNSUPPORTED: 'Client and server have no protocol revision in common. One of them must be updated.',
  ERR_TIMEOUT: 'The server accepts connections but does not answer. Is the path right, and is it an MCP server?',
  ERR_NO_ENDPOINT: 'Something answers there, but not an MCP server. Is the path right? Many servers are at /mcp or /sse.',
}

function adviceFor(error: unknown): string | undefined {
  const first = error instanceof AggregateError ? (error.errors[0] as unknown) : error
  const { code, cause } = (first ?? {}) as { code?: string; cause?: { code?: string } }
  const refused = refusalIn(error)
  if (refused?.isKeyRefused) return `The server did not accept the key in the header ${refused.header}. Check the key.`
  if (refused)
    return `If it gave you a key, send it with -H '${refused.header === 'authorization' ? 'Authorization: Bearer' : `${refused.header}:`} KEY'`
  const known = (of: unknown): string | undefined => ADVICE[String(of)] ?? certificateAdvice(of)
  return known(code) ?? (error instanceof McpError && cause ? known(cause.code) : undefined)
}
