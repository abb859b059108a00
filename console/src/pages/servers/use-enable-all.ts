/** Enables servers. One question opens as a dialog, several open in the tray, where they can be answered together. */

import { useEffect } from 'react'
import type { EnabledServer } from '../../../../src/console/api.ts'
import { useNotify, useOperation } from '../../hooks/use-console.tsx'
import { useShowWaiting } from '../../hooks/use-show-waiting.ts'
import { enabledText } from '../../state/found-servers.ts'

export function useEnableAll(): (ids: readonly string[]) => void {
  const { operation, startError, start, reset } = useOperation()
  const notify = useNotify()
  const showWaiting = useShowWaiting()
  useEffect(() => {
    if (startError) notify({ tone: 'danger', text: startError.message })
  }, [startError, notify])
  useEffect(() => {
    if (!operation || operation.state === 'running') return
    if (operation.error) notify({ tone: 'danger', text: operation.error.message })
    else if (operation.result === undefined) return
    else notify(enabledText(operation.result as readonly EnabledServer[]))
    reset()
  }, [operation, notify, reset])
  return (ids) => {
    void start('POST /api/servers/enable', { body: { ids } })
    if (ids.length > 1) showWaiting()
  }
}
