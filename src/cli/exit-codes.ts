/** What the command ends with, as one table: scripts rely on it, and `portico help exit-codes` prints it. */

import type { ErrorCode } from '../client/index.ts'

export const EXIT_CODES = {
  ok: { code: 0, when: 'It was done.' },
  failed: { code: 1, when: 'The tool, the server or the command itself failed.' },
  usage: { code: 2, when: 'The command line is wrong: an unknown command, option, tool or argument, or a value that does not fit.' },
  consent: { code: 3, when: 'A person would have to be asked, and nobody is there to ask, or nobody answered in time.' },
  denied: { code: 4, when: 'The policy or a person said no, or what was approved has changed and waits to be looked at.' },
  unreachable: { code: 5, when: 'The server could not be started or reached, or broke off.' },
  auth: { code: 6, when: 'The server wants a login that there is none for, or refused it.' },
  audit: { code: 7, when: 'The audit log is broken, or could not be written, so nothing was done.' },
  config: { code: 8, when: 'The configuration, a policy or a secret cannot be used.' },
  different: { code: 9, when: 'A comparison found differences (replay --against, policy test, policy replay, pins diff).' },
  interrupted: { code: 130, when: 'Stopped by Ctrl-C.' },
} as const satisfies Record<string, { code: number; when: string }>

export type ExitName = keyof typeof EXIT_CODES

export const exitCode = (name: ExitName): number => EXIT_CODES[name].code

/** Errors of this side that have an exit code of their own; the others are `failed`. */
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
  ERR_SERVER_UNKNOWN: 'usage',
}

export const exitNameOf = (code: ErrorCode): ExitName => BY_ERROR[code] ?? 'failed'
