/** Images and audio from a server: shown inline if the terminal can, saved to a file otherwise. */

import { mkdir, mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { McpError } from '../../client/index.ts'
import type { Io } from '../io.ts'

export interface MediaOptions {
  /** Where files are saved. Default: a new temporary folder. */
  folder?: string | undefined
  maxBytes?: number
}

const DEFAULT_MAX_BYTES = 64 * 1024 * 1024
const MAX_INLINE_BYTES = 4 * 1024 * 1024
const KITTY_CHUNK = 4096

/** By media type only: a name from a server never becomes part of a path. */
const EXTENSIONS: ReadonlyMap<string, string> = new Map([
  ['image/png', 'png'],
  ['image/jpeg', 'jpg'],
  ['image/gif', 'gif'],
  ['image/webp', 'webp'],
  ['image/svg+xml', 'svg'],
  ['audio/wav', 'wav'],
  ['audio/x-wav', 'wav'],
  ['audio/mpeg', 'mp3'],
  ['audio/ogg', 'ogg'],
  ['audio/flac', 'flac'],
  ['application/pdf', 'pdf'],
  ['application/json', 'json'],
  ['text/plain', 'txt'],
  ['text/markdown', 'md'],
  ['text/html', 'html'],
])

export class MediaFolder {
  readonly #io: Io
  readonly #options: MediaOptions
  #folder: Promise<string> | undefined
  #count = 0

  constructor(io: Io, options: MediaOptions = {}) {
    this.#io = io
    this.#options = options
  }

  /** Resolves with the path of a new file. */
  async save(bytes: Uint8Array, mimeType: string | undefined, stem: string): Promise<string> {
    const { maxBytes = DEFAULT_MAX_BYTES } = this.#options
    if (bytes.length > maxBytes)
      throw new McpError('ERR_LIMIT', `Content of ${bytes.length} bytes is too large to save; the limit is ${maxBytes} (maxBytes)`)
    this.#folder ??= this.#open()
    const folder = await this.#folder
    const extension = EXTENSIONS.get(baseType(mimeType)) ?? 'bin'
    const name = stem.replaceAll(/[^A-Za-z0-9_-]+/g, '-').slice(0, 40) || 'content'
    for (;;) {
      this.#count += 1
      const path = join(folder, `${name}-${this.#count}.${extension}`)
      try {
        await writeFile(path, bytes, { flag: 'wx', mode: 0o600 })
        return path
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
      }
    }
  }

  async #open(): Promise<string> {
    const { folder } = this.#options
    if (folder === undefined) return mkdtemp(join(tmpdir(), 'portico-'))
    const path = resolve(this.#io.cwd, folder)
    await mkdir(path, { recursive: true })
    return path
  }
}

/** Decodes base64; undefined for invalid input. */
export function bytesOf(base64: string): Uint8Array | undefined {
  return /^[A-Za-z0-9+/\s]*={0,2}\s*$/.test(base64) ? Buffer.from(base64, 'base64') : undefined
}

/** The escape sequence that draws an image, or undefined if the terminal cannot. Re-encoded here, so it contains nothing else. */
export function inlineImage({ env, stdout }: Pick<Io, 'env' | 'stdout'>, bytes: Uint8Array, mimeType: string): string | undefined {
  if (!stdout.isTTY || bytes.length > MAX_INLINE_BYTES || bytes.length === 0) return undefined
  // tmux and screen would print the sequence as text.
  if (env.TMUX !== undefined || env.STY !== undefined) return undefined
  const base64 = Buffer.from(bytes).toString('base64')
  const { TERM = '', TERM_PROGRAM = '', KITTY_WINDOW_ID } = env
  if (isPng(bytes, mimeType) && (KITTY_WINDOW_ID !== undefined || TERM === 'xterm-kitty' || TERM_PROGRAM === 'ghostty'))
    return kitty(base64)
  if (/^image\/(?:png|jpeg|gif)$/.test(baseType(mimeType)) && (TERM_PROGRAM === 'iTerm.app' || TERM_PROGRAM === 'WezTerm'))
    return `\u001b]1337;File=inline=1;size=${bytes.length}:${base64}\u0007`
  return undefined
}

function kitty(base64: string): string {
  let text = ''
  for (let at = 0; at < base64.length; at += KITTY_CHUNK) {
    const isLast = at + KITTY_CHUNK >= base64.length
    text += `\u001b_G${at === 0 ? 'f=100,a=T,' : ''}m=${isLast ? 0 : 1};${base64.slice(at, at + KITTY_CHUNK)}\u001b\\`
  }
  return text
}

const isPng = (bytes: Uint8Array, mimeType: string): boolean =>
  baseType(mimeType) === 'image/png' && [0x89, 0x50, 0x4e, 0x47].every((byte, i) => bytes[i] === byte)

const baseType = (mimeType: string | undefined): string => (mimeType ?? '').split(';')[0]?.trim().toLowerCase() ?? ''
