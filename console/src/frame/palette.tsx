/** Ctrl K: one field over pages, servers, tools, resources, prompts and recent calls. */

import { Combobox, ComboboxItem, ComboboxList, ComboboxProvider, Dialog } from '@ariakit/react'
import { useNavigate } from '@tanstack/react-router'
import { type ReactNode, useDeferredValue, useMemo, useState } from 'react'
import { useConsoleState, useRoute } from '../hooks/use-console.tsx'
import { foreignName } from '../state/foreign-text.ts'
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
    <ComboboxProvider open value={text} setValue={setText}>
      <Combobox
        autoSelect="always"
        autoFocus
        className={css.input}
        placeholder="Search tools, resources, prompts, servers and pages"
        aria-label="Search"
      />
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
        {shown.length === 0 && <p className={css.none}>Nothing has this name.</p>}
      </ComboboxList>
    </ComboboxProvider>
  )
}

function useEntries(): readonly Entry[] {
  const servers = useRoute('GET /api/servers').data?.servers
  const tools = useRoute('GET /api/tools').data?.tools
  const resources = useRoute('GET /api/resources').data?.resources
  const prompts = useRoute('GET /api/prompts').data?.prompts
  const operations = useConsoleState((state) => state.operations)
  return useMemo(
    () => [
      ...PLACES.map(({ to, label }): Entry => ({ id: `page ${to}`, kind: 'page', label, about: '', open: (go) => void go({ to }) })),
      ...operations
        .filter(({ kind, target }) => kind === 'call' && typeof target === 'string')
        .slice(0, 10)
        .map(
          ({ id, target, state }): Entry => ({
            id: `call ${id}`,
            kind: 'call',
            label: foreignName(String(target)),
            about: state,
            open: (go) => void go({ to: '/tools', search: { tool: String(target) } }),
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
    [servers, tools, resources, prompts, operations],
  )
}
