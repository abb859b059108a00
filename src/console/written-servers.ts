/** Starts servers that the person writes again when their files change. */

import { homedir } from 'node:os'
import { basename, dirname, parse, sep } from 'node:path'
import { type SourceWatch, watchSources } from '../files/watch-sources.ts'
import type { Host } from '../host/index.ts'
import { isBeingWritten } from './views.ts'

/** Programs in these languages load further files beside the one that the command names. */
const CODE = /\.(?:[cm]?[jt]sx?|py|rb|php|lua|ex|exs)$/i

export interface WrittenServersOptions {
  host: Pick<Host, 'specs' | 'filesOf' | 'restart' | 'policy'>
  onWarning(server: string, text: string): void
  onError(error: unknown): void
}

interface Watched {
  /** The files of the command, joined. */
  files: string
  watches: readonly SourceWatch[]
}

export class WrittenServers {
  readonly #options: WrittenServersOptions
  readonly #watched = new Map<string, Watched>()
  /** Servers that start again now, and whether a file changed meanwhile. */
  readonly #restarting = new Map<string, boolean>()
  #syncing: Promise<void> = Promise.resolve()
  #isClosed = false

  constructor(options: WrittenServersOptions) {
    this.#options = options
  }

  /** Watches the files of the servers whose switch is on, and of no others. Call it after each change. */
  sync(): Promise<void> {
    this.#syncing = this.#syncing.then(() => this.#sync()).catch((error: unknown) => this.#options.onError(error))
    return this.#syncing
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#syncing
    for (const id of [...this.#watched.keys()]) this.#end(id)
  }

  async #sync(): Promise<void> {
    const { host } = this.#options
    const specs = this.#isClosed ? [] : host.specs()
    const written = specs.filter(({ id, isDisabled, transport }) => transport.type === 'stdio' && !isDisabled && isBeingWritten(host, id))
    for (const id of [...this.#watched.keys()]) if (!written.some((spec) => spec.id === id)) this.#end(id)
    for (const { id } of written) await this.#watch(id, host.filesOf(id))
  }

  async #watch(id: string, files: readonly string[]): Promise<void> {
    const key = files.join('\n')
    if (files.length === 0 || this.#watched.get(id)?.files === key) return
    this.#end(id)
    const { onWarning } = this.#options
    const watches: SourceWatch[] = []
    for (const place of placesOf(files))
      watches.push(
        await watchSources(place.folder, { ...place, onChange: () => void this.#restart(id), onWarning: (text) => onWarning(id, text) }),
      )
    this.#watched.set(id, { files: key, watches })
  }

  #end(id: string): void {
    for (const watch of this.#watched.get(id)?.watches ?? []) watch.close()
    this.#watched.delete(id)
  }

  /** One restart at a time. Changes during it cause one more. */
  async #restart(id: string): Promise<void> {
    const { host } = this.#options
    // The person may have removed the rule from the file.
    if (!this.#watched.has(id) || !isBeingWritten(host, id)) return
    if (this.#restarting.has(id)) return void this.#restarting.set(id, true)
    try {
      do {
        this.#restarting.set(id, false)
        await host.restart(id)
      } while (this.#restarting.get(id) && this.#watched.has(id))
    } catch (error) {
      this.#options.onError(error)
    } finally {
      this.#restarting.delete(id)
    }
  }
}

interface Place {
  folder: string
  isDeep: boolean
  isSource(name: string): boolean
}

/** The folders to watch: for code with everything below, for other files only the file. */
function placesOf(files: readonly string[]): Place[] {
  const code = new Set(files.filter((file) => CODE.test(file) && !isInstalled(file)).map(dirname))
  const deep = [...code].filter((folder) => isOwn(folder) && ![...code].some((other) => other !== folder && folder.startsWith(other + sep)))
  const others = files.filter((file) => !deep.some((folder) => file.startsWith(folder + sep)))
  const names = new Map<string, Set<string>>()
  for (const file of others) names.set(dirname(file), (names.get(dirname(file)) ?? new Set()).add(basename(file)))
  return [
    ...deep.map((folder) => ({ folder, isDeep: true, isSource: (name: string) => CODE.test(name) })),
    ...[...names].map(([folder, wanted]) => ({ folder, isDeep: false, isSource: (name: string) => wanted.has(name) })),
  ]
}

const isInstalled = (file: string): boolean => file.split(sep).includes('node_modules')

/** Below the home directory and the root there is too much that is not part of a server. */
const isOwn = (folder: string): boolean => folder !== homedir() && folder !== parse(folder).root
