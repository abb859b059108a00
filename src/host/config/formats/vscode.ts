/** VS Code: `mcp.json`, and the member `mcp` of its settings and of a development container. */

import type { InputSpec } from '../../model/server-spec.ts'
import { editorLike } from '../foreign-text.ts'
import type { ConfigFormat, FormatContext } from '../format.ts'
import { Refused, within } from '../problem.ts'
import { readEntries, readEntry, SANDBOX_IGNORED } from '../read-entry.ts'
import { type Members, readMembers } from '../read-members.ts'

function readServersAndInputs(document: Members, reading: FormatContext): void {
  const shape = { translate: editorLike(reading.folders), passed: ['gallery', 'version', 'dev'] }
  readEntries(document.inner('servers'), reading, (entry) => readEntry(entry, shape, reading.problem))
  readInputs(document, reading)
  if (document.has('sandbox')) reading.problem(within(document.where, 'sandbox'), SANDBOX_IGNORED)
  document.finish(reading.problem)
}

function readInputs(document: Members, reading: FormatContext): void {
  document.list('inputs')?.forEach((value, i) => {
    const where = `${within(document.where, 'inputs')}[${i}]`
    try {
      reading.input(readInput(readMembers(value, where), reading))
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      reading.problem(error.where, error.message)
    }
  })
}

function readInput(input: Members, reading: FormatContext): InputSpec {
  const id = input.text('id')
  if (id === undefined) throw new Refused(input.where, 'The input has no id')
  const type = input.text('type') ?? 'promptString'
  if (type === 'command') throw new Refused(input.where, 'The input gets its value from a VS Code command, which is not run')
  if (type !== 'promptString' && type !== 'pickString')
    throw new Refused(within(input.where, 'type'), 'Expected promptString or pickString')
  const description = input.text('description')
  const fallback = input.text('default')
  const options = type === 'pickString' ? input.list('options')?.map((option) => optionText(option, input.where)) : undefined
  const isSecret = input.flag('password') === true
  input.finish(reading.problem)
  return { id, isSecret, description, default: fallback, options }
}

function optionText(option: unknown, where: string): string {
  if (typeof option === 'string') return option
  const value = readMembers(option, `${where}.options`).text('value')
  if (value === undefined) throw new Refused(`${where}.options`, 'The option has no value')
  return value
}

export const vscode: ConfigFormat = { client: 'VS Code', read: readServersAndInputs }

export const vscodeSettings: ConfigFormat = {
  client: 'VS Code',
  read: (document, reading) => {
    const mcp = document.inner('mcp')
    if (mcp) readServersAndInputs(mcp, reading)
  },
}

export const devcontainer: ConfigFormat = {
  client: 'VS Code (dev container)',
  read: (document, reading) => {
    const mcp = document.inner('customizations')?.inner('vscode')?.inner('mcp')
    if (mcp) readServersAndInputs(mcp, reading)
  },
}
