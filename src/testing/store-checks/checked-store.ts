/**
 * A store whose answers are checked for their form, and whose last method is noted: the error of a check alone would not say which method
 * is wrong.
 */

import { isObject } from '../../base/json.ts'
import type { SharedStore } from '../../store/shared-store.ts'

/** What a method resolves with. */
interface Form {
  expected: string
  fits(value: unknown): boolean
}

const isText = (value: unknown): boolean => typeof value === 'string'
const isCount = (value: unknown): boolean => typeof value === 'number'
const isNothing = (value: unknown): boolean => value === undefined
const isListOf =
  (fits: (value: unknown) => boolean) =>
  (value: unknown): boolean =>
    Array.isArray(value) && value.every(fits)

type Members = Readonly<Record<string, (value: unknown) => boolean>>

const has =
  (members: Members) =>
  (value: unknown): boolean =>
    isObject(value) && Object.entries(members).every(([name, fits]) => fits(value[name]))

const form = (expected: string, fits: (value: unknown) => boolean): Form => ({ expected, fits })
const FLAG = form('true or false', (value) => typeof value === 'boolean')
const TEXT_OR_NOTHING = form('a text or undefined', (value) => isText(value) || isNothing(value))
const TEXT = form('a text', isText)
const TEXTS = form('a list of texts', isListOf(isText))
const COUNT = form('a number', isCount)

/** An object with these members, or one of the words. */
function oneOf(words: readonly string[], members: Members, fits?: (value: unknown) => boolean): Form {
  const object = fits ?? has(members)
  const names = Object.keys(members)
  const expected = [
    ...(names.length > 0 ? [`an object with ${names.join(', ')}`] : []),
    ...words.map((word) => (word === 'undefined' ? word : JSON.stringify(word))),
  ].join(' or ')
  return form(expected, (value) =>
    value === undefined ? words.includes('undefined') : isText(value) ? words.includes(value as string) : object(value),
  )
}

const READ: Members = {
  events: isListOf(has({ position: isText, json: isText })),
  isOver: FLAG.fits,
  next: TEXT_OR_NOTHING.fits,
}

const HEAD: Members = { taskId: isText, owner: isText, account: isText, edition: isCount, status: isText, lease: isObject }
const HEADS = form(`a list of objects with ${Object.keys(HEAD).join(', ')}`, isListOf(has(HEAD)))

const FORMS: Readonly<Record<string, Readonly<Record<string, Form | undefined>>>> = {
  sessions: {
    create: undefined,
    enter: oneOf(['gone', 'duplicate', 'full'], {
      record: isText,
      revision: isCount,
      isTopicRenewalDue: FLAG.fits,
      isCancelled: FLAG.fits,
    }),
    leave: undefined,
    replace: FLAG,
    end: FLAG,
    idle: form(
      'a list of objects with record and idleMs, or "gone"',
      isListOf((value) => value === 'gone' || has({ record: TEXT_OR_NOTHING.fits })(value)),
    ),
    endIdle: FLAG,
    cancel: TEXT_OR_NOTHING,
    cancelled: TEXTS,
  },
  streams: {
    open: form('an epoch (a number), "gone" or "exists"', (value) => isCount(value) || value === 'gone' || value === 'exists'),
    append: oneOf(['gone', 'fenced'], { positions: isListOf(TEXT_OR_NOTHING.fits), reader: TEXT_OR_NOTHING.fits }),
    attach: oneOf(['gone', 'lost', 'superseded'], { ...READ, reader: isCount, from: isText }),
    read: oneOf(['gone', 'lost', 'superseded'], READ),
    detach: undefined,
    answer: oneOf(['accepted', 'duplicate', 'unknown'], {}, () => false),
    answers: form(
      'an object with the answers by question, "gone" or "fenced"',
      (value) => value === 'gone' || value === 'fenced' || isObject(value),
    ),
    settle: undefined,
    record: FLAG,
    takeOver: oneOf(['undefined'], { epoch: isCount, call: isText, journal: isObject, answers: isObject, questions: TEXTS.fits }),
  },
  replica: {
    join: undefined,
    send: FLAG,
    broadcast: undefined,
    claimDead: oneOf(['undefined'], { replica: isText, streams: isListOf(has({ sid: isText, stream: isText })) }),
    leave: undefined,
  },
  topics: {
    add: undefined,
    remove: undefined,
    page: oneOf([], { members: TEXTS.fits, next: TEXT_OR_NOTHING.fits }),
    size: COUNT,
    sample: TEXTS,
  },
  counters: {
    take: oneOf([], { tokens: isCount, waitMs: isCount }),
    hold: COUNT,
    first: FLAG,
    lock: TEXT_OR_NOTHING,
    extend: FLAG,
    unlock: FLAG,
    keep: TEXT,
    kept: TEXT_OR_NOTHING,
    put: undefined,
    forget: undefined,
  },
  tasks: {
    create: oneOf(['account-full', 'store-full', 'undefined'], {}, () => false),
    read: oneOf(['undefined'], { ...HEAD, params: isObject, journal: isObject }),
    head: oneOf(['undefined'], HEAD),
    replace: FLAG,
    renew: FLAG,
    remove: undefined,
    list: HEADS,
    neglected: HEADS,
  },
}

const MAX_SHOWN = 200

/**
 * The same store. A method that is missing, throws, or resolves with something else than `SharedStore` says, is an error that names it.
 *
 * @param onCall called with the name of each method before it is called
 */
export function checkedStore(store: SharedStore, onCall: (method: string) => void): SharedStore {
  // A store need not have tasks.
  const present = Object.entries(FORMS).filter(([name]) => isObject(Reflect.get(store, name)))
  const parts = new Map(present.map(([name, forms]) => [name, checkedPart(name, Reflect.get(store, name) as object, forms, onCall)]))
  return passing(store, (name) => parts.get(name))
}

function checkedPart(
  part: string,
  of: object,
  forms: Readonly<Record<string, Form | undefined>>,
  onCall: (method: string) => void,
): object {
  const checked = Object.entries(forms).map(([name, expected]) => {
    const expect = (what: string, got: unknown, fits: boolean): void => {
      if (!fits)
        throw new Error(`SharedStore, ${part}.${name}: expected ${what}, got ${(JSON.stringify(got) ?? 'nothing').slice(0, MAX_SHOWN)}`)
    }
    const method = async (...args: unknown[]): Promise<unknown> => {
      const member: unknown = Reflect.get(of, name, of)
      expect('a method', member, typeof member === 'function')
      onCall(`${part}.${name}`)
      const value: unknown = await Reflect.apply(member as () => unknown, of, args)
      if (expected) expect(expected.expected, value, expected.fits(value))
      return value
    }
    return [name, method] as const
  })
  const methods = new Map(checked)
  return passing(of, (name) => methods.get(name))
}

/** An object with some other members, which may be frozen. The rest is called on the object itself, which may have private members. */
const passing = <Of extends object>(of: Of, memberOf: (name: string) => unknown): Of =>
  new Proxy({} as Of, {
    get: (_none, name) => {
      const other = memberOf(String(name))
      if (other !== undefined) return other
      const member: unknown = Reflect.get(of, name, of)
      return typeof member === 'function' ? (member.bind(of) as unknown) : member
    },
  })
