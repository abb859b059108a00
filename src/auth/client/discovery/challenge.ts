/**
 * The challenges of a refused request. One header may hold several, there may be several headers, and a comma may
 * separate challenges, separate parameters, or stand in a quoted string.
 *
 * @see RFC 9110, section 11.6.1
 */

export interface Challenge {
  /** In lower case. */
  scheme: string
  /** Names in lower case. Of a parameter that comes twice the first counts. */
  params: ReadonlyMap<string, string>
}

/** What a server may send of it; more is not looked at. */
const MAX_LENGTH = 16 * 1024
const MAX_CHALLENGES = 16
const MAX_PARAMS = 32

const TOKEN = /[!#$%&'*+\-.^_`|~0-9A-Za-z]+/y
const TOKEN68 = /[A-Za-z0-9\-._~+/]+=*(?=[ \t]*(?:,|$))/y
const EQUALS = /[ \t]*=[ \t]*/y
const QUOTED = /"((?:[^"\\]|\\[\s\S])*)"/y
const SEPARATOR = /[ \t,]+/y
const SPACE = /[ \t]+/y

/** Reads as far as it makes sense. */
export function parseChallenges(header: string | readonly string[] | undefined): Challenge[] {
  if (header === undefined) return []
  const lines = typeof header === 'string' ? [header] : header
  return lines.flatMap((line) => parseLine(line.slice(0, MAX_LENGTH))).slice(0, MAX_CHALLENGES)
}

function parseLine(line: string): Challenge[] {
  const found: { scheme: string; params: Map<string, string> }[] = []
  let at = 0
  const take = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at
    const match = pattern.exec(line)
    if (!match) return undefined
    at = pattern.lastIndex
    return match[1] ?? match[0]
  }
  while (at < line.length) {
    take(SEPARATOR)
    const name = take(TOKEN)
    if (name === undefined) break
    const current = found.at(-1)
    if (current && take(EQUALS) !== undefined) {
      const quoted = take(QUOTED)
      const value = quoted === undefined ? take(TOKEN) : unescaped(quoted)
      if (value === undefined) break
      const key = name.toLowerCase()
      if (!current.params.has(key) && current.params.size < MAX_PARAMS) current.params.set(key, value)
      continue
    }
    if (found.length >= MAX_CHALLENGES) break
    found.push({ scheme: name.toLowerCase(), params: new Map() })
    if (take(SPACE) === undefined) continue
    // Credentials in one piece, as some schemes have instead of parameters.
    take(TOKEN68)
  }
  return found
}

const unescaped = (text: string): string => text.replace(/\\([\s\S])/g, '$1')

/** What the challenges ask of an OAuth client. */
export interface OAuthChallenge {
  /** The schemes of ours that are offered. */
  offersBearer: boolean
  offersDpop: boolean
  resourceMetadata: string | undefined
  /** The scopes the operation needs. */
  scope: string | undefined
  error: string | undefined
}

/** A parameter counts for whichever of our schemes it comes with. */
export function oauthChallengeOf(challenges: readonly Challenge[]): OAuthChallenge {
  const ours = challenges.filter(({ scheme }) => scheme === 'bearer' || scheme === 'dpop')
  const first = (name: string): string | undefined => ours.map(({ params }) => params.get(name)).find((value) => value !== undefined)
  return {
    offersBearer: ours.some(({ scheme }) => scheme === 'bearer'),
    offersDpop: ours.some(({ scheme }) => scheme === 'dpop'),
    resourceMetadata: first('resource_metadata'),
    scope: first('scope'),
    error: first('error'),
  }
}
