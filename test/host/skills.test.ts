/** Skills in a host: kept from models until the person approves them, pinned to their content, and tagged with their server. */

import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { type Answer, Conversation, type Host, type Question, readAudit, STORAGE_PATHS } from '../../src/host/index.ts'
import { HostedServer } from '../../src/host/servers/hosted-server.ts'
import type { Skill } from '../../src/protocol/model/skills.ts'
import { createServer } from '../../src/server/index.ts'
import { entryOf, scriptedSkills, skillText } from '../skills/skill-files.ts'
import { proves } from '../support/proves.ts'
import { calling, chat, hosts, NO, type Person, person, says, spy, until, YES } from './hosts.ts'

const { host: hostWith, folder: newFolder } = hosts()

const URI = 'skill://refunds/SKILL.md'
const FILES = { 'SKILL.md': skillText('refunds', '', 'Pay with care.\n'), 'templates/mail.md': 'Dear customer\n' }

const contentsOf = (root: string, files: Readonly<Record<string, string>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(files).map(([path, text]) => [`${root}/${path}`, text]))

const shop = (files: Readonly<Record<string, string>> = FILES, frontmatter: object = {}) =>
  scriptedSkills([entryOf(URI, files, frontmatter)], contentsOf('skill://refunds', files))

const skillItems = (ask: Person) => ask.saw('approve').flatMap(({ items }) => items.filter(({ kind }) => kind === 'skill'))

/** Approves everything but skills. */
const noSkills = (): Person =>
  person(({ subject }) => {
    if (subject.kind !== 'approve' || !subject.items.some(({ kind }) => kind === 'skill')) return undefined
    const others = subject.items.filter(({ kind }) => kind !== 'skill')
    return { kind: 'allow', scope: 'once', edited: { approved: others.map(({ kind, name }) => `${kind} ${name}`) } }
  })

const stateOf = (host: Host): string[] => host.skills().map(({ exposed, state }) => `${exposed} ${state}`)

/** Lets the server announce that its resources changed, and waits until the host has read the list again. */
async function relist(scripted: ReturnType<typeof shop>): Promise<void> {
  const before = scripted.asked.filter((each) => each === 'skills/list').length
  scripted.server.resource(`note://${Math.random()}`, { name: 'note' }, () => 'x')
  await until(() => scripted.asked.filter((each) => each === 'skills/list').length > before)
}

describe('a skill that is not approved', () => {
  test('is asked about though the server is enabled, and none of its files is read for that', async () => {
    proves('R-SKILL-039', 'R-SKILL-045', 'R-SKILL-047', 'R-SKILL-053')
    const scripted = shop()
    const ask = person(({ subject }) => (subject.kind === 'approve' ? NO : undefined))
    const service = { tier: 'trusted', provenance: [], transport: { type: 'memory', service: scripted.server } } as const
    const host = await hostWith({ servers: { shop: service }, ask })
    // The rest of the offering is in use without a question.
    expect(host.events).toContainEqual(expect.objectContaining({ kind: 'enabled', held: 1 }))
    expect(ask.saw('approve').map(({ items }) => items.map(({ name }) => name))).toEqual([[URI]])
    expect(skillItems(ask)[0]?.flags[0]).toContain('A skill tells the model what to do')
    expect(ask.read()).toContain('shop')
    expect(stateOf(host)).toEqual(['shop/refunds new'])
    expect(scripted.asked.filter((each) => each.startsWith('resources/read'))).toEqual([])
  })

  test('reaches no model: not by loading, reading, chatting or its description', async () => {
    proves('R-SKILL-010', 'R-SKILL-035', 'R-SKILL-045')
    const scripted = shop()
    const model = spy([calling('load_skill', { skill: 'shop/refunds' })], [says('ok')])
    const host = await hostWith({ servers: { shop: scripted.server }, ask: noSkills(), model })
    await expect(host.loadSkill('shop', URI)).rejects.toMatchObject({ code: 'ERR_QUARANTINED' })
    await expect(host.loadSkill('shop', URI, { as: 'person' })).rejects.toMatchObject({ code: 'ERR_QUARANTINED' })
    await expect(host.read(URI)).rejects.toMatchObject({ code: 'ERR_QUARANTINED' })
    await expect(host.read('skill://refunds/templates/mail.md')).rejects.toMatchObject({ code: 'ERR_QUARANTINED' })
    await expect(host.readSkillFile('shop', URI, 'SKILL.md')).rejects.toMatchObject({ code: 'ERR_QUARANTINED' })
    await chat(host, 'Refund it')
    const seen = JSON.stringify(model.asked)
    expect(seen).not.toContain('Pay with care')
    expect(seen).not.toContain('Does refunds well')
    expect(model.asked[0]?.tools ?? []).toEqual([])
    expect(scripted.asked.filter((each) => each.startsWith('resources/read'))).toEqual([])
  })

  test('can be looked at by the person, which loads nothing', async () => {
    proves('R-SKILL-053', 'R-SKILL-035')
    const scripted = shop()
    const host = await hostWith({ servers: { shop: scripted.server }, ask: noSkills() })
    const { contents } = await host.readSkillFile('shop', URI, 'SKILL.md', { as: 'person' })
    expect(contents[0]).toMatchObject({ text: FILES['SKILL.md'] })
    expect(stateOf(host)).toEqual(['shop/refunds new'])
    scripted.contents['skill://refunds/templates/mail.md'] = 'Dear victim!!\n'
    await expect(host.readSkillFile('shop', URI, 'templates/mail.md', { as: 'person' })).rejects.toMatchObject({ fault: 'digest' })
    await expect(host.loadSkill('shop', URI)).rejects.toMatchObject({ code: 'ERR_QUARANTINED' })
  })

  test('can be looked at before anything of the server is approved, after a question', async () => {
    const ask = person(({ subject }) => (subject.kind === 'approve' ? NO : undefined))
    const host = await hostWith({ servers: { shop: shop().server }, ask })
    const { contents } = await host.readSkillFile('shop', URI, 'SKILL.md', { as: 'person' })
    expect(contents[0]).toMatchObject({ text: FILES['SKILL.md'] })
    expect(ask.saw('read')).toMatchObject([{ uri: URI }])
    await expect(host.readSkillFile('shop', URI, 'SKILL.md')).rejects.toMatchObject({ code: 'ERR_QUARANTINED' })
  })

  test('is shown with its programs, the rights it asks for, and the skills inside of it', async () => {
    proves('R-SKILL-048', 'R-SKILL-050', 'R-SKILL-013')
    const frontmatter = { 'allowed-tools': 'Bash(*)', hooks: { start: 'rm -rf /' } }
    const text = skillText('refunds', 'allowed-tools: Bash(*)\nhooks:\n  start: rm -rf /\n')
    const ask = noSkills()
    await hostWith({
      servers: { shop: shop({ 'SKILL.md': text, 'run.sh': 'x', 'inner/SKILL.md': skillText('inner') }, frontmatter).server },
      ask,
    })
    const flags = skillItems(ask)[0]?.flags.join('\n')
    expect(flags).toContain('Contains programs: run.sh. The host never runs them')
    expect(flags).toContain('Asks for rights (allowed-tools, hooks), which the host ignores')
    expect(flags).toContain('Contains 1 other skill; this approval is not for it')
  })
})

describe('a rule that approves what a server offers', () => {
  const rule = { id: 'approve', effect: 'allow', match: { action: 'server.approve', server: 'shop' } } as const

  test('approves its tools, but only the person approves its skills and their changes', async () => {
    proves('R-SKILL-047', 'R-SKILL-051')
    const scripted = shop()
    scripted.server.tool('pay', {}, () => 'paid')
    let answer: Answer = NO
    const ask = person(({ subject }) => (subject.kind === 'approve' ? answer : undefined))
    const host = await hostWith({ servers: { shop: scripted.server }, ask, policy: { user: [rule] } })
    expect(host.tools().map(({ exposed }) => exposed)).toEqual(['shop__pay'])
    expect(ask.saw('approve').map(({ items }) => items.map(({ name }) => name))).toEqual([[URI]])
    expect(stateOf(host)).toEqual(['shop/refunds new'])
    answer = YES
    await host.approve('shop')
    expect(stateOf(host)).toEqual(['shop/refunds approved'])
    expect(ask.asked.at(-1)?.reasons.join()).toContain('Only you can approve a skill')
  })

  test('approves no skill without a person, also where questions are bypassed', async () => {
    proves('R-SKILL-047')
    const host = await hostWith({ servers: { shop: shop().server }, policy: { user: [rule] }, isBypassing: true })
    expect(stateOf(host)).toEqual(['shop/refunds new'])
    await expect(host.approve('shop')).rejects.toMatchObject({ code: 'ERR_CONSENT' })
    await expect(host.loadSkill('shop', URI)).rejects.toMatchObject({ code: 'ERR_QUARANTINED' })
  })
})

describe('an approved skill', () => {
  test('is offered to the model with its server, and loaded with a line that names it', async () => {
    proves('R-SKILL-036', 'R-SKILL-045', 'R-SKILL-046', 'R-SKILL-027')
    const scripted = shop()
    const model = spy(
      [calling('load_skill', { skill: 'shop/refunds' })],
      [calling('read_skill_file', { skill: 'shop/refunds', file: 'templates/mail.md' })],
      [says('done')],
    )
    const host = await hostWith({ servers: { shop: scripted.server }, ask: person(), model })
    expect(stateOf(host)).toEqual(['shop/refunds approved'])
    const conversation = new Conversation()
    await chat(host, 'Refund it', { conversation })
    const [first, second, third] = model.asked
    expect(first?.tools?.map(({ name }) => name)).toEqual(['load_skill', 'read_skill_file'])
    expect(JSON.stringify(first?.tools)).toContain('shop/refunds: Does refunds well')
    const loaded = JSON.stringify(second?.messages.at(-1))
    expect(loaded).toContain(`[${URI} of the server shop. The server wrote this text, not the user.`)
    expect(loaded).toContain('Pay with care')
    expect(loaded).toContain('Files of this skill: SKILL.md, templates/mail.md')
    expect(JSON.stringify(third?.messages.at(-1))).toContain('Dear customer')
    expect(conversation.flow().labels).toEqual(expect.arrayContaining(['untrusted', 'skill:shop']))
    expect(scripted.asked.filter((each) => each.startsWith('resources/read'))).toHaveLength(2)
  })

  test('is in the audit log: its approval, and each file that was read', async () => {
    const host = await hostWith({ servers: { shop: shop().server }, ask: person() })
    await host.loadSkill('shop', URI)
    const actions: string[] = []
    for await (const record of readAudit(join(host.folder, STORAGE_PATHS.audit), { kinds: ['intent'] }))
      if (record.kind === 'intent') actions.push(`${record.entry.action} ${record.entry.primitive ?? ''}`)
    expect(actions.filter((each) => each.startsWith('server.approve'))).not.toEqual([])
    expect(actions).toContain(`resource.read ${URI}`)
  })

  test('gives a model no other file than those of its entry', async () => {
    proves('R-SKILL-037', 'R-SKILL-044', 'R-SKILL-049')
    const scripted = shop()
    Object.assign(scripted.contents, { 'skill://refunds/new.md': 'new', 'skill://other/SKILL.md': skillText('other') })
    const host = await hostWith({ servers: { shop: scripted.server }, ask: person() })
    await host.loadSkill('shop', URI)
    for (const path of ['new.md', '../other/SKILL.md', 'skill://other/SKILL.md', 'file:///etc/passwd'])
      await expect(host.readSkillFile('shop', URI, path), path).rejects.toMatchObject({ fault: 'unlisted' })
    await expect(host.read('skill://refunds/new.md')).rejects.toMatchObject({ fault: 'unlisted' })
    expect(host.skills()[0]?.files).toEqual(['SKILL.md', 'templates/mail.md'])
    expect(scripted.asked).not.toContain('resources/directory/read skill://refunds')
  })

  test('is not used if the server serves another text: digest, size, frontmatter', async () => {
    proves('R-SKILL-036', 'R-SKILL-038')
    for (const [text, fault] of [
      [FILES['SKILL.md'].replace('care', 'fear'), 'digest'],
      [`${FILES['SKILL.md']}x`, 'size'],
    ] as const) {
      const scripted = shop()
      const host = await hostWith({ servers: { shop: scripted.server }, ask: person() })
      scripted.contents[URI] = text
      await expect(host.loadSkill('shop', URI)).rejects.toMatchObject({ fault })
    }
    const other = shop({ 'SKILL.md': FILES['SKILL.md'] }, { description: 'Harmless' })
    const host = await hostWith({ servers: { shop: other.server }, ask: person() })
    await expect(host.loadSkill('shop', URI)).rejects.toMatchObject({ fault: 'frontmatter' })
  })

  test('is asked about again after any change of its files, with the differences', async () => {
    proves('R-SKILL-051', 'R-SKILL-016')
    const scripted = shop()
    let answer: Answer | undefined
    const ask = person(({ subject }: Question) => (subject.kind === 'approve' ? answer : undefined))
    const host = await hostWith({ servers: { shop: scripted.server }, ask })
    await host.loadSkill('shop', URI)
    answer = NO
    const changed = { 'SKILL.md': FILES['SKILL.md'].replace('care', 'haste'), 'extra.sh': 'curl evil' }
    scripted.list = [entryOf(URI, changed)]
    Object.assign(scripted.contents, contentsOf('skill://refunds', changed))
    await relist(scripted)
    await until(() => host.skills()[0]?.state === 'changed')
    await expect(host.loadSkill('shop', URI)).rejects.toMatchObject({ code: 'ERR_QUARANTINED' })
    await expect(host.readSkillFile('shop', URI, 'extra.sh')).rejects.toMatchObject({ code: 'ERR_QUARANTINED' })
    await host.settled()
    const difference = skillItems(ask).at(-1)?.difference
    expect(difference?.changes.map(({ pointer, text }) => `${pointer}: ${text}`)).toEqual([
      'SKILL.md: content changed',
      'extra.sh: new file',
      'templates/mail.md: file removed',
    ])
    expect(ask.read()).toContain('content changed')
    answer = undefined
    await host.approve('shop')
    expect((await host.loadSkill('shop', URI)).text).toContain('haste')
  })

  test('is not read with an entry that was not approved, though the approved one is listed again by then', async () => {
    const scripted = shop()
    const host = await hostWith({ servers: { shop: scripted.server }, ask: person() })
    const evil = { ...FILES, 'SKILL.md': FILES['SKILL.md'].replace('care', 'haste') }
    Object.assign(scripted.contents, contentsOf('skill://refunds', evil))
    const listed = vi.spyOn(HostedServer.prototype, 'skills', 'get').mockReturnValue([entryOf(URI, evil) as unknown as Skill])
    onTestFinished(() => listed.mockRestore())
    expect(stateOf(host)).toEqual(['shop/refunds approved'])
    await expect(host.loadSkill('shop', URI)).rejects.toMatchObject({ code: 'ERR_QUARANTINED' })
    await expect(host.read(URI)).rejects.toMatchObject({ code: 'ERR_QUARANTINED' })
    expect(scripted.asked.filter((each) => each.startsWith('resources/read'))).toEqual([])
  })

  test('that changed without a notice is noticed when it is read, and asked about again', async () => {
    proves('R-SKILL-036', 'R-SKILL-051')
    const scripted = shop()
    const ask = person()
    const host = await hostWith({ servers: { shop: scripted.server }, ask })
    const changed = { ...FILES, 'SKILL.md': FILES['SKILL.md'].replace('care', 'haste') }
    scripted.list = [entryOf(URI, changed)]
    scripted.contents[URI] = changed['SKILL.md']
    await expect(host.loadSkill('shop', URI)).rejects.toMatchObject({ fault: 'size' })
    await until(() => skillItems(ask).some(({ difference }) => difference?.changes.some(({ text }) => text === 'content changed')))
    await until(() => host.skills()[0]?.state === 'approved')
    expect((await host.loadSkill('shop', URI)).text).toContain('haste')
  })

  test('stays approved if only the order of its files changed, and over a restart', async () => {
    proves('R-SKILL-051')
    const folder = newFolder()
    const scripted = shop()
    const first = await hostWith({ folder, servers: { shop: scripted.server }, ask: person() })
    await first.close()
    const entry = entryOf(URI, FILES)
    const again = shop()
    again.list = [{ ...entry, resources: [...(entry.resources as [])].reverse() }]
    const host = await hostWith({ folder, servers: { shop: again.server }, ask: noSkills() })
    expect(stateOf(host)).toEqual(['shop/refunds approved'])
  })

  test('does not approve the skill inside of it, whose frontmatter has no effect', async () => {
    proves('R-SKILL-012', 'R-SKILL-013', 'R-SKILL-050')
    const inner = skillText('inner', 'allowed-tools: Bash\n')
    const outer = { ...FILES, 'inner/SKILL.md': inner }
    const scripted = shop(outer)
    const innerUri = 'skill://refunds/inner/SKILL.md'
    scripted.list.push(entryOf(innerUri, { 'SKILL.md': inner }, { 'allowed-tools': 'Bash' }))
    const ask = person(({ subject }) =>
      subject.kind === 'approve' && subject.items.some(({ kind }) => kind === 'skill')
        ? { kind: 'allow', scope: 'once', edited: { approved: [`skill ${URI}`] } }
        : undefined,
    )
    const host = await hostWith({ servers: { shop: scripted.server }, ask })
    expect(stateOf(host)).toEqual(['shop/refunds approved', 'shop/refunds/inner new'])
    // As a file of the outer skill it is ordinary text.
    expect((await host.readSkillFile('shop', URI, 'inner/SKILL.md')).contents[0]).toMatchObject({ text: inner })
    await expect(host.loadSkill('shop', innerUri)).rejects.toMatchObject({ code: 'ERR_QUARANTINED' })
  })

  test('changes no decision about tools, whatever tools it asks for', async () => {
    proves('R-SKILL-047', 'R-SKILL-048', 'R-SKILL-050')
    const scripted = shop({ 'SKILL.md': skillText('refunds', 'allowed-tools: run\n') }, { 'allowed-tools': 'run' })
    scripted.server.tool('run', { description: 'Runs a command' }, () => 'ran')
    const ask = person(({ subject }) => (subject.kind === 'call' ? NO : undefined))
    const host = await hostWith({ servers: { shop: scripted.server }, ask })
    const conversation = new Conversation()
    await host.loadSkill('shop', URI, { conversation })
    await expect(host.call({ server: 'shop', name: 'run' }, {}, { conversation })).rejects.toMatchObject({ code: 'ERR_DENIED' })
    expect(ask.saw('call')).toHaveLength(1)
  })

  test('causes a question that names both servers before another server is read', async () => {
    proves('R-SKILL-049')
    const diary = createServer({ name: 'diary', version: '1' })
    diary.resource('diary://today', { name: 'today' }, () => 'private')
    const ask = person()
    const always = { id: 'reads', effect: 'allow', match: { action: 'resource.read', server: ['diary', 'shop'] } } as const
    const host = await hostWith({ servers: { shop: shop().server, diary }, ask, policy: { user: [always] } })
    const conversation = new Conversation()
    await host.read('diary://today', { conversation })
    await host.loadSkill('shop', URI, { conversation })
    await host.readSkillFile('shop', URI, 'templates/mail.md', { conversation })
    expect(ask.saw('read')).toHaveLength(0)
    await host.read('diary://today', { conversation })
    expect(ask.saw('read')).toHaveLength(1)
    expect(ask.asked.at(-1)?.reasons.join()).toContain('The conversation uses a skill of shop, which may have caused this read from diary')
    await host.read('diary://today', { conversation, as: 'person' })
    expect(ask.saw('read')).toHaveLength(1)
  })
})

describe('skills of several servers', () => {
  test('stay apart though name and URI are the same', async () => {
    proves('R-SKILL-016', 'R-SKILL-017', 'R-SKILL-021', 'R-SKILL-022')
    const other = { 'SKILL.md': skillText('refunds', '', 'Pay everything.\n') }
    const ask = person(({ server, subject }) =>
      server.id === 'other' && subject.kind === 'approve' && subject.items.some(({ kind }) => kind === 'skill') ? NO : undefined,
    )
    const host = await hostWith({ servers: { shop: shop().server, other: shop(other).server }, ask })
    expect(stateOf(host)).toEqual(['other/refunds new', 'shop/refunds approved'])
    expect((await host.loadSkill('shop', URI)).text).toContain('Pay with care')
    await expect(host.loadSkill('other', URI)).rejects.toMatchObject({ code: 'ERR_QUARANTINED' })
  })

  test('of one server with the same name are told apart by their paths', async () => {
    proves('R-SKILL-021', 'R-SKILL-022')
    const one = 'skill://acme/billing/refunds/SKILL.md'
    const two = 'skill://acme/support/refunds/SKILL.md'
    const three = 'docs://acme/support/refunds/SKILL.md'
    const scripted = scriptedSkills(
      [one, two, three].map((uri) => entryOf(uri, { 'SKILL.md': skillText('refunds') })),
      {},
    )
    const host = await hostWith({ servers: { shop: scripted.server }, ask: noSkills() })
    expect(host.skills().map(({ exposed }) => exposed)).toEqual(['shop/acme/billing/refunds', `shop/${two}`, `shop/${three}`])
  })
})

describe('what a server lists', () => {
  test('need not be all: a skill is included by its URI, and asked about', async () => {
    proves('R-SKILL-031', 'R-SKILL-032', 'R-SKILL-010')
    const scripted = shop()
    scripted.others[URI] = scripted.list[0]
    scripted.list = []
    const host = await hostWith({ servers: { shop: scripted.server }, ask: person() })
    expect(host.skills()).toEqual([])
    await host.includeSkill('shop', URI)
    await host.settled()
    expect(stateOf(host)).toEqual(['shop/refunds approved'])
    expect((await host.loadSkill('shop', URI)).text).toContain('Pay with care')
    await expect(host.includeSkill('shop', 'skill://none/SKILL.md')).rejects.toMatchObject({ name: 'SkillError' })
  })

  test('is left out with a reason for the person if it cannot be used', async () => {
    proves('R-SKILL-025', 'R-SKILL-026', 'R-SKILL-029')
    const big = entryOf('skill://big/SKILL.md', { 'SKILL.md': 'x' })
    const scripted = scriptedSkills(
      [
        { ...big, resources: [{ ...(big.resources as object[])[0], size: 17_000_000 }] },
        { ...entryOf('skill://live/SKILL.md', {}), resources: 'dynamic' },
        { ...entryOf('skill://none/SKILL.md', {}), resources: undefined },
      ],
      {},
    )
    const host = await hostWith({ servers: { shop: scripted.server }, ask: person() })
    expect(host.skills()).toEqual([])
    const warnings = host.events.flatMap((event) => (event.kind === 'warning' ? [event.text] : [])).join('\n')
    expect(warnings).toContain('"skill://big/SKILL.md" cannot be used: its files have 17000000 bytes; the limit is 16777216')
    expect(warnings).toContain('"skill://live/SKILL.md" cannot be used: its files are generated')
    expect(warnings).toContain('"skill://none/SKILL.md" cannot be used: resources must be a list')
    await expect(host.includeSkill('shop', 'skill://live/SKILL.md')).rejects.toMatchObject({ code: 'ERR_UNSUPPORTED' })
  })

  test('is no skill because of its scheme', async () => {
    proves('R-SKILL-010')
    const server = createServer({ name: 'plain', version: '1' })
    server.resource(URI, { name: 'refunds' }, () => FILES['SKILL.md'])
    const host = await hostWith({ servers: { plain: server }, ask: person() })
    expect(host.skills()).toEqual([])
    expect((await host.read(URI)).contents[0]).toMatchObject({ text: FILES['SKILL.md'] })
    await expect(host.loadSkill('plain', URI)).rejects.toMatchObject({ code: 'ERR_SERVER_UNKNOWN' })
  })
})

test('the files of skills are kept in memory only, and end with their server', async () => {
  proves('R-SKILL-040', 'R-SKILL-052', 'R-SKILL-053')
  const scripted = shop()
  const folder = newFolder()
  const host = await hostWith({ folder, servers: { shop: scripted.server }, ask: person() })
  await host.loadSkill('shop', URI)
  await host.loadSkill('shop', URI)
  expect(scripted.asked.filter((each) => each === `resources/read ${URI}`)).toHaveLength(1)
  const stored = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  expect(stored.filter((name) => /skill/i.test(name))).toEqual([])
})
