/** Reads a resource, and keeps what was read while it is read again. */

import { useEffect, useState } from 'react'
import type { ReadResourceResult } from '../../../../src/client/index.ts'
import { draftOf, keepDraft } from '../../catalog/drafts.ts'
import { type RunningOperation, useOperation } from '../../hooks/use-console.tsx'

export interface Reading {
  run: RunningOperation
  /** What was read last. */
  shown: { uri: string; result: ReadResourceResult; at: number } | undefined
  read(uri: string): Promise<void>
}

export function useReading(uri: string | undefined): Reading {
  const run = useOperation(uri === undefined ? undefined : draftOf(`read ${uri}`).operation)
  const [shown, setShown] = useState<Reading['shown']>()
  const { operation } = run
  useEffect(() => {
    if (operation?.state !== 'done' || operation.result === undefined || typeof operation.target !== 'string') return
    setShown({ uri: operation.target, result: operation.result as ReadResourceResult, at: operation.endedAt ?? Date.now() })
  }, [operation])
  const read = async (wanted: string): Promise<void> => {
    const started = await run.start('POST /api/resources/read', { body: { uri: wanted } })
    if (started) keepDraft(`read ${wanted}`, { operation: started.id })
  }
  return { run, shown, read }
}
