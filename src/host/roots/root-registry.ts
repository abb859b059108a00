/**
 * The directories that each server was given, none unless somebody gave it one. They are watched: one that is deleted,
 * moved or replaced by a link is no longer told to the server, and is again when it is back.
 */

import { type FSWatcher, watch } from 'node:fs'
import { type Clock, systemClock, type Timer } from '../../base/clock.ts'
import { McpError } from '../../protocol/errors.ts'
import type { Root } from '../../protocol/model/roots.ts'
import { withDefaults } from '../../protocol/with-defaults.ts'
import { faultOf, type ValidRoot } from './valid-root.ts'

export interface RootLimits {
  /** Roots of one server. */
  maxRoots: number
  /** How often each is looked at; what the system tells is looked into sooner. */
  pollMs: number
  /** How long events of the system are gathered before they are looked into. */
  settleMs: number
}

export const DEFAULT_ROOT_LIMITS: RootLimits = { maxRoots: 100, pollMs: 5_000, settleMs: 50 }

export interface RootRegistryOptions {
  /** The roots of a server are others now. */
  onChange(server: string, roots: readonly Root[]): void
  /** One can no longer be given to the server, and why. */
  onWarning?(message: string): void
  limits?: Partial<RootLimits>
  clock?: Clock
}

export interface GrantedRoot extends ValidRoot {
  /** Why the server is not told of it now; undefined when it is. */
  fault: string | undefined
}

export class RootRegistry {
  readonly #options: RootRegistryOptions
  readonly #limits: RootLimits
  readonly #clock: Clock
  readonly #servers = new Map<string, Map<string, GrantedRoot>>()
  /** One for each path, however many servers have it. */
  readonly #watchers = new Map<string, FSWatcher | undefined>()
  #soon: Timer | undefined
  #poll: Timer | undefined
  #checking: Promise<void> | undefined
  #isWanted = false
  #isClosed = false

  constructor(options: RootRegistryOptions) {
    this.#options = options
    this.#limits = withDefaults(DEFAULT_ROOT_LIMITS, options.limits)
    this.#clock = options.clock ?? systemClock
  }

  /** What the server may be told now: what was granted and is there. */
  of(server: string): Root[] {
    return this.granted(server)
      .filter(({ fault }) => fault === undefined)
      .map(({ uri, name }) => ({ uri, name }))
  }

  /** All that was granted, with what is wrong with it. */
  granted(server: string): GrantedRoot[] {
    return [...(this.#servers.get(server)?.values() ?? [])]
  }

  /** Gives a server a directory that `validRoot` has looked at. */
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
    // It may have gone while the person was asked.
    this.#checkSoon()
  }

  /** Takes one back; false when the server does not have it. */
  revoke(server: string, uri: string): boolean {
    const roots = this.#servers.get(server)
    if (!roots?.delete(uri)) return false
    if (roots.size === 0) this.#servers.delete(server)
    this.#unwatchUnused()
    this.#tell(server)
    return true
  }

  /** Takes all of a server back, without a word to it: it is gone. */
  forget(server: string): void {
    if (this.#servers.delete(server)) this.#unwatchUnused()
  }

  /** Looks at all of them now. What is asked for meanwhile is done afterwards: what was looked at before may have changed. */
  check(): Promise<void> {
    this.#isWanted = true
    this.#checking ??= this.#checkWhileWanted().finally(() => {
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

  async #checkWhileWanted(): Promise<void> {
    while (this.#isWanted) {
      this.#isWanted = false
      await this.#checkAll()
    }
  }

  async #checkAll(): Promise<void> {
    const paths = new Set([...this.#servers.values()].flatMap((roots) => [...roots.values()].map(({ path }) => path)))
    const faults = new Map<string, string | undefined>()
    for (const path of paths) faults.set(path, await faultOf(path))
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
      // What watched the directory that was there does not see the one that took its place.
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
      // There are systems, and numbers of directories, for which it cannot be done. Then looking now and then has to do.
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

  /** Events tell of the directory itself, not of one above it that is moved. */
  #pollLater(): void {
    if (this.#isClosed || this.#servers.size === 0) return
    this.#poll ??= this.#clock.after(this.#limits.pollMs, () => {
      this.#poll = undefined
      void this.check().then(() => this.#pollLater())
    })
  }
}
