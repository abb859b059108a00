/** Reading the newest records of a log, page by page, over several segments. */

import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readAudit, readAuditPage } from '../../../../src/host/index.ts'
import { openAuditLog } from '../../../../src/host/storage/audit/log.ts'
import { temporaryFolders } from '../../../support/folders.ts'

const folders = temporaryFolders()

async function logged(records: number): Promise<string> {
  const folder = join(folders(), 'audit')
  const log = await openAuditLog({ folder, scrub: (text) => text, onWarning: () => {}, limits: { segmentBytes: 2_000 } })
  for (let i = 0; i < records; i++)
    await log.refusal({
      action: 'tool.call',
      principal: 'me',
      run: 'r',
      initiator: 'user',
      server: i % 2 === 0 ? 'even' : 'odd',
      fingerprint: 'f',
      effect: 'deny',
      reasons: [`reason ${i}`],
    })
  await log.close()
  return folder
}

test('pages together have every record once, newest first', async () => {
  const folder = await logged(20)
  const all: number[] = []
  for await (const { seq } of readAudit(folder)) all.push(seq)
  const paged: number[] = []
  let before: number | undefined
  do {
    const { records, next } = await readAuditPage(folder, { limit: 7, ...(before !== undefined && { before }) })
    expect(records.length).toBeLessThanOrEqual(7)
    paged.push(...records.map(({ seq }) => seq))
    before = next
  } while (before !== undefined)
  expect(paged).toEqual([...all].reverse())
})

test('only matching records are returned, and the last page says that it is the last', async () => {
  const folder = await logged(10)
  const { records, next } = await readAuditPage(folder, { limit: 5, server: 'even' })
  expect(records).toHaveLength(5)
  expect(next).toBeUndefined()
  expect((await readAuditPage(folder, { limit: 4, server: 'even' })).next).toBeDefined()
  const wanted = await readAuditPage(folder, { limit: 5, isWanted: (record) => JSON.stringify(record).includes('reason 3') })
  expect(wanted.records).toHaveLength(1)
  await expect(readAuditPage(folder, { limit: 1, signal: AbortSignal.abort() })).rejects.toThrow()
})
