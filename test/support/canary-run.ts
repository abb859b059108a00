/**
 * Looks for secrets where none may be. Secrets are planted, or overheard on their way over HTTP, where they belong; then
 * everything that came out of the program elsewhere is searched for them: what it wrote, threw, warned about and kept.
 *
 *   const run = new CanaryRun()
 *   const secret = run.plant('client secret')
 *   await run.hear('login', login(secret))      // a value, an error, or a promise of either
 *   run.hearFiles(folder)
 *   expect(run.end().hits).toEqual([])
 */

import { randomBytes } from 'node:crypto'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { vi } from 'vitest'

export class CanaryRun {
  /** By value, what it is. */
  readonly secrets = new Map<string, string>()
  readonly #heard: { where: string; text: string }[] = []
  readonly #spies
  readonly #onWarning = (warning: Error): void => void this.#note('warning of the process', inspect(warning))
  readonly #onHeaders = (message: unknown): void => this.#overhear((message as { headers: string }).headers)
  readonly #onAnswer = (message: unknown): void => {
    const { headers } = (message as { response: { headers: Buffer[] } }).response
    const pairs = headers.map(String)
    for (let at = 0; at < pairs.length; at += 2) this.#overhear(`${pairs[at]}: ${pairs[at + 1]}\r\n`)
  }

  constructor() {
    this.#spies = [
      vi.spyOn(process.stdout, 'write').mockImplementation(this.#write('standard output')),
      vi.spyOn(process.stderr, 'write').mockImplementation(this.#write('standard error')),
      // The test runner has a console of its own.
      ...(['log', 'info', 'warn', 'error', 'debug', 'trace'] as const).map((level) =>
        vi.spyOn(console, level).mockImplementation((...said) => this.#note(`console.${level}`, said.map(forms).join(' '))),
      ),
    ]
    process.on('warning', this.#onWarning)
    subscribe('undici:client:sendHeaders', this.#onHeaders)
    subscribe('undici:request:headers', this.#onAnswer)
  }

  /** A new secret, or one that is there already. */
  plant(what: string, value = `canary-${randomBytes(18).toString('base64url')}`): string {
    // What is short is found by chance.
    if (value.length >= 12) this.secrets.set(value, what)
    return value
  }

  /** Keeps what became of it in every form in which it could be shown, and gives it back if it did not fail. */
  async hear<T>(where: string, what: T | Promise<T>): Promise<T | undefined> {
    try {
      const value = await what
      this.#note(where, forms(value))
      return value
    } catch (error) {
      this.#note(`${where}, failing`, forms(error))
      return undefined
    }
  }

  hearFiles(folder: string): void {
    for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
      const file = join(folder, name)
      if (statSync(file).isFile()) this.#note(`the file ${name}`, readFileSync(file, 'latin1'))
    }
  }

  /** Stops listening; every secret that was found where it should not be. */
  end(): { hits: string[]; heard: number; kinds: Set<string> } {
    for (const spy of this.#spies) spy.mockRestore()
    process.off('warning', this.#onWarning)
    unsubscribe('undici:client:sendHeaders', this.#onHeaders)
    unsubscribe('undici:request:headers', this.#onAnswer)
    const hits: string[] = []
    for (const [secret, what] of this.secrets) {
      const spellings = [secret, encodeURIComponent(secret), btoa(secret).replace(/=+$/, ''), Buffer.from(secret).toString('base64url')]
      for (const { where, text } of this.#heard) if (spellings.some((each) => text.includes(each))) hits.push(`${what} in ${where}`)
    }
    return { hits: [...new Set(hits)], heard: this.#heard.length, kinds: new Set(this.secrets.values()) }
  }

  #write(where: string): () => boolean {
    return (...[chunk]: unknown[]) => {
      this.#note(where, String(chunk))
      return true
    }
  }

  #note(where: string, text: string): void {
    this.#heard.push({ where, text })
  }

  #overhear(head: string): void {
    for (const [, name = '', value = ''] of head.matchAll(/^(authorization|dpop|mcp-session-id|x-api-key|dpop-nonce): *(.+?)\r?$/gim))
      this.plant(`${name.toLowerCase()} on the way`, value.replace(/^(Bearer|DPoP|Basic) /, ''))
  }
}

function forms(value: unknown): string {
  const all = [inspect(value, { depth: 20, showHidden: true, maxStringLength: null }), String(value)]
  for (let error = value; error instanceof Error; error = error.cause) all.push(String(error.stack), JSON.stringify(error) ?? '')
  return all.join('\n')
}
