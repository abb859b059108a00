/** The supported dialects of JSON Schema and their differences. */

import { asText } from '../../base/as-text.ts'

export interface Dialect {
  name: string
  /** `items` may be a list of schemas, with `additionalItems` for the rest. */
  hasItemLists: boolean
  /** Keywords beside `$ref` are ignored. */
  refStandsAlone: boolean
  /** Items that match `contains` count as evaluated for `unevaluatedItems`. */
  countsContained: boolean
  /** Keywords of other dialects, which are ignored in this one. */
  lacks: readonly string[]
}

/** The dialect that `$schema` names. Default: 2020-12. */
export function findDialect(named: unknown): Dialect | undefined {
  if (named === undefined) return DIALECTS[DEFAULT_DIALECT]
  const key = asText(named)
    .replace(/#$/, '')
    .replace(/^https?:\/\/json-schema\.org\/draft-/, 'http://json-schema.org/draft-')
  return Object.hasOwn(DIALECTS, key) ? DIALECTS[key] : undefined
}

/** Removes the keywords that the dialect does not have. */
export function knownKeywords(schema: Keywords, { lacks }: Dialect): Keywords {
  if (!lacks.some((keyword) => Object.hasOwn(schema, keyword))) return schema
  return Object.fromEntries(Object.entries(schema).filter(([keyword]) => !lacks.includes(keyword)))
}

type Keywords = { readonly [keyword: string]: unknown }

const LACKING_IN_2019 = ['prefixItems', '$dynamicRef', '$dynamicAnchor']
const LACKING_IN_7 = [
  ...LACKING_IN_2019,
  ...['$anchor', '$recursiveRef', '$recursiveAnchor', 'dependentRequired', 'dependentSchemas'],
  ...['minContains', 'maxContains', 'unevaluatedItems', 'unevaluatedProperties'],
]
const LACKING_IN_6 = [...LACKING_IN_7, 'if', 'then', 'else']

const DEFAULT_DIALECT = 'https://json-schema.org/draft/2020-12/schema'

const DIALECTS: Readonly<Record<string, Dialect>> = {
  [DEFAULT_DIALECT]: {
    name: '2020-12',
    hasItemLists: false,
    refStandsAlone: false,
    countsContained: true,
    lacks: ['$recursiveRef', '$recursiveAnchor', 'additionalItems'],
  },
  'https://json-schema.org/draft/2019-09/schema': {
    name: '2019-09',
    hasItemLists: true,
    refStandsAlone: false,
    countsContained: false,
    lacks: LACKING_IN_2019,
  },
  'http://json-schema.org/draft-07/schema': {
    name: 'draft-07',
    hasItemLists: true,
    refStandsAlone: true,
    countsContained: false,
    lacks: LACKING_IN_7,
  },
  'http://json-schema.org/draft-06/schema': {
    name: 'draft-06',
    hasItemLists: true,
    refStandsAlone: true,
    countsContained: false,
    lacks: LACKING_IN_6,
  },
}

export const DIALECT_NAMES: readonly string[] = Object.values(DIALECTS).map(({ name }) => name)
