import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Names } from '../../../src/host/catalog/names.ts'

const LIMITS = { maxNamesPerServer: 20_000 }

const namesOf = (servers: Readonly<Record<string, readonly string[]>>, order = Object.keys(servers)): Map<string, string | undefined> => {
  const names = new Names(LIMITS)
  names.addServers(order)
  const all = new Map<string, string | undefined>()
  for (const server of order)
    for (const [name, exposed] of names.assign(server, 'tool', servers[server] as string[]))
      all.set(JSON.stringify([server, name]), exposed)
  return all
}

describe('names', () => {
  test('a name consists of server and tool if there is no conflict', () => {
    const names = new Names(LIMITS)
    expect(names.assign('github', 'tool', ['create_issue', 'list-repos'])).toEqual(
      new Map([
        ['create_issue', 'github__create_issue'],
        ['list-repos', 'github__list-repos'],
      ]),
    )
    expect(names.assign('My Server', 'tool', ['files.read']).get('files.read')).toBe('My_Server__files_read')
  })

  test('names up to 64 characters stay, and longer ones are cut and made unique by a digest', () => {
    const names = new Names(LIMITS)
    const fits = 'x'.repeat(64 - 'a__'.length)
    const given = names.assign('a', 'tool', [fits, `${fits}1`, `${fits}2`])
    expect(given.get(fits)).toBe(`a__${fits}`)
    expect(given.get(`${fits}1`)).toMatch(/^a__x+_[0-9a-f]{8}$/)
    expect(given.get(`${fits}1`)).toHaveLength(64)
    expect(given.get(`${fits}1`)).not.toBe(given.get(`${fits}2`))
  })

  test('a tool of one server never gets a name that belongs to another server', () => {
    const given = namesOf({ a: ['b__c', 'b__c__d'], a__b: ['c', 'c__d'], a_b: ['c'] })
    expect(given.get('["a","b__c"]')).toBe('a__b__c')
    expect(given.get('["a_b","c"]')).toBe('a_b__c')
    expect(given.get('["a__b","c"]')).toMatch(/^a_b-[0-9a-f]{8}__c$/)
    expect(new Set(given.values()).size).toBe(5)
  })

  test('of two names that become equal, the second changes and the first stays', () => {
    const names = new Names(LIMITS)
    expect(names.assign('s', 'tool', ['read.file']).get('read.file')).toBe('s__read_file')
    const later = names.assign('s', 'tool', ['read_file', 'read.file', 'read file'])
    expect(later.get('read.file')).toBe('s__read_file')
    expect(later.get('read_file')).toMatch(/^s__read_file_[0-9a-f]{8}$/)
    expect(new Set(later.values()).size).toBe(3)
    // Not even when its owner is gone for now.
    expect(names.assign('s', 'tool', ['read file']).get('read file')).not.toBe('s__read_file')
    expect(names.assign('s', 'tool', ['read.file']).get('read.file')).toBe('s__read_file')
  })

  test('names of tools listed together do not depend on the order, and a valid name stays unchanged', () => {
    expect(namesOf({ s: ['a.b', 'a_b', 'a b'] })).toEqual(new Map([...namesOf({ s: ['a b', 'a_b', 'a.b'] })].reverse()))
    expect(namesOf({ s: ['a.b', 'a_b'] }).get('["s","a_b"]')).toBe('s__a_b')
  })

  test('a tool whose name equals the digest name of another gets its own digest', () => {
    const names = new Names(LIMITS)
    const clashing = names.assign('s', 'tool', ['a_b', 'a.b']).get('a.b') as string
    const other = names.assign('s', 'tool', [clashing.slice('s__'.length)])
    expect([...other.values()][0]).not.toBe(clashing)
    expect([...other.values()][0]).toMatch(/^s__/)
  })

  test('a prompt and a tool may have the same name', () => {
    const names = new Names(LIMITS)
    expect(names.assign('s', 'tool', ['a']).get('a')).toBe('s__a')
    expect(names.assign('s', 'prompt', ['a']).get('a')).toBe('s__a')
  })

  test('the number of names of one server is limited, and further tools get no name', () => {
    const names = new Names({ maxNamesPerServer: 2 })
    expect([...names.assign('s', 'tool', ['a', 'b', 'c']).values()]).toEqual(['s__a', 's__b', undefined])
    expect(names.assign('t', 'tool', ['c']).get('c')).toBe('t__c')
  })

  test('for all servers and tools, names are safe, short, unique and independent of the order', () => {
    const name = fc.oneof(
      fc.string({ maxLength: 80 }),
      fc.string({ unit: fc.constantFrom('a', '_', '.', '-', 'é'), minLength: 1, maxLength: 70 }),
    )
    const servers = fc.dictionary(name, fc.uniqueArray(name, { minLength: 1, maxLength: 6 }), {
      minKeys: 1,
      maxKeys: 6,
      noNullPrototype: true,
    })
    fc.assert(
      fc.property(servers, (given) => {
        const order = Object.keys(given)
        const all = namesOf(given)
        const exposed = [...all.values()]
        for (const each of exposed) expect(each).toMatch(/^[A-Za-z0-9_-]{1,64}$/)
        expect(new Set(exposed).size).toBe(exposed.length)
        const again = namesOf(given, [...order].reverse())
        for (const [key, each] of again) expect(each).toBe(all.get(key))
      }),
      { numRuns: 300 },
    )
  })
})
