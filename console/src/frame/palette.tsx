/** Ctrl K: one field over pages, servers, tools, resources, prompts and recent calls. */

import { Combobox, ComboboxItem, ComboboxList, ComboboxProvider, Dialog } from '@ariakit/react'
import { useNavigate } from '@tanstack/react-router'
import { type ReactNode, useDeferredValue, useMemo, useState } from 'react'
import type { RecentCall } from '../../../src/console/api.ts'
import { useRoute } from '../hooks/use-console.tsx'
import { argumentsLine } from '../state/arguments.ts'
import { foreignName } from '../state/foreign-text.ts'
import { agoText } from '../state/format.ts'
import { matching, type PaletteEntry } from '../state/palette.ts'
import css from './palette.module.css'
import { PLACES } from './places.ts'

interface Entry extends PaletteEntry {
  open(navigate: ReturnType<typeof useNavigate>): void
}

export function Palette({ isOpen, onClose }: { isOpen: boolean; onClose(): void }): ReactNode {
  return (
    <Dialog
      open={isOpen}
      onClose={onClose}
      className={css.palette}
      backdrop={<div className={css.backdrop} />}
      aria-label="Search"
      unmountOnHide
    >
      <Search onClose={onClose} />
    </Dialog>
  )
}

function Search({ onClose }: { onClose(): void }): ReactNode {
  const [text, setText] = useState('')
  const navigate = useNavigate()
  const entries = useEntries()
  const wanted = useDeferredValue(text)
  const shown = useMemo(() => matching(entries, wanted), [entries, wanted])
  const choose = (entry: Entry): void => {
    onClose()
    entry.open(navigate)
  }
  return (
    <ComboboxProvider open={shown.length > 0} value={text} setValue={setText}>
      <Combobox
        autoSelect="always"
        autoFocus
        className={css.input}
        placeholder="Search tools, resources, prompts, servers and pages"
        aria-label="Search"
      />
      {shown.length === 0 ? (
        <p className={css.none} role="status">
          Nothing has this name.
        </p>
      ) : (
        <ComboboxList alwaysVisible className={css.list} aria-label="Results">
          {shown.map((entry) => (
            <ComboboxItem
              key={entry.id}
              value={entry.id}
              setValueOnClick={false}
              hideOnClick={false}
              className={css.item}
              onClick={() => choose(entry)}
            >
              <span className={css.kind}>{entry.kind}</span>
              <span className={css.label}>{entry.label}</span>
              <span className={css.about}>{entry.about}</span>
            </ComboboxItem>
          ))}
        </ComboboxList>
      )}
    </ComboboxProvider>
  )
}

/** Opens the page with the same arguments. Nothing runs before the person has seen them. */
function openCall(
  go: ReturnType<typeof useNavigate>,
  { seq, kind, server, name, args }: Pick<RecentCall, 'seq' | 'kind' | 'server' | 'name' | 'args'>,
): void {
  const given = args && { call: seq }
  if (kind === 'resource') void go({ to: '/resources', search: { uri: name } })
  else if (kind === 'prompt') void go({ to: '/prompts', search: { prompt: `${server}/${name}`, ...given } })
  else void go({ to: '/tools', search: { tool: `${server}/${name}`, ...given } })
}

function useEntries(): readonly Entry[] {
  const servers = useRoute('GET /api/servers').data?.servers
  const tools = useRoute('GET /api/tools').data?.tools
  const resources = useRoute('GET /api/resources').data?.resources
  const prompts = useRoute('GET /api/prompts').data?.prompts
  const recent = useRoute('GET /api/calls/recent', { query: { limit: 20 } }).data?.calls
  return useMemo(
    () => [
      ...PLACES.map(({ to, label }): Entry => ({ id: `page ${to}`, kind: 'page', label, about: '', open: (go) => void go({ to }) })),
      ...(recent ?? []).map(
        ({ seq, server, name, kind, args, outcome, at }): Entry => ({
          id: `call ${seq}`,
          kind: 'call',
          label: foreignName(`${server}/${name}`),
          about: foreignName([argumentsLine(args), outcome, agoText(at, Date.now())].join(' · ')),
          open: (go) => openCall(go, { seq, kind, server, name, args }),
        }),
      ),
      ...(servers ?? []).map(
        ({ id, title }): Entry => ({
          id: `server ${id}`,
          kind: 'server',
          label: foreignName(id),
          about: foreignName(title ?? ''),
          open: (go) => void go({ to: '/servers', search: { server: id } }),
        }),
      ),
      ...(tools ?? []).map(
        ({ exposed, server, definition }): Entry => ({
          id: `tool ${exposed}`,
          kind: 'tool',
          label: foreignName(definition.title ?? definition.name),
          about: foreignName(`${server} ${definition.description ?? ''}`.slice(0, 200)),
          open: (go) => void go({ to: '/tools', search: { tool: exposed } }),
        }),
      ),
      ...(resources ?? []).map(
        ({ exposed, server, definition }): Entry => ({
          id: `resource ${exposed}`,
          kind: 'resource',
          label: foreignName(definition.title ?? definition.name),
          about: foreignName(`${server} ${definition.uri}`),
          open: (go) => void go({ to: '/resources', search: { uri: definition.uri } }),
        }),
      ),
      ...(prompts ?? []).map(
        ({ exposed, server, definition }): Entry => ({
          id: `prompt ${exposed}`,
          kind: 'prompt',
          label: foreignName(definition.title ?? definition.name),
          about: foreignName(`${server} ${definition.description ?? ''}`.slice(0, 200)),
          open: (go) => void go({ to: '/prompts', search: { prompt: exposed } }),
        }),
      ),
    ],
    [servers, tools, resources, prompts, recent],
  )
}
