/** A copy of the audit log with one changed byte, to show that the change is found. */

import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type AuditVerdict, type Host, STORAGE_PATHS, verifyAudit } from '../../host/index.ts'

const ALLOWED = '"effect":"allow"'

/** Verifies the copy and removes it. The log itself is not changed. */
export async function verifyDamagedCopy(host: Pick<Host, 'folder' | 'audit'>): Promise<AuditVerdict> {
  await host.audit.checkpoint()
  const copy = await mkdtemp(join(tmpdir(), 'portico-audit-'))
  try {
    await cp(join(host.folder, STORAGE_PATHS.audit), copy, { recursive: true })
    await changeOneByte(copy)
    return await verifyAudit(copy)
  } finally {
    await rm(copy, { recursive: true, force: true })
  }
}

async function changeOneByte(folder: string): Promise<void> {
  for (const segment of (await readdir(folder)).filter((name) => name.endsWith('.jsonl')).sort()) {
    const file = join(folder, segment)
    const text = await readFile(file, 'utf8')
    const at = text.indexOf(ALLOWED)
    if (at < 0) continue
    return writeFile(file, `${text.slice(0, at)}"effect":"allox"${text.slice(at + ALLOWED.length)}`)
  }
  throw new Error('The log has no record of something allowed')
}
