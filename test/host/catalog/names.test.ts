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
  test('names are those of server and tool where nothing stands against it', () => {
    const names = new Names(LIMITS)
    expect(names.assign('github', 'tool', ['create_issue', 'list-repos'])).toEqual(
      new Map([
        ['create_issue', 'github__create_issue'],
        ['list-repos', 'github__list-repos'],
      ]),
    )
    expect(names.assign('My Server', 'tool', ['files.read']).get('files.read')).toBe('My_Server__files_read')
  })

  test('of 64 characters stay, and longer ones are cut and told apart by a digest', () => {
    const names = new Names(LIMITS)
    const fits = 'x'.repeat(64 - 'a__'.length)
    const given = names.assign('a', 'tool', [fits, `${fits}1`, `${fits}2`])
    expect(given.get(fits)).toBe(`a__${fits}`)
    expect(given.get(`${fits}1`)).toMatch(/^a__x+_[0-9a-f]{8}$/)
    expect(given.get(`${fits}1`)).toHaveLength(64)
    expect(given.get(`${fits}1`)).not.toBe(given.get(`${fits}2`))
  })

  test('no tool of one server gets a name in the space of another, whatever it is called', () => {
    const given = namesOf({ a: ['b__c', 'b__c__d'], a__b: ['c', 'c__d'], a_b: ['c'] })
    expect(given.get('["a","b__c"]')).toBe('a__b__c')
    expect(given.get('["a_b","c"]')).toBe('a_b__c')
    expect(given.get('["a__b","c"]')).toMatch(/^a_b-[0-9a-f]{8}__c$/)
    expect(new Set(given.values()).size).toBe(5)
  })

  test('a collision after sanitising gives the second another name, and never takes that of the first', () => {
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

  test('a tool that is called like the digest of another gets a digest of its own', () => {
    const names = new Names(LIMITS)
    const clashing = names.assign('s', 'tool', ['a_b', 'a.b']).get('a.b') as string
    const other = names.assign('s', 'tool', [clashing.slice('s__'.length)])
    expect([...other.values()][0]).not.toBe(clashing)
    expect([...other.values()][0]).toMatch(/^s__/)
  })

  test('of prompts and of tools are two spaces', () => {
    const names = new Names(LIMITS)
    expect(names.assign('s', 'tool', ['a']).get('a')).toBe('s__a')
    expect(names.assign('s', 'prompt', ['a']).get('a')).toBe('s__a')
  })

  test('names are so many for a server at most; what comes after that has none', () => {
    const names = new Names({ maxNamesPerServer: 2 })
    expect([...names.assign('s', 'tool', ['a', 'b', 'c']).values()]).toEqual(['s__a', 's__b', undefined])
    expect(names.assign('t', 'tool', ['c']).get('c')).toBe('t__c')
  })

  test('whatever servers and tools are called: safe, short, one owner each, and the same in every order', () => {
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
