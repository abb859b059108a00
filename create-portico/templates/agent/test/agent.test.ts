import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { scriptedModel } from 'portico/testing'
import { expect, test } from 'vitest'
import { answer, createAgent } from '../src/agent.ts'
import { notesServer } from '../src/notes.ts'

const agentWith = async (allows: (action: string) => boolean) => {
  const { server, notes } = notesServer()
  const asked: string[] = []
  const host = await createAgent({
    servers: { notes: server },
    model: scriptedModel(),
    ask: {
      ask: async ({ action }) => {
        asked.push(action)
        return allows(action) ? { kind: 'allow', scope: 'once' } : { kind: 'deny' }
      },
    },
    folder: mkdtempSync(join(tmpdir(), 'agent-')),
  })
  return { host, notes, asked }
}

test('uses a tool after you have allowed it', async () => {
  const { host, notes, asked } = await agentWith(() => true)
  const acts: string[] = []
  await answer(host, 'add a note: "buy milk"', (tool) => acts.push(tool))
  expect(notes).toEqual(['buy milk'])
  expect(acts).toEqual(['notes__add'])
  expect(asked).toContain('tool.call')
  await host.close()
})

test('does nothing after a no', async () => {
  const { host, notes } = await agentWith((action) => action !== 'tool.call')
  await answer(host, 'add a note: "buy milk"')
  expect(notes).toEqual([])
  await host.close()
})
