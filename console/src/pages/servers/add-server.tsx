/** Adds a server from a pasted command, address or JSON. What would be added is shown first. */

import { useNavigate } from '@tanstack/react-router'
import { type ReactNode, useEffect, useState } from 'react'
import type { PastedServer } from '../../../../src/console/api.ts'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { Field, TextArea, TextInput } from '../../components/field.tsx'
import { Fold } from '../../components/fold.tsx'
import { ErrorState } from '../../components/states.tsx'
import { useAction, useNotify, useRoute } from '../../hooks/use-console.tsx'
import { foreignName, foreignText } from '../../state/foreign-text.ts'
import { counted } from '../../state/format.ts'
import { commandOf, suggestedId, workingFolder } from '../../state/new-server.ts'
import { transportText } from '../../state/servers.ts'
import { FoundServer } from './found-server.tsx'
import css from './page.module.css'

/** How long the person must pause before the text is read. */
const PAUSE_MS = 250

export function AddServer({ isOpen, onClose }: { isOpen: boolean; onClose(): void }): ReactNode {
  const [text, setText] = useState('')
  const [id, setId] = useState('')
  const [folder, setFolder] = useState<string>()
  const project = useRoute('GET /api/settings').data?.project
  const navigate = useNavigate({ from: '/servers' })
  const notify = useNotify()
  const parse = useAction('POST /api/servers/parse')
  const paste = useAction('POST /api/servers/paste', { stale: ['GET /api/servers'] })
  const add = useAction('POST /api/servers', { stale: ['GET /api/servers'] })
  const { mutate: read } = parse
  const isJson = text.trimStart().startsWith('{')
  const single = isJson ? undefined : commandOf(text)
  useEffect(() => {
    if (!isJson) return
    const timer = setTimeout(() => read({ body: { text } }), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [text, isJson, read])
  const found = isJson ? (parse.data?.servers ?? []) : []
  const usable = found.filter(({ isTaken }) => !isTaken)
  const name = id.trim() || (single ? suggestedId(single) : '')
  const done = (added: readonly string[]): void => {
    setText('')
    setId('')
    setFolder(undefined)
    notify({ tone: 'fine', text: `${counted(added.length, 'server')} added. Nothing was started.` })
    if (added.length === 1) void navigate({ search: { server: added[0] ?? '' } })
    else onClose()
  }
  const store = (): void => {
    if (isJson) paste.mutate({ body: { text, ids: usable.map((each) => each.id) } }, { onSuccess: ({ added }) => done(added) })
    else if (single)
      add.mutate(
        { body: { id: name, ...single, ...workingFolder(single, folder ?? project) } },
        { onSuccess: ({ server }) => done([server.id]) },
      )
  }
  const error = add.error ?? paste.error ?? (isJson ? parse.error : undefined)
  return (
    <Dialog
      title="Add a server"
      isOpen={isOpen}
      onClose={onClose}
      isWide
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            kind="main"
            isBusy={add.isPending || paste.isPending}
            disabled={isJson ? usable.length === 0 : !single || name === ''}
            onClick={store}
          >
            Add
          </Button>
        </>
      }
    >
      <Field
        label="Command, address or JSON"
        help="For example: npx -y @modelcontextprotocol/server-everything, https://example.com/mcp, or the JSON from a server's README"
      >
        {(control) => <TextArea {...control} isCode rows={5} value={text} onChange={(event) => setText(event.target.value)} />}
      </Field>
      {single && (
        <>
          <Field label="Name" isRequired help="Short, for lists and tool names">
            {(control) => (
              <TextInput {...control} value={id} placeholder={suggestedId(single)} onChange={(event) => setId(event.target.value)} />
            )}
          </Field>
          {single.url === undefined && (
            <Field label="Working folder" help="Paths in the command begin here. Default: where Portico runs">
              {(control) => <TextInput {...control} value={folder ?? project ?? ''} onChange={(event) => setFolder(event.target.value)} />}
            </Field>
          )}
          <p className={css.muted}>
            {single.url === undefined
              ? `It would run ${foreignName(transportText({ type: 'stdio', command: single.command ?? '', args: single.args ?? [], env: {} }))}. You are asked before it starts.`
              : `It would connect to ${foreignName(single.url)}. You are asked before it connects.`}
          </p>
        </>
      )}
      {found.map((server) => (
        <Found key={server.id} server={server} />
      ))}
      {isJson &&
        parse.data?.problems.map(({ where, text: problem }) => (
          <p key={`${where} ${problem}`} className={css.fault}>
            {foreignName(where)}: {foreignText(problem)}
          </p>
        ))}
      {error && <ErrorState title={isJson && parse.isError ? 'This text cannot be read' : 'The server was not added'} error={error} />}
      <Fold label="What happens then?">
        <p>The server is stored. Nothing of it runs before you enable it and say yes to the exact command or address.</p>
      </Fold>
    </Dialog>
  )
}

const Found = ({ server }: { server: PastedServer }): ReactNode => (
  <FoundServer
    server={server}
    head={
      <>
        <strong>{foreignName(server.id)}</strong> {server.isTaken && <Badge tone="waiting">the name is taken: left out</Badge>}
      </>
    }
  />
)
