/** The connection to Redis: waits briefly while it is interrupted, then fails at once, and connects again in the background. */

import { notices } from '../base/notices.ts'
import { McpError } from '../protocol/errors.ts'
import { CommandListeners } from '../store/command-listeners.ts'
import { markNotRun } from '../store/faults.ts'
import {
  type ClientOptions,
  causeOf,
  createClient,
  errorCode,
  isOfDamage,
  isReply,
  type RedisClient,
  type Reply,
} from './client-library.ts'
import { warnOfEviction } from './eviction-policy.ts'
import type { Script } from './scripts/script.ts'
import type { RedisTarget } from './target.ts'

export type Argument = string | number | Buffer

/** Commands that wait while the connection is interrupted. */
const MAX_WAITING = 1000

/** A timer that is so late shows that the process had to wait for the processor. Its commands get this time more. */
const LATE_MS = 100

/** Replies that mean that Redis does not work at the moment. */
const DOWN = /^(LOADING|CLUSTERDOWN|MASTERDOWN|TRYAGAIN|BUSY|UNKILLABLE)$/

/** Replies to a script before its first write. */
const NOT_RUN = /^(OOM|READONLY|MISCONF|NOAUTH|NOREPLICAS)$/

/** The user may not run the command at all, whatever its keys are and whichever script it runs. */
const FORBIDDEN = /^NOPERM (?!.*script).* to run the '/

/** The user may not use the keys. */
const FORBIDDEN_KEY = /(^NOPERM |^ERR The user executing the script ).*\bkeys?\b/

/** A refusal counts for so long, because a command of its kind may be rare. One that succeeds ends it at once. */
const REFUSAL_MS = 60_000

/** See `isOfDamage`. */
export const isDamaged = (error: unknown): boolean => error instanceof McpError && error.code === 'ERR_STORE'

/** Redis may fail and work again many times in a short while. The log says that it is back at most once in this time. */
const BACK_MS = 10_000

/** Redis does not know a script by its digest. */
const isForgotten = (error: Error): boolean => isReply(error) && errorCode(error) === 'NOSCRIPT'

export class Connection {
  readonly target: RedisTarget
  readonly timeoutMs: number
  readonly commands = new CommandListeners()
  readonly #options: ClientOptions
  /** The start of every key. */
  readonly #prefix: string
  #client: Promise<RedisClient> | undefined
  #isClosed = false
  /** When the connection was lost, or when the first one was begun. Undefined while there is one. */
  #downSince: number | undefined = performance.now()
  #fault: string | undefined
  /** Why the last command failed. A command that succeeds clears it. */
  #failure: string | undefined
  /** What Redis refused, by the kind of the command. */
  readonly #refused = new Map<string, { reason: string; until: number }>()
  #isPolicyKnown = false
  /** When a command failed first. Undefined while Redis can be used. */
  #awaySince: number | undefined
  /** When the log said last that Redis can be used again. */
  #saidBackAt = Number.NEGATIVE_INFINITY
  /** The digests of scripts that this connection has sent. Redis may have forgotten them at the next one. */
  readonly #loaded = new Set<string>()
  readonly #waiting = new Set<() => void>()
  /** When the last reply came. */
  #heardAt = 0

  constructor(target: RedisTarget, options: ClientOptions, prefix: string) {
    this.target = target
    this.#prefix = prefix
    this.timeoutMs = options.timeoutMs
    this.#options = options
  }

  /** Why Redis cannot be used; undefined while it can, or before it was used. */
  health(): string | undefined {
    if (this.#isClosed) return 'The store is closed'
    if (!this.#client) return undefined
    if (this.#downSince !== undefined) return `No connection to Redis${this.#fault === undefined ? '' : `: ${this.#fault}`}`
    return this.#failure ?? this.#refusal()
  }

  /** Runs a script. The text is sent once for each connection: then Redis knows it by its digest. Scripts run in the order of their calls. */
  run(script: Script, keys: readonly string[], args: readonly Argument[]): Promise<Reply> {
    return this.commands.measure(script.name, async () => {
      if (!this.#loaded.has(script.sha)) {
        this.#loaded.add(script.sha)
        return this.#send(script.name, 'EVAL', [script.lua, keys.length, ...keys, ...args]).catch((error: McpError) => {
          if (!isReply(error.cause)) this.#loaded.delete(script.sha)
          throw error
        })
      }
      try {
        return await this.#send(script.name, 'EVALSHA', [script.sha, keys.length, ...keys, ...args])
      } catch (error) {
        // Another node of a cluster, or a first call that did not arrive.
        if (!isForgotten(error as Error)) throw error
        return await this.#send(script.name, 'EVAL', [script.lua, keys.length, ...keys, ...args])
      }
    })
  }

  command(name: string, ...args: Argument[]): Promise<Reply> {
    return this.commands.measure(name, () => this.#send(name, name, args))
  }

  async #send(kind: string, name: string, args: readonly Argument[]): Promise<Reply> {
    const client = await this.#ready()
    try {
      const reply = await this.#inTime(client, client.callBuffer(name, ...args) as Promise<Reply>)
      this.#heardAt = performance.now()
      this.#failure = undefined
      this.#refused.delete(kind)
      this.#refused.delete(name)
      if (this.#awaySince !== undefined) this.#reportBack(this.#awaySince)
      return reply
    } catch (error) {
      if (isForgotten(error as Error)) throw error
      throw this.#failed(FORBIDDEN.test((error as Error).message) ? name : kind, error as Error)
    }
  }

  /** Says what became of a command on another connection. So only what Redis refuses counts here. */
  note(kind: string, error?: Error): void {
    if (!error) this.#refused.delete(kind)
    else if (isReply(error)) this.#refusedAs(kind, error)
  }

  /** Undefined if it is no refusal. Redis may refuse some commands, such as those that write, while others succeed. */
  #refusedAs(kind: string, reply: Error): string | undefined {
    if (DOWN.test(errorCode(reply)) || isOfDamage(reply)) return undefined
    const keys = FORBIDDEN_KEY.test(reply.message) ? ` (all keys begin with "${this.#prefix}")` : ''
    const reason = `Redis refused a command: ${reply.message}${keys}`
    this.#refused.set(kind, { reason, until: performance.now() + REFUSAL_MS })
    return reason
  }

  #refusal(): string | undefined {
    const now = performance.now()
    for (const { reason, until } of this.#refused.values()) if (now < until) return reason
    return undefined
  }

  /** A connection of its own for commands that block. The caller closes it. */
  async blocking(blockMs: number): Promise<RedisClient> {
    const client = await createClient(this.target, this.#options, blockMs + this.timeoutMs)
    client.on('error', () => {})
    await client.connect().catch(() => {})
    return client
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#release()
    const client = await this.#client?.catch(() => undefined)
    client?.disconnect()
  }

  async #ready(): Promise<RedisClient> {
    if (this.#isClosed) throw new McpError('ERR_CLOSED', 'The store is closed')
    this.#client ??= this.#connect()
    const client = await this.#client
    if (client.status === 'ready') return client
    this.#downSince ??= performance.now()
    const patience = this.#downSince + this.timeoutMs - performance.now()
    if (patience <= 0 || this.#waiting.size >= MAX_WAITING) throw this.#down()
    await this.#untilReady(patience)
    if (this.#isClosed) throw new McpError('ERR_CLOSED', 'The store is closed')
    if (client.status !== 'ready') throw this.#down()
    return client
  }

  async #connect(): Promise<RedisClient> {
    try {
      const client = await createClient(this.target, this.#options)
      // Loading the client library does not count as waiting.
      this.#downSince = performance.now()
      let isRefused = false
      client.on('ready', () => {
        this.#downSince = undefined
        this.#fault = undefined
        this.#refused.clear()
        isRefused = false
        this.#release()
        if (!this.#isPolicyKnown) void warnOfEviction(client)
        this.#isPolicyKnown = true
      })
      const onLost = (): void => {
        this.#downSince ??= performance.now()
        this.#loaded.clear()
      }
      client.on('close', onLost)
      client.on('end', onLost)
      client.on('error', (fault) => {
        const error = causeOf(fault)
        // What Redis said explains the faults of the client library that follow. Those of the network have a code.
        if (isRefused && !isReply(error) && !('code' in error)) return
        isRefused = isReply(error)
        this.#fault =
          this.target.isTls && error.message.includes('ETIMEDOUT') ? `${error.message} (does the port speak TLS?)` : error.message
      })
      // Not awaited: it goes on trying, and `ready` tells.
      client.connect().catch((error: Error) => {
        this.#fault ??= error.message
      })
      return client
    } catch (error) {
      this.#client = undefined
      throw error
    }
  }

  #untilReady(patience: number): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer)
        this.#waiting.delete(done)
        resolve()
      }
      const timer = setTimeout(done, patience)
      this.#waiting.add(done)
    })
  }

  #release(): void {
    for (const done of [...this.#waiting]) done()
  }

  #inTime(client: RedisClient, reply: Promise<Reply>): Promise<Reply> {
    return new Promise((resolve, reject) => {
      let isOver = false
      const tooLate = (): void => {
        if (isOver) return
        reject(new Error(`No reply within ${this.timeoutMs} ms`))
        // A connection that hangs is replaced. In a cluster the client library does that.
        if (performance.now() - this.#heardAt >= this.timeoutMs) client.stream?.destroy()
      }
      // Timers come before replies. A process that had to wait for the processor reads the replies that are there first.
      const look = (): void => {
        if (performance.now() - dueAt < LATE_MS) return tooLate()
        setTimeout(tooLate, LATE_MS)
      }
      const dueAt = performance.now() + this.timeoutMs
      // The client library tries a cluster several times, so this is the only limit in all.
      const timer = setTimeout(() => setImmediate(look), this.timeoutMs)
      reply.then(resolve, reject).finally(() => {
        isOver = true
        clearTimeout(timer)
      })
    })
  }

  #failed(kind: string, cause: Error & { command?: unknown }): McpError {
    // The client library adds the command with its arguments, which are values of users. Errors are logged.
    delete cause.command
    if (isReply(cause)) {
      const refusal = this.#refusedAs(kind, cause)
      if (refusal !== undefined) {
        this.#awaySince ??= performance.now()
        const error = new McpError('ERR_STORE_DOWN', refusal, { cause })
        return NOT_RUN.test(errorCode(cause)) ? markNotRun(error) : error
      }
      if (isOfDamage(cause)) return new McpError('ERR_STORE', `Redis refused a command: ${cause.message}`, { cause })
    }
    this.#awaySince ??= performance.now()
    // The text of the client library is about an option that it has and Portico does not.
    const isLost = cause.name === 'MaxRetriesPerRequestError'
    this.#failure = isLost ? 'The connection to Redis was lost' : `Redis does not answer: ${cause.message}`
    const error = new McpError('ERR_STORE_DOWN', this.#failure, { cause })
    return isReply(cause) ? markNotRun(error) : error
  }

  /** Redis may take some commands and refuse others: each kind that was refused must have succeeded since. */
  #reportBack(awaySince: number): void {
    if (this.health() !== undefined || this.#refused.size > 0) return
    this.#awaySince = undefined
    const now = performance.now()
    if (now - this.#saidBackAt < BACK_MS) return
    this.#saidBackAt = now
    notices.write('info', `portico: Redis can be used again after ${Math.ceil((now - awaySince) / 1000)} s`)
  }

  #down(): McpError {
    this.#awaySince ??= this.#downSince ?? performance.now()
    return markNotRun(new McpError('ERR_STORE_DOWN', this.health() ?? 'No connection to Redis'))
  }
}
