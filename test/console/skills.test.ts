/** The skills of a server through a console: listed with their state, read, approved and revoked. */

import { expect, test } from 'vitest'
import { entryOf, scriptedSkills, skillText } from '../skills/skill-files.ts'
import { consoles, Page } from './pages.ts'

const opened = consoles()

const uriOf = (name: string): string => `skill://${name}/SKILL.md`

async function withSkills(...names: string[]) {
  const files = Object.fromEntries(names.map((name) => [name, { 'SKILL.md': skillText(name) }]))
  const scripted = scriptedSkills(
    names.map((name) => entryOf(uriOf(name), files[name] as Record<string, string>)),
    Object.fromEntries(names.map((name) => [uriOf(name), files[name]?.['SKILL.md']])),
  )
  const service = scripted.server
  const all = await opened({
    host: { servers: { docs: { transport: { type: 'memory', service }, tier: 'trusted', provenance: [] } }, policy: {} },
  })
  const page = await Page.open(all.console)
  const states = async (): Promise<string[]> =>
    (await page.get('GET /api/skills?server=docs')).skills.map(({ name, state }: { name: string; state: string }) => `${name} ${state}`)
  return { ...all, scripted, page, states }
}

test('a skill is read before it is approved, approved alone, and revoked', async () => {
  const { asker, host, page, states } = await withSkills('mail', 'refunds')
  const asked: (readonly string[])[] = []
  let answer: 'allow' | 'deny' = 'deny'
  asker.listen({
    onAsked: ({ id, subject }) => {
      if (subject.kind === 'approve') asked.push(subject.items.map(({ name }) => name))
      const isSkill = subject.kind === 'approve' && subject.items.every(({ kind }) => kind === 'skill')
      setImmediate(() => asker.answer(id, isSkill && answer === 'deny' ? { kind: 'deny' } : { kind: 'allow', scope: 'once' }))
    },
    onEnded: () => {},
  })
  await page.run('POST /api/servers/docs/enable', {})
  expect(await states()).toEqual(['mail new', 'refunds new'])
  const { skills } = await page.get('GET /api/skills')
  expect(skills[1]).toMatchObject({
    server: 'docs',
    uri: uriOf('refunds'),
    description: 'Does refunds well',
    files: [{ path: 'SKILL.md' }],
  })

  const read = await page.run('POST /api/skills/read', { server: 'docs', uri: uriOf('refunds') })
  expect(read.result.contents[0].text).toContain('Do it well')
  expect(await states()).toEqual(['mail new', 'refunds new'])

  answer = 'allow'
  asked.length = 0
  expect((await page.run('POST /api/skills/approve', { server: 'docs', uri: uriOf('refunds') })).state).toBe('done')
  expect(asked).toEqual([[uriOf('refunds')]])
  expect(await states()).toEqual(['mail new', 'refunds approved'])
  expect((await host.loadSkill('docs', uriOf('refunds'), { as: 'person' })).text).toContain('Do it well')

  await page.get('POST /api/skills/revoke', { server: 'docs', uri: uriOf('refunds') })
  expect(await states()).toEqual(['mail new', 'refunds new'])
  await expect(host.loadSkill('docs', uriOf('refunds'))).rejects.toMatchObject({ code: 'ERR_QUARANTINED' })
})
