/** The lines that were typed at the prompt, kept for the next run. */

import { isSecretName, redactText } from '../../base/text/redact.ts'
import type { FileFormat } from '../../files/file-format.ts'
import { type SharedJson, sharedJson } from '../../files/shared-json.ts'

const MAX_LINES = 500
const MAX_LINE_CHARS = 2000

/** The newest line first. */
const HISTORY_FORMAT: FileFormat = { version: 1, member: 'lines', upgrades: [(lines) => lines] }

/**
 * Answers to questions and forms are never part of it. Lines that look as if they contain a secret, and lines that begin with a space,
 * can be recalled until the shell ends but are not stored.
 */
export class ShellHistory {
  readonly #file: SharedJson<readonly string[]>
  readonly #onWarning: (text: string) => void
  #lines: readonly string[]
  #saving: Promise<unknown> = Promise.resolve()

  private constructor(file: SharedJson<readonly string[]>, lines: readonly string[], onWarning: (text: string) => void) {
    this.#file = file
    this.#lines = lines
    this.#onWarning = onWarning
  }

  /** A file that cannot be read is reported, left as it is, and not used. */
  static async open(file: string, onWarning: (text: string) => void): Promise<ShellHistory> {
    const shared = sharedJson<readonly string[]>(file, { empty: [], format: HISTORY_FORMAT, check: checkHistory })
    try {
      return new ShellHistory(shared, await shared.read(), onWarning)
    } catch (error) {
      onWarning(`The history is not used: ${(error as Error).message}`)
      return new ShellHistory({ ...shared, update: async () => [] }, [], onWarning)
    }
  }

  /** The newest first. */
  get lines(): readonly string[] {
    return this.#lines
  }

  add(line: string): void {
    const last = this.#lines[0]
    this.#lines = withLine(this.#lines, line)
    if (line === last || !isStorable(line)) return
    this.#saving = this.#saving.then(() =>
      this.#file
        .update((lines) => withLine(lines, line))
        .catch((error: unknown) => this.#onWarning(`The history was not saved: ${(error as Error).message}`)),
    )
  }

  /** Resolves when every line is on the disk. */
  async saved(): Promise<void> {
    await this.#saving
  }
}

const withLine = (lines: readonly string[], line: string): string[] => [line, ...lines.filter((each) => each !== line)].slice(0, MAX_LINES)

const isStorable = (line: string): boolean =>
  line.length <= MAX_LINE_CHARS &&
  !/^\s/.test(line) &&
  redactText(line) === line &&
  ![...line.matchAll(/([\w.-]+)\s*(?::=|[=:])/g)].some(([, name = '']) => isSecretName(name)) &&
  // An option such as --token is followed by its value.
  ![...line.matchAll(/--([\w-]+)/g)].some(([, name = '']) => isSecretName(name))

function checkHistory(value: unknown): readonly string[] {
  if (!Array.isArray(value) || !value.every((line) => typeof line === 'string')) throw new Error('expected a list of lines')
  return value.slice(0, MAX_LINES)
}
