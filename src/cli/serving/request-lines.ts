/** Writes a line for each request to standard error, as text or as JSON. */

import type { ListenOptions } from '../../http/index.ts'
import { safe } from '../output/safe-text.ts'
import type { Output } from '../shared-terminal.ts'
import { writeJsonLine } from './console-lines.ts'

type Level = 'info' | 'warn' | 'error'

export async function requestLines(format: 'text' | 'json', output: Output): Promise<Pick<ListenOptions, 'onRequest' | 'onRefused'>> {
  const { requestLog } = await import('../../observability/index.ts')
  const write = (level: Level, fields: object, message: string): void => {
    if (format === 'json') return writeJsonLine(output, level, message, fields)
    const time = new Date().toISOString()
    const { method, durationMs, principal, address, status, code, kind, httpMethod, path, reason, reference } = fields as Record<
      string,
      unknown
    >
    const facts = [
      status !== undefined && `status ${status}`,
      kind,
      httpMethod !== undefined && `${httpMethod} ${path}`,
      code !== undefined && `code ${code}`,
      // The message of a refusal already contains the reason.
      method !== undefined && reason,
      reference !== undefined && `reference ${reference}`,
      durationMs !== undefined && `${durationMs} ms`,
      principal ?? address,
    ]
    // Clients choose names, which must not move the cursor of a terminal.
    output.stream.write(`${safe`${[time, level, message, ...facts.filter(Boolean)].join(' ')}`.text}\n`)
  }
  return requestLog({
    info: (fields, message) => write('info', fields, message),
    warn: (fields, message) => write('warn', fields, message),
    error: (fields, message) => write('error', fields, message),
  })
}
