/** Opens the person's editor on a private temporary file. */

import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Cancelled } from '../../client/index.ts'
import type { Io } from '../io.ts'

/** VISUAL, or EDITOR. npm and npx set EDITOR to `vi` for people who never chose an editor, so that value does not count. */
export function editorOf({ env }: Pick<Io, 'env'>): string | undefined {
  const isOfNpm = (editor: string): boolean =>
    env.npm_config_user_agent !== undefined && (editor === env.npm_config_editor || editor === NPM_EDITOR)
  return [env.VISUAL, env.EDITOR].find((editor) => editor !== undefined && editor !== '' && !isOfNpm(editor))
}

const NPM_EDITOR = 'vi'

/** Resolves with the saved text. Rejects with `Cancelled` when the editor exits with an error. */
export async function editText(editor: string, text: string, name: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'portico-edit-'))
  try {
    const file = join(folder, name)
    await writeFile(file, `${text}\n`, { mode: 0o600 })
    await run(editor, file)
    return (await readFile(file, 'utf8')).replace(/\n$/, '')
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Uses a shell because EDITOR may contain options (`code --wait`). The file is passed as an argument, not as part of the line. */
function run(editor: string, file: string): Promise<void> {
  const child = spawn('/bin/sh', ['-c', `${editor} "$1"`, 'sh', file], { stdio: 'inherit' })
  return new Promise((resolve, reject) => {
    child.once('error', () => reject(new Cancelled(`${editor} could not be started`)))
    child.once('close', (code) => (code === 0 ? resolve() : reject(new Cancelled(`${editor} exited with ${code}`))))
  })
}
