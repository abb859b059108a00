/**
 * Reads the complete offering of a server, and reads lists again after the server announced a change. A list that cannot be
 * read stays as last known.
 */

import { setImmediate as nextTurn } from 'node:timers/promises'
import { asText } from '../../base/as-text.ts'
import type { Clock, Timer } from '../../base/clock.ts'
import { counted } from '../../base/text/counted.ts'
import type { Client } from '../../client/client.ts'
import type { List } from '../../client/paging.ts'
import type { ListKind } from '../../client/watching.ts'
import { METHOD_NOT_FOUND } from '../../jsonrpc/message.ts'
import { RemoteError } from '../../jsonrpc/remote-error.ts'
import { McpError } from '../../protocol/errors.ts'
import type { Skill } from '../../protocol/model/skills.ts'
import { skillSettings, skillsOf } from '../../skills/client-skills.ts'
import type { Offering } from '../model/offering.ts'
import type { AllSupervisionLimits } from './limits.ts'

const LIST_NAMES = ['tools', 'prompts', 'resources', 'templates', 'skills'] as const

export type ListName = (typeof LIST_NAMES)[number]

export interface ListFault {
  /** The list that is stale; `connection` for all of them. */
  list: ListName | 'connection'
  error: Error
}

export interface ServerListing {
  offering: Offering
  /** A list is only the last known one. `faults` says which and why. */
  isStale: boolean
  faults: readonly ListFault[]
}

/** The pause before a list that could not be read is read again. Changes that the server announces are read sooner. */
const RELIST_MS = 30_000

type ReaderLimits = Pick<AllSupervisionLimits, 'listDebounceMs' | 'maxListPauseMs' | 'maxOfferingItems' | 'maxOfferingBytes'>

export interface ReaderOptions {
  client: Client
  limits: ReaderLimits
  clock: Clock
  /** The last known offering from before this connection. */
  known: Offering | undefined
  /** Called for each item while the list is read, so that work on the items is spread over time. */
  onItem?(item: object): void
  onListing(listing: ServerListing): void
  onWarning(message: string): void
}

interface Size {
  items: number
  bytes: number
}

const CHANGES: Readonly<Record<ListKind, readonly ListName[]>> = {
  tools: ['tools'],
  prompts: ['prompts'],
  // There is no notice about skills. Their files are resources.
  resources: ['resources', 'templates', 'skills'],
}

const ITEMS_A_TURN = 200

/** Warnings about single items of one list. The others are counted. */
const MAX_COMPLAINTS = 10

/** The pause is reset when a list has not changed for this many times the last pause. */
const CALM_PAUSES = 10
/** The same, for a pause that has reached its maximum. */
const CALM_LONGEST_PAUSES = 3

/** How long the first read waits for the server to confirm the subscription to changes. */
const LISTEN_MS = 2_000

export class OfferingReader {
  readonly #options: ReaderOptions
  readonly #lists: Required<Pick<Offering, ListName>>
  readonly #faults = new Map<ListName, Error>()
  readonly #sizes: Record<ListName, Size>
  readonly #dirty = new Set<ListName>()
  readonly #fixedBytes: number
  /** Skills that the person asked for by their URI. */
  readonly #asked = new Set<string>()
  #due: { at: number; timer: Timer } | undefined
  #reading: Promise<void> | undefined
  #isStopped = false
  /** How long changes are gathered before the lists are read. */
  #pauseMs: number
  /** When a list was last read because of a change. */
  #changedReadAt: number | undefined

  constructor(options: ReaderOptions) {
    this.#options = options
    this.#pauseMs = options.limits.listDebounceMs
    const { known, client } = options
    this.#lists = {
      tools: known?.tools ?? [],
      prompts: known?.prompts ?? [],
      resources: known?.resources ?? [],
      templates: known?.templates ?? [],
      skills: known?.skills ?? [],
    }
    const { tools, prompts, resources, templates, skills } = this.#lists
    this.#sizes = {
      tools: sizeOf(tools),
      prompts: sizeOf(prompts),
      resources: sizeOf(resources),
      templates: sizeOf(templates),
      skills: sizeOf(skills),
    }
    this.#fixedBytes = bytesOf(client.server)
  }

  /** Reads all lists. Resolves after the first listing, also if it has faults. */
  async start(): Promise<void> {
    // Listening comes first, so that changes during the read are noticed. Some servers and proxies never confirm it.
    const listening = this.#listen()
    const isConfirmed = await Promise.race([listening.then(() => true), this.#patience()])
    await this.refresh()
    if (!isConfirmed) void listening.then(() => (this.#isStopped ? undefined : this.refresh()))
  }

  /** Reads the entry of a skill that the server need not list, and keeps it in the offering. @throws if it cannot be used */
  async includeSkill(uri: string): Promise<void> {
    const skill = await skillsOf(this.#options.client).get(uri)
    if (skill.resources === 'dynamic') throw new McpError('ERR_UNSUPPORTED', GENERATED(uri))
    if (this.#lists.skills.some((each) => each.uri === uri)) return this.refresh(['skills'])
    if (this.#asked.size >= MAX_ASKED)
      throw new McpError('ERR_LIMIT', `${MAX_ASKED} skills that the server does not list are in use already`)
    this.#asked.add(uri)
    await this.refresh(['skills'])
  }

  stop(): void {
    this.#isStopped = true
    this.#due?.timer.cancel()
  }

  /** Reads these lists again. During a read it waits and reads once more, because the lists may have changed since. */
  refresh(lists: Iterable<ListName> = LIST_NAMES): Promise<void> {
    const wanted = [...lists]
    if (this.#reading) return this.#reading.then(() => (this.#isStopped ? undefined : this.refresh(wanted)))
    for (const list of wanted) this.#dirty.add(list)
    this.#reading = this.#readDirty().finally(() => {
      this.#reading = undefined
      if (this.#dirty.size > 0) this.#readChangesLater()
      else if (this.#passingFaults().length > 0) this.#readLater(RELIST_MS, () => this.refresh([]))
    })
    return this.#reading
  }

  async #listen(): Promise<void> {
    const { client, onWarning } = this.#options
    const kinds = (['tools', 'prompts', 'resources'] as const).filter((kind) => client.server.capabilities[kind]?.listChanged === true)
    await Promise.all(
      kinds.map(async (kind) => {
        try {
          await client.onChange(kind, () => this.#onChanged(kind))
        } catch (error) {
          if (!this.#isStopped) onWarning(`Changes of ${kind} will not be noticed: ${messageOf(error)}`)
        }
      }),
    )
  }

  #patience(): Promise<false> {
    return new Promise((resolve) => this.#options.clock.after(LISTEN_MS, () => resolve(false)))
  }

  #onChanged(kind: ListKind): void {
    for (const list of CHANGES[kind]) this.#dirty.add(list)
    if (!this.#reading) this.#readChangesLater()
  }

  /** A server whose lists change without end is read less and less often: all that is read is work for the whole host. */
  #readChangesLater(): void {
    const { limits, clock } = this.#options
    const { listDebounceMs, maxListPauseMs } = limits
    const calmMs = Math.min(CALM_PAUSES * this.#pauseMs, CALM_LONGEST_PAUSES * maxListPauseMs)
    if (this.#changedReadAt === undefined || clock.now() - this.#changedReadAt >= calmMs) this.#pauseMs = listDebounceMs
    this.#readLater(this.#pauseMs, async () => {
      this.#pauseMs = Math.min(2 * this.#pauseMs, Math.max(listDebounceMs, maxListPauseMs))
      this.#changedReadAt = clock.now()
      await this.refresh([])
      // The time of the read itself does not count as time without changes.
      this.#changedReadAt = clock.now()
    })
  }

  /** Never delays a read that is due sooner, so that endless announcements cannot prevent reads. */
  #readLater(ms: number, read: () => Promise<void>): void {
    const { clock } = this.#options
    const at = clock.now() + ms
    if (this.#isStopped || (this.#due && this.#due.at <= at)) return
    this.#due?.timer.cancel()
    const timer = clock.after(ms, () => {
      this.#due = undefined
      void read()
    })
    this.#due = { at, timer }
  }

  async #readDirty(): Promise<void> {
    const lists = new Set([...this.#dirty, ...this.#passingFaults()])
    this.#dirty.clear()
    if (lists.size === 0) return
    const reading: Partial<Record<ListName, Size>> = {}
    await Promise.all([...lists].map((list) => this.#read(list, reading)))
    if (!this.#isStopped) this.#options.onListing(this.#listing())
  }

  #passingFaults(): ListName[] {
    return [...this.#faults].filter(([, error]) => isPassing(error)).map(([list]) => list)
  }

  async #read(list: ListName, reading: Partial<Record<ListName, Size>>): Promise<void> {
    const size: Size = { items: 0, bytes: 0 }
    reading[list] = size
    try {
      const items = await this.#itemsOf(list, size, reading)
      if (this.#isStopped) return
      Object.assign(this.#lists, { [list]: items })
      this.#sizes[list] = size
      this.#faults.delete(list)
    } catch (error) {
      if (this.#isStopped) return
      this.#faults.set(list, error as Error)
      this.#options.onWarning(`The ${list} could not be listed, and stay as they were last known: ${messageOf(error)}`)
    } finally {
      delete reading[list]
    }
  }

  async #itemsOf(list: ListName, size: Size, reading: Partial<Record<ListName, Size>>): Promise<object[]> {
    const { client, onItem, onWarning } = this.#options
    if (!hasList(client, list)) return []
    const seen = new Map<string, object>()
    let faults = 0
    const complain = (text: string): void => {
      if (++faults <= MAX_COMPLAINTS) onWarning(text)
    }
    try {
      const source = list === 'skills' ? usableSkills(client, this.#asked, complain) : sourceOf(client, list)
      for await (const item of source) {
        size.items++
        size.bytes += bytesOf(item)
        this.#checkSize(reading)
        // A page may have thousands of items. Other work gets its turn in between.
        if (size.items % ITEMS_A_TURN === 0) await nextTurn()
        onItem?.(item)
        const key = keyOf(list, item)
        if (key === undefined) complain(`An item without a name is left out of the ${list}`)
        else if (seen.has(key)) complain(`${JSON.stringify(key)} is listed twice in the ${list}; the first one is used`)
        else seen.set(key, item)
      }
    } catch (error) {
      // Many servers with resources do not know the method for templates.
      if (list === 'templates' && error instanceof RemoteError && error.code === METHOD_NOT_FOUND) return []
      throw error
    }
    if (faults > MAX_COMPLAINTS) onWarning(`${counted(faults - MAX_COMPLAINTS, 'more item is', 'more items are')} left out of the ${list}`)
    return [...seen.values()]
  }

  #checkSize(reading: Partial<Record<ListName, Size>>): void {
    const { maxOfferingItems, maxOfferingBytes } = this.#options.limits
    const sizes = LIST_NAMES.map((list) => reading[list] ?? this.#sizes[list])
    const items = sizes.reduce((sum, size) => sum + size.items, 0)
    const bytes = sizes.reduce((sum, size) => sum + size.bytes, this.#fixedBytes)
    if (items > maxOfferingItems) throw new McpError('ERR_LIMIT', `The server lists more than ${maxOfferingItems} items (maxOfferingItems)`)
    if (bytes > maxOfferingBytes) throw new McpError('ERR_LIMIT', `The server lists more than ${maxOfferingBytes} bytes (maxOfferingBytes)`)
  }

  #listing(): ServerListing {
    const { info, instructions, capabilities } = this.#options.client.server
    return {
      offering: { info, instructions, capabilities, ...this.#lists },
      isStale: this.#faults.size > 0,
      faults: [...this.#faults].map(([list, error]) => ({ list, error })),
    }
  }
}

function hasList({ server: { capabilities } }: Client, list: ListName): boolean {
  if (list === 'skills') return skillSettings(capabilities) !== undefined
  return capabilities[list === 'templates' ? 'resources' : list] !== undefined
}

/** More than a person asks for by hand. */
const MAX_ASKED = 100

const GENERATED = (uri: string): string =>
  `The skill ${JSON.stringify(uri)} cannot be used: its files are generated, so an approval would not be for any content`

/** The skills that the server lists, and those that were asked for. `complain` is told why one is left out. Reads no files. */
async function* usableSkills(client: Client, asked: Iterable<string>, complain: (text: string) => void): AsyncGenerator<Skill> {
  const skills = skillsOf(client, { onUnusable: ({ message }) => complain(message), onWarning: complain })
  const others = new Set(asked)
  const isFixed = ({ uri, resources }: Skill): boolean => {
    if (resources === 'dynamic') complain(GENERATED(uri))
    return resources !== 'dynamic'
  }
  for await (const skill of skills.list()) {
    others.delete(skill.uri)
    if (isFixed(skill)) yield skill
  }
  for (const uri of others) {
    const skill = await skills.get(uri).catch((error: unknown) => complain(messageOf(error)))
    if (skill && isFixed(skill)) yield skill
  }
}

function sourceOf(client: Client, list: Exclude<ListName, 'skills'>): List<object> {
  switch (list) {
    case 'tools':
      return client.tools()
    case 'prompts':
      return client.prompts()
    case 'resources':
      return client.resources()
    case 'templates':
      return client.resourceTemplates()
  }
}

const KEYS = { tools: 'name', prompts: 'name', resources: 'uri', templates: 'uriTemplate', skills: 'uri' } as const satisfies Record<
  ListName,
  string
>

function keyOf(list: ListName, item: object): string | undefined {
  const key: unknown = (item as Record<string, unknown>)[KEYS[list]]
  return typeof key === 'string' && key !== '' ? key : undefined
}

/** An offering that is too large stays too large, so it is not read again. */
const isPassing = (error: Error): boolean => !(error instanceof McpError && error.code === 'ERR_LIMIT')

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value))

const sizeOf = (items: readonly unknown[]): Size => ({
  items: items.length,
  bytes: items.reduce<number>((sum, item) => sum + bytesOf(item), 0),
})

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : asText(error))
