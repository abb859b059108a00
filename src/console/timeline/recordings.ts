/** Recordings of the messages of servers: transcripts in the folder of the host, in the format of `portico record`. */

import { randomBytes } from 'node:crypto'
import { appendFile, open, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { readAtMost } from '../../files/plain-file.ts'
import { privateFolder, removePrivate } from '../../files/private-file.ts'
import type { HostTraffic } from '../../host/index.ts'
import { headingLine, messageLine, parseTranscript, type Transcript } from '../../testing/index.ts'
import type { RecordingView } from '../api.ts'
import { conflict, invalid, notFound, tooMany } from '../errors.ts'
import type { ConsoleLimits } from '../limits.ts'

type RecordingLimits = Pick<ConsoleLimits, 'maxRecordings' | 'maxRecordingBytes'>

interface Running {
  view: RecordingView
  file: string
  /** Writes happen one after the other. */
  writing: Promise<void>
  started: number
}

const ID = /^[a-z0-9]{12}$/
const END = '.jsonl'
const MAX_TITLE = 200

export interface RecordingsOptions {
  folder: string
  limits: RecordingLimits
  onChange(ids: readonly string[]): void
  onError(error: unknown): void
}

export class Recordings {
  readonly #options: RecordingsOptions
  /** By id. One of each server at most. */
  readonly #running = new Map<string, Running>()
  /** What was read of stored files, by id. */
  readonly #views = new Map<string, { mtimeMs: number; view: RecordingView }>()

  constructor(options: RecordingsOptions) {
    this.#options = options
  }

  /** The newest first. */
  async list(): Promise<RecordingView[]> {
    const ids = (await this.#ids()).filter((id) => !this.#running.has(id))
    const stored = await Promise.all(ids.map((id) => this.#storedView(id).catch(unlessGone)))
    return [...this.running(), ...stored.flat()].sort((one, other) => other.startedAt - one.startedAt)
  }

  /** Those that run. Reads no file. */
  running(): RecordingView[] {
    return [...this.#running.values()].map(({ view }) => ({ ...view }))
  }

  /** @throws ApiError 409 if a server is recorded already, 429 if there are too many recordings */
  async start(servers: readonly string[], title: string | undefined): Promise<RecordingView[]> {
    for (const server of servers)
      if ([...this.#running.values()].some(({ view }) => view.target === server))
        throw conflict(`The server ${JSON.stringify(server)} is recorded already`)
    await this.#checkRoom(servers.length)
    const started: RecordingView[] = []
    for (const server of servers) started.push(await this.#begin(server, title))
    this.#changed(started)
    return started
  }

  /** Takes a message of a recorded server. */
  take(traffic: HostTraffic): void {
    if (traffic.kind !== 'message' || this.#running.size === 0) return
    for (const running of this.#running.values()) if (running.view.target === traffic.server) this.#write(running, traffic)
  }

  /** @throws ApiError 404, or 409 if it is not running */
  async stop(id: string): Promise<RecordingView> {
    const running = this.#running.get(id)
    if (!running) {
      await this.#fileOf(id)
      throw conflict('This recording has ended already')
    }
    const state = await this.#end(running)
    const view = { ...running.view, state }
    this.#changed([view])
    return view
  }

  /** Stores the text of a recording. @throws ApiError 400 or 429 */
  async add(text: string, title: string | undefined): Promise<RecordingView> {
    const { maxRecordingBytes } = this.#options.limits
    if (Buffer.byteLength(text) > maxRecordingBytes) throw invalid(`text: expected at most ${maxRecordingBytes} bytes (maxRecordingBytes)`)
    const { heading, messages } = parseTranscript(text, 'text')
    await this.#checkRoom(1)
    const id = newId()
    await privateFolder(this.#options.folder)
    const lines = [`${JSON.stringify({ ...heading, ...titled(title) })}\n`, ...messages.map(messageLine)]
    await this.#create(this.#path(id), lines.join(''))
    const view = await this.#storedView(id)
    this.#changed([view])
    return view
  }

  /** @throws ApiError 404 */
  async view(id: string): Promise<RecordingView> {
    const running = this.#running.get(id)
    if (running) return { ...running.view }
    await this.#fileOf(id)
    return this.#storedView(id)
  }

  /** @throws ApiError 404 */
  async read(id: string): Promise<Transcript> {
    await this.#running.get(id)?.writing
    const bytes = await readAtMost(await this.#fileOf(id), this.#options.limits.maxRecordingBytes + MAX_HEADING_BYTES)
    return parseTranscript(bytes.toString('utf8'), `Recording ${id}`)
  }

  /** The text of the file. @throws ApiError 404 */
  async text(id: string): Promise<string> {
    const { heading, messages } = await this.read(id)
    return [`${JSON.stringify(heading)}\n`, ...messages.map(messageLine)].join('')
  }

  /** @throws ApiError 404 */
  async remove(id: string): Promise<void> {
    const running = this.#running.get(id)
    this.#running.delete(id)
    await running?.writing
    await removePrivate(await this.#fileOf(id))
    this.#views.delete(id)
    this.#options.onChange([id])
  }

  /** Ends all recordings. */
  async close(): Promise<void> {
    await Promise.all([...this.#running.values()].map((running) => this.#end(running)))
  }

  /** A server that was silent leaves no file: nothing could be sent again or compared. */
  async #end(running: Running): Promise<'stored' | 'empty'> {
    this.#running.delete(running.view.id)
    await running.writing
    if (running.view.messages > 0 || running.view.isFull) return 'stored'
    await removePrivate(running.file)
    return 'empty'
  }

  async #begin(server: string, title: string | undefined): Promise<RecordingView> {
    const id = newId()
    const at = new Date()
    const file = this.#path(id)
    const line = `${JSON.stringify({ ...(JSON.parse(headingLine(server, at)) as object), ...titled(title) })}\n`
    await privateFolder(this.#options.folder)
    await this.#create(file, line)
    const view: RecordingView = {
      id,
      title: titled(title).title ?? defaultTitle(server, at.getTime()),
      target: server,
      startedAt: at.getTime(),
      state: 'recording',
      messages: 0,
      bytes: Buffer.byteLength(line),
    }
    this.#running.set(id, { view, file, writing: Promise.resolve(), started: at.getTime() })
    return { ...view }
  }

  #write(running: Running, { from, message, at }: Extract<HostTraffic, { kind: 'message' }>): void {
    const { view, file, started } = running
    if (view.isFull) return
    const line = messageLine({ from: from === 'host' ? 'client' : 'server', message, atMs: Math.max(0, at - started) })
    const bytes = Buffer.byteLength(line)
    if (view.bytes + bytes > this.#options.limits.maxRecordingBytes) {
      view.isFull = true
      return this.#changed([view])
    }
    view.bytes += bytes
    view.messages++
    running.writing = running.writing.then(() => appendFile(file, line)).catch(this.#options.onError)
  }

  async #create(file: string, text: string): Promise<void> {
    const handle = await open(file, 'wx', 0o600)
    try {
      await handle.writeFile(text)
    } finally {
      await handle.close()
    }
  }

  async #checkRoom(more: number): Promise<void> {
    const { maxRecordings } = this.#options.limits
    if ((await this.#ids()).length + more > maxRecordings)
      throw tooMany(`There is room for ${maxRecordings} recordings (maxRecordings): remove one first`)
  }

  async #ids(): Promise<string[]> {
    const names = await readdir(this.#options.folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return []
      throw error
    })
    return names.filter((name) => name.endsWith(END) && ID.test(name.slice(0, -END.length))).map((name) => name.slice(0, -END.length))
  }

  #path(id: string): string {
    return join(this.#options.folder, `${id}${END}`)
  }

  async #fileOf(id: string): Promise<string> {
    if (!(await this.#ids()).includes(id)) throw notFound(`No recording has the id ${JSON.stringify(id)}`)
    return this.#path(id)
  }

  /** Reads a file again only after it changed. A file that cannot be read is shown too, so that the person can remove it. */
  async #storedView(id: string): Promise<RecordingView> {
    const { size, mtimeMs } = await stat(this.#path(id))
    const known = this.#views.get(id)
    if (known?.mtimeMs === mtimeMs && known.view.bytes === size) return { ...known.view }
    const view = await this.#readView(id, size, mtimeMs)
    this.#views.set(id, { mtimeMs, view })
    return { ...view }
  }

  async #readView(id: string, bytes: number, mtimeMs: number): Promise<RecordingView> {
    try {
      const { heading, messages } = await this.read(id)
      const startedAt = Date.parse(heading.at) || 0
      const { title } = heading as { title?: unknown }
      return {
        id,
        title: typeof title === 'string' ? title.slice(0, MAX_TITLE) : defaultTitle(heading.target, startedAt),
        target: heading.target,
        startedAt,
        state: 'stored',
        messages: messages.length,
        bytes,
      }
    } catch (error) {
      this.#options.onError(error)
      return { id, title: `${id}${END}`, target: '', startedAt: Math.floor(mtimeMs), state: 'damaged', messages: 0, bytes }
    }
  }

  #changed(views: readonly RecordingView[]): void {
    this.#options.onChange(views.map(({ id }) => id))
  }
}

/** A file can be removed while the list is made. */
function unlessGone(error: NodeJS.ErrnoException): never[] {
  if (error.code === 'ENOENT') return []
  throw error
}

const MAX_HEADING_BYTES = 4096

const newId = (): string => randomBytes(6).toString('hex')

const titled = (title: string | undefined): { title?: string } =>
  title === undefined || title.trim() === '' ? {} : { title: title.trim().slice(0, MAX_TITLE) }

/** Short, and different for two recordings of a day: `notes 10:30:05`. */
const defaultTitle = (target: string, at: number): string => `${target} ${new Date(at).toTimeString().slice(0, 8)}`
