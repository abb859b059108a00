/** Imports servers that other programs on this computer use, then offers to enable several at once. */

import { type ReactNode, useState } from 'react'
import type { EnabledServer, ImportableServer } from '../../../../src/console/api.ts'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { Checkbox } from '../../components/field.tsx'
import { EmptyState, ErrorState, Skeleton } from '../../components/states.tsx'
import { useAction, useOperation, useRoute } from '../../hooks/use-console.tsx'
import { foreignName, foreignText } from '../../state/foreign-text.ts'
import { counted } from '../../state/format.ts'
import { originText } from '../../state/servers.ts'
import { FoundServer } from './found-server.tsx'
import css from './page.module.css'

export function ImportServers({ isOpen, onClose }: { isOpen: boolean; onClose(): void }): ReactNode {
  const found = useRoute('GET /api/import', undefined, { isEnabled: isOpen })
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set())
  const [added, setAdded] = useState<readonly string[]>()
  const take = useAction('POST /api/import', { stale: ['GET /api/servers', 'GET /api/import'] })
  const enable = useOperation()
  const servers = found.data?.servers ?? []
  const chosen = servers.filter(({ id }) => !left.has(id)).map(({ id }) => id)
  const toggle = (id: string): void =>
    setLeft((now) => (now.has(id) ? new Set([...now].filter((each) => each !== id)) : new Set([...now, id])))
  const result = enable.operation?.state === 'done' ? (enable.operation.result as readonly EnabledServer[] | undefined) : undefined
  const close = (): void => {
    setAdded(undefined)
    setLeft(new Set())
    enable.reset()
    onClose()
  }
  return (
    <Dialog
      title={added ? 'Enable them?' : 'Import servers'}
      isOpen={isOpen}
      onClose={close}
      isWide
      actions={
        added ? (
          <>
            <Button onClick={close}>{result ? 'Close' : 'Not now'}</Button>
            {!result && (
              <Button
                kind="main"
                isBusy={enable.isRunning}
                disabled={added.length === 0}
                onClick={() => void enable.start('POST /api/servers/enable', { body: { ids: added } })}
              >
                Enable {counted(added.length, 'server')}
              </Button>
            )}
          </>
        ) : (
          <>
            <Button onClick={close}>{servers.length === 0 ? 'Close' : 'Cancel'}</Button>
            {servers.length > 0 && (
              <Button
                kind="main"
                isBusy={take.isPending}
                disabled={chosen.length === 0}
                onClick={() =>
                  take.mutate({ body: { ids: chosen } }, { onSuccess: ({ added: fresh, updated }) => setAdded([...fresh, ...updated]) })
                }
              >
                Import {counted(chosen.length, 'server')}
              </Button>
            )}
          </>
        )
      }
    >
      {!added && (
        <>
          {servers.length > 0 && <p>Found in the files of other programs. The files stay as they are, and nothing starts now.</p>}
          {found.isPending && <Skeleton lines={4} />}
          {found.isError && <ErrorState title="The files could not be read" error={found.error} onRetry={() => void found.refetch()} />}
          {found.data && servers.length === 0 && (
            <EmptyState title="No other program has servers">
              The files of other programs on this computer name none that is new.
            </EmptyState>
          )}
          {servers.map((server) => (
            <Importable key={server.id} server={server} isChosen={!left.has(server.id)} onToggle={() => toggle(server.id)} />
          ))}
          {found.data?.problems.map(({ file, where, text }) => (
            <p key={`${file} ${where} ${text}`} className={css.muted}>
              Left out, {foreignName(file)} {foreignName(where)}: {foreignText(text)}
            </p>
          ))}
          {take.isError && <ErrorState title="The servers were not imported" error={take.error} />}
        </>
      )}
      {added && !result && (
        <>
          <p>{counted(added.length, 'server')} imported. You see the exact commands of all of them before anything starts.</p>
          {enable.startError && <ErrorState title="They were not enabled" error={enable.startError} />}
          {enable.operation?.error && <ErrorState title="They were not enabled" error={enable.operation.error} />}
        </>
      )}
      {result?.map(({ server, offering, error, health }) => (
        <p key={server}>
          <Badge tone={error ? 'danger' : 'fine'}>{error ? 'not enabled' : 'enabled'}</Badge> {foreignName(server)}
          {error && `: ${foreignText(error.message)}`}
          {offering && `: ${counted(offering.tools, 'tool')}`}
          {offering && offering.held > 0 && `, ${offering.held} need a look`}
          {!error && !offering && ` (${health.state})`}
        </p>
      ))}
    </Dialog>
  )
}

const Importable = ({ server, isChosen, onToggle }: { server: ImportableServer; isChosen: boolean; onToggle(): void }): ReactNode => (
  <FoundServer
    server={server}
    head={
      <Checkbox
        label={
          <>
            <strong>{foreignName(server.id)}</strong> <span className={css.muted}>{foreignName(originText(server.from))}</span>
          </>
        }
        checked={isChosen}
        onChange={onToggle}
      />
    }
  />
)
