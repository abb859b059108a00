/** Fills a form with arguments that were used or saved before, and saves the ones that it has. */

import { type ReactNode, useMemo, useState } from 'react'
import type { SavedCall } from '../../../src/console/api.ts'
import { Button } from '../components/button.tsx'
import { Dialog } from '../components/dialog.tsx'
import { Field, TextInput } from '../components/field.tsx'
import { Menu } from '../components/menu.tsx'
import { useAction, useNotify, useRoute } from '../hooks/use-console.tsx'
import { type Arguments, argumentsLine, pastCalls } from '../state/arguments.ts'
import { foreignName } from '../state/foreign-text.ts'
import { agoText } from '../state/format.ts'
import css from './catalog.module.css'

export interface PastCallsProps {
  target: Pick<SavedCall, 'kind' | 'server' | 'name'>
  /** What the form has now. */
  args: Arguments
  onUse(args: Arguments): void
}

const STALE = { stale: ['GET /api/calls/saved'] } as const

export function PastCalls({ target, args, onUse }: PastCallsProps): ReactNode {
  const { kind, server, name } = target
  const saved = useRoute('GET /api/calls/saved').data?.calls
  const recent = useRoute('GET /api/calls/recent', { query: { server, limit: 100 } }).data?.calls
  const [isOpen, setOpen] = useState(false)
  const calls = useMemo(
    () => pastCalls({ kind, server, name }, saved ?? [], recent ?? [], (at) => agoText(at, Date.now())),
    [kind, server, name, saved, recent],
  )
  return (
    <>
      <Menu
        label="Fill in ▾"
        disabled={calls.length === 0}
        actions={calls.map((call) => ({
          label: foreignName(call.title),
          help: foreignName(call.saved ? `saved · ${call.about}` : call.about),
          onSelect: () => onUse(call.args),
        }))}
      />
      {saved && <Button onClick={() => setOpen(true)}>Save call</Button>}
      {saved && isOpen && (
        <SavedCalls
          target={target}
          args={args}
          calls={calls.flatMap((call) => (call.saved ? [call.saved] : []))}
          onClose={() => setOpen(false)}
        />
      )}
    </>
  )
}

function SavedCalls({
  target,
  args,
  calls,
  onClose,
}: {
  target: PastCallsProps['target']
  args: Arguments
  calls: readonly SavedCall[]
  onClose(): void
}): ReactNode {
  const [title, setTitle] = useState('')
  const save = useAction('POST /api/calls/saved', STALE)
  const remove = useAction('DELETE /api/calls/saved/:id', STALE)
  const notify = useNotify()
  const error = save.error ?? remove.error
  const store = (): void =>
    save.mutate(
      { body: { ...target, title: title.trim(), args } },
      {
        onSuccess: () => {
          notify({ tone: 'fine', text: `Saved as ${title.trim()}` })
          onClose()
        },
      },
    )
  return (
    <Dialog
      title="Save this call"
      isOpen
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Not now</Button>
          <Button kind="main" disabled={title.trim() === ''} isBusy={save.isPending} onClick={store}>
            Save
          </Button>
        </>
      }
    >
      <form
        className={css.stack}
        onSubmit={(event) => {
          event.preventDefault()
          if (title.trim() !== '') store()
        }}
      >
        <Field label="Name" help={argumentsLine(args)} fault={error?.message}>
          {(control) => (
            <TextInput
              {...control}
              data-autofocus="true"
              maxLength={100}
              value={title}
              onChange={(event) => setTitle(event.target.value)}
            />
          )}
        </Field>
      </form>
      {calls.length > 0 && (
        <section aria-label="Saved before">
          <h3>Saved before</h3>
          {calls.map((call) => (
            <div key={call.id} className={css.saved}>
              <span className={css.savedWords}>
                {foreignName(call.title)}
                <span className={css.muted}>{foreignName(argumentsLine(call.args))}</span>
              </span>
              <Button isSmall onClick={() => remove.mutate({ params: { id: call.id } })}>
                Remove
              </Button>
            </div>
          ))}
        </section>
      )}
    </Dialog>
  )
}
