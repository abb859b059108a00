/**
 * The granted roots of each server. The folders are watched: a folder that is deleted, moved or replaced by a link is taken
 * from the list of the server until it is back.
 */

import { type FSWatcher, watch } from 'node:fs'
import { type Clock, systemClock, type Timer } from '../../base/clock.ts'
import { McpError } from '../../protocol/errors.ts'
import type { Root } from '../../protocol/model/roots.ts'
import { withDefaults } from '../../protocol/with-defaults.ts'
import { findRootFault, type ValidRoot } from './valid-root.ts'

export interface RootLimits {
  /** Roots of one server. */
  maxRoots: number
  /** How often each folder is checked. Events of the file system are handled sooner. */
  pollMs: number
  /** How long events of the file system are gathered before the folders are checked. */
  settleMs: number
}

export const DEFAULT_ROOT_LIMITS: RootLimits = { maxRoots: 100, pollMs: 5_000, settleMs: 50 }

export interface RootRegistryOptions {
  /** The roots of a server changed. */
  onChange(server: string, roots: readonly Root[]): void
  /** A granted folder is no longer usable. */
  onWarning?(message: string): void
  limits?: Partial<RootLimits> | undefined
  clock?: Clock
}

export interface GrantedRoot extends ValidRoot {
  /** Why the folder is not usable now. Undefined if it is. */
  fault: string | undefined
}

export class RootRegistry {
  readonly #options: RootRegistryOptions
  readonly #limits: RootLimits
  readonly #clock: Clock
  readonly #servers = new Map<string, Map<string, GrantedRoot>>()
  /** One watcher per path, shared by all servers. */
  readonly #watchers = new Map<string, FSWatcher | undefined>()
  #soon: Timer | undefined
  #poll: Timer | undefined
  #checking: Promise<void> | undefined
  #isCheckDue = false
  #isClosed = false

  constructor(options: RootRegistryOptions) {
    this.#options = options
    this.#limits = withDefaults(DEFAULT_ROOT_LIMITS, options.limits)
    this.#clock = options.clock ?? systemClock
  }

  /** The granted roots that are usable now. */
  of(server: string): Root[] {
    return this.granted(server)
      .filter(({ fault }) => fault === undefined)
      .map(({ uri, name }) => ({ uri, name }))
  }

  /** All granted roots, with their faults. */
  granted(server: string): GrantedRoot[] {
    return [...(this.#servers.get(server)?.values() ?? [])]
  }

  /** Grants a server a folder that `validRoot` has checked. */
  grant(server: string, root: ValidRoot): void {
    if (this.#isClosed) throw new McpError('ERR_CLOSED', 'The host is closed')
    const roots = this.#servers.get(server) ?? new Map<string, GrantedRoot>()
    const known = roots.get(root.uri)
    if (known && known.name === root.name) return
    const { maxRoots } = this.#limits
    if (!known && roots.size >= maxRoots) throw new McpError('ERR_LIMIT', `A server may have at most ${maxRoots} roots (maxRoots)`)
    roots.set(root.uri, { uri: root.uri, path: root.path, name: root.name, fault: known?.fault })
    this.#servers.set(server, roots)
    this.#watch(root.path)
    this.#tell(server)
    // The folder may have been removed while the person was asked.
    this.#checkSoon()
  }

  /** Returns false if the server does not have this root. */
  revoke(server: string, uri: string): boolean {
    const roots = this.#servers.get(server)
    if (!roots?.delete(uri)) return false
    if (roots.size === 0) this.#servers.delete(server)
    this.#unwatchUnused()
    this.#tell(server)
    return true
  }

  /** Removes all roots of a server that is gone, without a notification. */
  forget(server: string): void {
    if (this.#servers.delete(server)) this.#unwatchUnused()
  }

  /** Checks all folders now. A call during a check starts one more check after it. */
  check(): Promise<void> {
    this.#isCheckDue = true
    this.#checking ??= this.#checkWhileDue().finally(() => {
      this.#checking = undefined
    })
    return this.#checking
  }

  close(): void {
    this.#isClosed = true
    this.#servers.clear()
    this.#unwatchUnused()
    this.#soon?.cancel()
    this.#poll?.cancel()
  }

  async #checkWhileDue(): Promise<void> {
    while (this.#isCheckDue) {
      this.#isCheckDue = false
      await this.#checkAll()
    }
  }

  async #checkAll(): Promise<void> {
    const paths = new Set([...this.#servers.values()].flatMap((roots) => [...roots.values()].map(({ path }) => path)))
    const faults = new Map<string, string | undefined>()
    for (const path of paths) faults.set(path, await findRootFault(path))
    for (const [server, roots] of this.#servers) {
      let isChanged = false
      for (const root of roots.values()) {
        if (!faults.has(root.path)) continue
        const fault = faults.get(root.path)
        if ((root.fault === undefined) !== (fault === undefined)) {
          isChanged = true
          if (fault !== undefined) this.#options.onWarning?.(`${root.path} is no longer given to ${JSON.stringify(server)}: ${fault}`)
        }
        root.fault = fault
      }
      if (isChanged) this.#tell(server)
    }
    for (const [path, fault] of faults) {
      // The watcher of a replaced folder does not see the new one.
      if (fault !== undefined) this.#unwatch(path)
      else if (this.#isGranted(path)) this.#watch(path)
    }
  }

  #tell(server: string): void {
    if (!this.#isClosed) this.#options.onChange(server, this.of(server))
  }

  #watch(path: string): void {
    this.#pollLater()
    if (this.#watchers.get(path) || this.#isClosed) return
    try {
      const watcher = watch(path, { persistent: false }, (event) => {
        if (event === 'rename') this.#checkSoon()
      })
      watcher.on('error', () => {
        this.#unwatch(path)
        this.#checkSoon()
      })
      this.#watchers.set(path, watcher)
    } catch {
      // Some systems cannot watch folders, or only a few. There only the poll finds changes.
      this.#watchers.set(path, undefined)
    }
  }

  #unwatch(path: string): void {
    this.#watchers.get(path)?.close()
    this.#watchers.delete(path)
  }

  #unwatchUnused(): void {
    for (const path of [...this.#watchers.keys()]) if (!this.#isGranted(path)) this.#unwatch(path)
  }

  #isGranted(path: string): boolean {
    for (const roots of this.#servers.values()) for (const root of roots.values()) if (root.path === path) return true
    return false
  }

  #checkSoon(): void {
    if (this.#isClosed) return
    this.#soon ??= this.#clock.after(this.#limits.settleMs, () => {
      this.#soon = undefined
      void this.check()
    })
  }

  /** The poll finds changes that cause no event, such as a parent folder that is moved. */
  #pollLater(): void {
    if (this.#isClosed || this.#servers.size === 0) return
    this.#poll ??= this.#clock.after(this.#limits.pollMs, () => {
      this.#poll = undefined
      void this.check().then(() => this.#pollLater())
    })
  }
}
