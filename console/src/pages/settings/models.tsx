/** The models of the chat: those that the person stored can be tested and removed, and more can be added. */

import { type ReactNode, useEffect, useState } from 'react'
import type { ModelTest, ModelView } from '../../../../src/console/api.ts'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { Card, Section } from '../../components/page-header.tsx'
import { SafeMarkdown } from '../../components/safe-markdown.tsx'
import { ErrorState, Skeleton } from '../../components/states.tsx'
import { useAction, useNotify, useOperation, useRoute } from '../../hooks/use-console.tsx'
import { foreignName, foreignText } from '../../state/foreign-text.ts'
import { durationText } from '../../state/format.ts'
import { type ModelRow, modelRows } from '../../state/models.ts'
import { AddModel } from './add-model.tsx'
import css from './page.module.css'

export function Models({ models }: { models: readonly ModelView[] }): ReactNode {
  const stored = useRoute('GET /api/models')
  /** The newest one, which is tested at once. */
  const [added, setAdded] = useState<string>()
  return (
    <>
      <Section title="Models">
        <p className={css.muted}>The chat offers these. The first is used for requests of servers, unless they prefer another.</p>
        {stored.isPending && <Skeleton lines={3} />}
        {stored.isError && (
          <ErrorState title="The models could not be fetched" error={stored.error} onRetry={() => void stored.refetch()} />
        )}
        {stored.data && (
          <div className={css.cards}>
            {modelRows(models, stored.data.models).map((row) => (
              <Model key={row.id} row={row} isNew={row.id === added} />
            ))}
          </div>
        )}
      </Section>
      {stored.data && <AddModel stored={stored.data.models} providers={stored.data.providers} onAdded={setAdded} />}
    </>
  )
}

function Model({ row: { id, label, about, stored }, isNew }: { row: ModelRow; isNew: boolean }): ReactNode {
  const { operation, isRunning, startError, start, cancel } = useOperation()
  const remove = useAction('DELETE /api/models/:id', { stale: ['GET /api/models', 'GET /api/settings', 'GET /api/secrets'] })
  const notify = useNotify()
  const [isRemoving, setRemoving] = useState(false)
  useEffect(() => {
    if (isNew) void start('POST /api/models/:id/test', { params: { id } })
  }, [isNew, id, start])
  const name = foreignName(label)
  const error = startError ?? operation?.error ?? remove.error
  const takeOut = async (): Promise<void> => {
    setRemoving(false)
    // Not as a callback of mutate: this row is gone by then.
    const isRemoved = await remove.mutateAsync({ params: { id } }).then(
      () => true,
      () => false,
    )
    if (isRemoved) notify({ tone: 'fine', text: `${name} is removed${stored?.secret === undefined ? '' : ', and so is its key'}.` })
  }
  return (
    <Card label={name}>
      <div className={css.model}>
        <div className={css.words}>
          <strong>{name}</strong>
          <span className={css.muted}>{foreignText(about)}</span>
          <div role="status" className={css.outcome}>
            {isRunning && <Badge tone="waiting">is asked to say hello …</Badge>}
            {operation?.state === 'done' && <Works {...(operation.result as ModelTest)} />}
            {error && (
              <p>
                <Badge tone="danger">{remove.error ? 'was not removed' : 'does not work'}</Badge> {foreignText(error.message)}
              </p>
            )}
          </div>
        </div>
        {stored && (
          <div className={css.line}>
            {isRunning ? (
              <Button isSmall onClick={cancel}>
                Stop the test
              </Button>
            ) : (
              <Button isSmall aria-label={`Test ${name}`} onClick={() => void start('POST /api/models/:id/test', { params: { id } })}>
                Test
              </Button>
            )}
            <Button isSmall kind="danger" aria-label={`Remove ${name}`} isBusy={remove.isPending} onClick={() => setRemoving(true)}>
              Remove
            </Button>
          </div>
        )}
      </div>
      <Dialog
        title={`Remove ${name}?`}
        isOpen={isRemoving}
        onClose={() => setRemoving(false)}
        actions={
          <>
            <Button onClick={() => setRemoving(false)}>Keep it</Button>
            <Button kind="danger" onClick={() => void takeOut()}>
              Remove
            </Button>
          </>
        }
      >
        <p>
          {stored?.secret === undefined
            ? 'It is taken off the list. You can add it again.'
            : `It is taken off the list, and its key ${foreignName(stored.secret)} is removed from the vault. To add it again you need the key.`}
        </p>
      </Dialog>
    </Card>
  )
}

const Works = ({ answer, ms }: Partial<ModelTest>): ReactNode => (
  <div>
    <Badge tone="fine">works</Badge> It answered{ms !== undefined && ` within ${durationText(ms)}`}
    {answer ? ':' : ', with an empty text.'}
    {answer && <SafeMarkdown text={foreignText(answer)} />}
  </div>
)
