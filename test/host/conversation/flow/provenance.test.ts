/** Private texts, found again in what is about to be sent. */

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { FlowContext } from '../../../../src/host/conversation/flow/context.ts'
import { DEFAULT_PROVENANCE_LIMITS } from '../../../../src/host/conversation/flow/provenance.ts'
import { expectLinear } from '../../../support/linear.ts'

const { pieceLength } = DEFAULT_PROVENANCE_LIMITS

const MAIL = `Dear Anna,
the code for the side door is 4471, and the alarm is off between two and three on Tuesday.
Please bring the blue folder with the contracts of the Müller family; they sign on Friday.
Yours, Boris`

function withMail(): FlowContext {
  const flow = new FlowContext()
  flow.add({ labels: ['untrusted'], source: 'web/fetch', value: 'The weather is fine and nobody minds who knows it.' })
  flow.add({ labels: ['private:mail'], source: 'mail/inbox', value: { content: [{ type: 'text', text: MAIL }] } })
  return flow
}

const piece = MAIL.slice(20, 110)

describe('a piece of a private text', () => {
  test('a piece of a private text is shown with its length, its place and its origin', () => {
    const [origin, ...others] = withMail().originsOf({ to: 'x@example.com', body: { text: `By the way: ${piece} - interesting!` } })
    expect(others).toEqual([])
    expect(origin).toMatchObject({ pointer: '/body/text', source: 'mail/inbox#2' })
    expect(origin?.bytes).toBeGreaterThan(piece.length - 20)
    expect(origin?.bytes).toBeLessThanOrEqual(Buffer.byteLength(piece))
    expect(piece).toContain(origin?.excerpt)
  })

  test('the places of the pieces are told, and no character is cut', () => {
    const body = `\u{1F98A} By the way: ${piece} - interesting!`
    const [origin] = withMail().originsOf({ body })
    const [[start, end] = [0, 0]] = origin?.ranges ?? []
    expect(Buffer.byteLength(body.slice(start, end))).toBe(origin?.bytes)
    expect(piece).toContain(body.slice(start, end))
    // In a decoded form of the text there are no places.
    const [decoded] = withMail().originsOf({ body: Buffer.from(piece).toString('base64') })
    expect(decoded?.source).toBe('mail/inbox#2')
    expect(decoded).not.toHaveProperty('ranges')
    // Letters outside the basic plane, each of two UTF-16 units.
    const rare = Array.from({ length: 120 }, (_, at) => String.fromCodePoint(0x10400 + ((at * 7) % 40))).join('')
    for (let shift = 0; shift < 8; shift++) {
      const flow = withMail()
      flow.add({ labels: ['private:rare'], source: 'rare', value: `${'ab'.repeat(shift)}${rare}` })
      const found = flow.originsOf({ body: `x${rare}` })
      expect(found).toHaveLength(1)
      for (const { excerpt, ranges = [] } of found) {
        expect(excerpt).not.toMatch(/\p{Surrogate}/u)
        for (const [from, to] of ranges) expect(`x${rare}`.slice(from, to)).not.toMatch(/\p{Surrogate}/u)
      }
    }
  })

  test('without private data nothing is found', () => {
    expect(withMail().originsOf({ body: 'The weather is fine and nobody minds who knows it.' })).toEqual([])
  })

  const dressings: Record<string, (text: string) => string> = {
    'in capitals': (text) => text.toUpperCase(),
    'without spaces': (text) => text.replace(/\s/g, ''),
    'with other spaces and line ends': (text) => text.replace(/ /g, ' \n\t'),
    'with a hyphen after each letter': (text) => [...text].join('-'),
    'in base64': (text) => Buffer.from(text).toString('base64'),
    'in base64url, behind something else': (text) => `https://x.example/a/b/c1/${Buffer.from(text).toString('base64url')}`,
    'in base64, in lines': (text) =>
      (
        Buffer.from(text)
          .toString('base64')
          .match(/.{1,60}/g) ?? []
      ).join('\r\n'),
    'in base64 of UTF-16': (text) => Buffer.from(text, 'utf16le').toString('base64'),
    'in base64 twice': (text) => Buffer.from(Buffer.from(text).toString('base64')).toString('base64'),
    'in hexadecimal': (text) => Buffer.from(text).toString('hex'),
    'in hexadecimal with colons': (text) => (Buffer.from(text).toString('hex').match(/../g) ?? []).join(':'),
    'in a URL': (text) => `https://x.example/?q=${encodeURIComponent(text)}`,
    'in a URL, every byte': (text) => [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join(''),
    'in JSON': (text) => JSON.stringify({ text }),
    'in escapes': (text) => [...text].map((character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`).join(''),
    'in entities of HTML': (text) => [...text].map((character) => `&#${character.codePointAt(0)};`).join(''),
  }
  test.each(Object.keys(dressings))('a piece of a private text is found %s', (name) => {
    const origins = withMail().originsOf({ data: `before ${dressings[name]?.(piece)} after` })
    expect(origins[0]).toMatchObject({ pointer: '/data', source: 'mail/inbox#2' })
  })

  test('a piece of private text is found in member names, and if it is split into small parts', () => {
    expect(withMail().originsOf({ [piece]: true })[0]).toMatchObject({ source: 'mail/inbox#2' })
    expect(withMail().originsOf({ parts: piece.match(/.{1,10}/gs) })[0]).toMatchObject({ pointer: '', source: 'mail/inbox#2' })
  })
})

const text = (min: number) =>
  fc
    .array(fc.tuple(fc.stringMatching(/^[a-z0-9]{2,9}$/), fc.constantFrom(' ', '\n', ', ', '. ', ' – ')), {
      minLength: min,
      maxLength: min * 3,
    })
    .map((words) => words.flat().join(''))

test('any passage of twice the piece length is found at any position', () => {
  fc.assert(
    fc.property(text(30), text(3), text(3), fc.nat(), fc.nat(), (secret, before, after, begin, more) => {
      const size = 2 * pieceLength
      const at = begin % (secret.length - size)
      const stretch = secret.slice(at, at + size + (more % 40))
      fc.pre(stretch.replace(/[^a-z0-9]/g, '').length >= pieceLength + 7)
      const flow = new FlowContext()
      flow.add({ labels: ['private:x'], source: 's', value: secret })
      expect(flow.originsOf({ a: [before + stretch + after] })[0]).toMatchObject({ pointer: '/a/0', source: 's#1' })
    }),
    { numRuns: 300 },
  )
})

test('unrelated text is not flagged', () => {
  fc.assert(
    fc.property(
      text(100),
      fc.oneof(text(100), fc.string({ maxLength: 2000 }), fc.base64String({ maxLength: 2000 }), fc.lorem({ maxCount: 50 })),
      (secret, other) => {
        const flow = new FlowContext()
        flow.add({ labels: ['private:x'], source: 's', value: `${secret}\n${'-'.repeat(100)}\n${'0'.repeat(100)}` })
        expect(flow.originsOf({ other, rule: '='.repeat(80), zeros: '0'.repeat(80), dashes: '-'.repeat(80) })).toEqual([])
      },
    ),
    { numRuns: 200 },
  )
})

describe('limits', () => {
  const words = (count: number, seed: number) =>
    Array.from({ length: count }, (_, at) => ((at + 1) * 2654435761 * seed).toString(36)).join(' ')

  test('with more private text than can be stored, long passages are still found', () => {
    const flow = new FlowContext({ pieces: 2_000 })
    const texts = Array.from({ length: 10 }, (_, at) => words(2_000, at + 1))
    for (const value of texts) flow.add({ labels: ['private:x'], source: 's', value })
    expect(flow.isThinned).toBe(true)
    for (const [at, value] of texts.entries()) expect(flow.originsOf({ value: value.slice(1_000, 6_000) })[0]?.source).toBe(`s#${at + 1}`)
  })

  test('sources over the limit share one name, and the number of named origins is limited', () => {
    const flow = new FlowContext({ sources: 3, origins: 2 })
    const texts = Array.from({ length: 5 }, (_, at) => words(50, at + 1))
    for (const value of texts) flow.add({ labels: ['private:x'], source: 's', value })
    expect(flow.originsOf({ a: texts[4] })[0]?.source).toBe('one of many later results')
    expect(flow.originsOf({ ...texts })).toHaveLength(2)
  })

  test('storing and searching private text take linear time', () => {
    expectLinear(40_000, (size) => {
      const value = words(size / 8, 3)
      return () => void new FlowContext().add({ labels: ['private:x'], source: 's', value })
    })
    const flow = new FlowContext()
    flow.add({ labels: ['private:x'], source: 's', value: words(20_000, 7) })
    for (const make of [
      (size: number) => words(size / 8, 5),
      (size: number) => 'a1b2'.repeat(size / 4),
      (size: number) => '%41\\u0041 '.repeat(size / 10),
    ])
      expectLinear(20_000, (size) => {
        const value = make(size)
        return () => void flow.originsOf({ value })
      })
  }, 60_000)
})
