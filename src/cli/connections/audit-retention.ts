/** How long the audit log is kept: options of `up`, or variables for all commands. */

import { resolve } from 'node:path'
import { McpError } from '../../client/index.ts'
import { type AuditRetention, durationMs } from '../../host/index.ts'
import { UsageError } from '../errors.ts'
import type { Io } from '../io.ts'

/** The options of a command. */
export interface RetentionOptions {
  auditMaxAge?: string
  auditMaxSize?: string
  auditArchive?: string
}

const LEAST_AGE_MS = 24 * 60 * 60_000
/** Above 16 MiB, the size of a segment. */
const LEAST_BYTES = 20e6

const SIZE = /^([1-9]\d{0,8})(kB|MB|GB)$/i
const UNIT_BYTES: Readonly<Record<string, number>> = { kb: 1e3, mb: 1e6, gb: 1e9 }

/** Undefined: everything is kept. An option counts before the variable of the same name. */
export function auditRetention({ env, cwd }: Pick<Io, 'env' | 'cwd'>, options: RetentionOptions = {}): AuditRetention | undefined {
  const given = (flag: string, option: string | undefined, variable: string): { text: string; from: string } | undefined => {
    const text = option ?? env[variable]
    return text === undefined || text === '' ? undefined : { text, from: option === undefined ? variable : flag }
  }
  const age = given('--audit-max-age', options.auditMaxAge, 'PORTICO_AUDIT_MAX_AGE')
  const size = given('--audit-max-size', options.auditMaxSize, 'PORTICO_AUDIT_MAX_SIZE')
  const archive = given('--audit-archive', options.auditArchive, 'PORTICO_AUDIT_ARCHIVE')
  if (archive && !age && !size) throw wrong(archive.from, 'needs a largest age or size of the log')
  if (!age && !size) return undefined
  return {
    ...(age && { maxAgeMs: ageOf(age) }),
    ...(size && { maxBytes: sizeOf(size) }),
    ...(archive && { archive: resolve(cwd, archive.text) }),
  }
}

/** All commands check these variables. Otherwise a mistake would show only when the log is retired. */
export function checkRetentionVariables({ env }: Pick<Io, 'env'>): void {
  const { PORTICO_AUDIT_MAX_AGE: age = '', PORTICO_AUDIT_MAX_SIZE: size = '' } = env
  if (age !== '') ageOf({ text: age, from: 'PORTICO_AUDIT_MAX_AGE' })
  if (size !== '') sizeOf({ text: size, from: 'PORTICO_AUDIT_MAX_SIZE' })
}

function ageOf({ text, from }: { text: string; from: string }): number {
  let ms: number
  try {
    ms = durationMs(text)
  } catch {
    throw wrong(from, `must be a time such as 30d, not ${JSON.stringify(text)}`)
  }
  if (ms < LEAST_AGE_MS) throw wrong(from, `must be at least 1d, not ${JSON.stringify(text)}: older records leave the log`)
  return ms
}

function sizeOf({ text, from }: { text: string; from: string }): number {
  const [, count, unit = ''] = SIZE.exec(text) ?? []
  if (count === undefined) throw wrong(from, `must be a size such as 500MB or 2GB, not ${JSON.stringify(text)}`)
  const bytes = Number(count) * (UNIT_BYTES[unit.toLowerCase()] ?? 1)
  if (bytes < LEAST_BYTES) throw wrong(from, `must be at least 20MB, not ${JSON.stringify(text)}: what is above it leaves the log`)
  return bytes
}

const wrong = (from: string, what: string): Error =>
  from.startsWith('--') ? new UsageError(`${from} ${what}`) : new McpError('ERR_CONFIG', `${from} ${what}`)
