/** Saves the whole log as a file, one record in a line, part by part. */

import { useState } from 'react'
import { saveText } from '../../hooks/save-text.ts'
import { useConsole, useNotify } from '../../hooks/use-console.tsx'
import { counted } from '../../state/format.ts'

export function useExport(): { isExporting: boolean; exportAll(): Promise<void> } {
  const { api } = useConsole()
  const notify = useNotify()
  const [isExporting, setExporting] = useState(false)
  const exportAll = async (): Promise<void> => {
    setExporting(true)
    try {
      const parts: string[] = []
      let records = 0
      let after: number | undefined
      do {
        const part = await api.call('GET /api/audit/export', { query: after === undefined ? {} : { after } })
        parts.push(part.text)
        records += part.records
        after = part.next
      } while (after !== undefined)
      saveText('audit.jsonl', parts.join(''))
      notify({ tone: 'fine', text: `${counted(records, 'record')} exported.` })
    } catch (error) {
      notify({ tone: 'danger', text: (error as Error).message })
    }
    setExporting(false)
  }
  return { isExporting, exportAll }
}
