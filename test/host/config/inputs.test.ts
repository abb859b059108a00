// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are what this is about
/** What a configuration asks a person for: asked when a server is started, kept only if the person wants it. */

import { describe, expect, test } from 'vitest'
import { type AskForInput, inputsFor } from '../../../src/host/config/inputs.ts'
import type { ServerSpec, StdioTransport } from '../../../src/host/model/server-spec.ts'
import { openVault } from '../../../src/host/secrets/vault.ts'
import { resolveTransport } from '../../../src/host/server-command/resolve-placeholders.ts'
import { temporaryFolders } from '../../support/folders.ts'

const newFolder = temporaryFolders()

const server = (id: string): ServerSpec => ({
  id,
  transport: { type: 'stdio', command: 'x', args: ['${input:key}', '${input:region}', '${input:key}'], env: {} },
  tier: 'untrusted',
  provenance: [],
  inputs: [
    { id: 'key', description: 'The key', isSecret: true },
    { id: 'region', isSecret: false, default: 'eu', options: ['eu', 'us'] },
  ],
})

async function desk(answers: Record<string, { value: string; isKept?: boolean } | undefined>) {
  const vault = await openVault({ folder: newFolder(), keychain: false, onWarning: () => {} })
  const asked: string[] = []
  const ask: AskForInput = async (input, spec) => {
    asked.push(`${spec.id}: ${input.description ?? input.id}`)
    return answers[input.id]
  }
  const start = (spec: ServerSpec) => resolveTransport(spec.transport as StdioTransport, { input: inputsFor(spec, { vault, ask }) })
  return { vault, asked, start }
}

describe('an input', () => {
  test('an input is asked for once per start, and again at every start', async () => {
    const { asked, start, vault } = await desk({ key: { value: 'k' }, region: { value: 'us' } })
    expect((await start(server('a'))).args).toEqual(['k', 'us', 'k'])
    await start(server('a'))
    expect(asked).toEqual(['a: The key', 'a: region', 'a: The key', 'a: region'])
    expect(await vault.list()).toEqual([])
  })

  test('an input that the person stores is in the vault, for that server only', async () => {
    const { asked, start, vault } = await desk({ key: { value: 'k', isKept: true }, region: { value: 'us', isKept: true } })
    await start(server('a'))
    await start(server('a'))
    expect(asked).toEqual(['a: The key', 'a: region'])
    expect(await vault.list()).toEqual(['input/a/key', 'input/a/region'])
    await start(server('b'))
    expect(asked.slice(2)).toEqual(['b: The key', 'b: region'])
  })

  test('an input without an answer is its default, or an error', async () => {
    const { start } = await desk({ key: { value: 'k' } })
    expect((await start(server('a'))).args).toEqual(['k', 'eu', 'k'])
    await expect((await desk({})).start(server('a'))).rejects.toMatchObject({
      code: 'ERR_SECRET',
      message: expect.stringContaining('${input:key}'),
    })
  })

  test('an input outside of the choices is refused, and the error does not repeat it', async () => {
    const { start, vault } = await desk({ key: { value: 'k' }, region: { value: 'canary-region', isKept: true } })
    const error = await start(server('a')).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 'ERR_SECRET', message: expect.not.stringContaining('canary') })
    expect(await vault.list()).toEqual([])
  })

  test('each input has a unique name in the vault, whatever its own name', async () => {
    const vault = await openVault({ folder: newFolder(), keychain: false, onWarning: () => {} })
    const inputs = [
      ['a', 'b'],
      ['a', 'b@c'],
      ['a', 'b_c'],
      ['a', 'x'.repeat(120)],
      ['b', 'x'.repeat(120)],
    ] as const
    for (const [id, input] of inputs) {
      await inputsFor(server(id), { vault, ask: async () => ({ value: `${id} ${input}`, isKept: true }) })(input)
    }
    const names = await vault.list()
    expect(names).toHaveLength(inputs.length)
    for (const name of names) expect(name).toMatch(/^[A-Za-z0-9_./-]{1,100}$/)
  })
})
