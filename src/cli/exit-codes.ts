/** The exit codes, which scripts rely on. `portico help exit-codes` prints them. */

import type { ErrorCode } from '../client/index.ts'

export const EXIT_CODES = {
  ok: { code: 0, when: 'Success.' },
  failed: { code: 1, when: 'The tool, the server or the command failed: also a port in use, or a server module that throws.' },
  usage: { code: 2, when: 'Invalid command line: an unknown command, option, server, tool or argument, or an invalid value.' },
  consent: { code: 3, when: 'Approval required: there is no terminal to ask at, or the question was not answered in time.' },
  denied: { code: 4, when: 'Denied by the policy or a person, or a changed definition awaits approval.' },
  unreachable: { code: 5, when: 'The server could not be started or reached, or the connection broke.' },
  auth: { code: 6, when: 'Authentication required or failed.' },
  audit: { code: 7, when: 'The audit log is damaged or cannot be written. Nothing was done.' },
  config: { code: 8, when: 'Invalid configuration, policy or secret.' },
  different: { code: 9, when: 'A comparison found differences (replay --against, policy test, policy replay, pins diff).' },
  interrupted: { code: 130, when: 'Interrupted by Ctrl-C.' },
} as const satisfies Record<string, { code: number; when: string }>

export type ExitName = keyof typeof EXIT_CODES

/** The table for `portico help exit-codes`. */
export const exitCodeTable = (): string =>
  Object.values(EXIT_CODES)
    .map(({ code, when }) => `${String(code).padStart(3)}  ${when}\n`)
    .join('')

export const exitCode = (name: ExitName): number => EXIT_CODES[name].code

/** Default: `failed`. */
const BY_ERROR: Partial<Record<ErrorCode, ExitName>> = {
  ERR_CONSENT: 'consent',
  ERR_DENIED: 'denied',
  ERR_QUARANTINED: 'denied',
  ERR_BUDGET: 'denied',
  ERR_NETWORK: 'unreachable',
  ERR_HTTP: 'unreachable',
  ERR_NO_ENDPOINT: 'unreachable',
  ERR_CLOSED: 'unreachable',
  ERR_EXIT: 'unreachable',
  ERR_SPAWN: 'unreachable',
  ERR_TIMEOUT: 'unreachable',
  ERR_SERVER_DOWN: 'unreachable',
  ERR_VERSION_UNSUPPORTED: 'unreachable',
  ERR_INSECURE: 'unreachable',
  ERR_AUTH: 'auth',
  ERR_SCOPE: 'auth',
  ERR_AUDIT: 'audit',
  ERR_CONFIG: 'config',
  ERR_SECRET: 'config',
  ERR_STORE: 'config',
  ERR_STORE_KEY: 'config',
  ERR_SERVER_UNKNOWN: 'usage',
}

export const exitNameOf = (code: ErrorCode): ExitName => BY_ERROR[code] ?? 'failed'
