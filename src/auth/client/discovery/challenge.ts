/**
 * Parses the WWW-Authenticate headers of a refused request (RFC 9110, section 11.6.1). One header may contain several
 * challenges, and a comma may separate challenges, separate parameters, or be part of a quoted string.
 */

export interface Challenge {
  /** In lower case. */
  scheme: string
  /** Names in lower case. The first of several parameters with the same name counts. */
  params: ReadonlyMap<string, string>
}

/** Far more than real servers send. The rest is ignored. */
const MAX_LENGTH = 16 * 1024
const MAX_CHALLENGES = 16
const MAX_PARAMS = 32

const TOKEN = /[!#$%&'*+\-.^_`|~0-9A-Za-z]+/y
const TOKEN68 = /[A-Za-z0-9\-._~+/]+=*(?=[ \t]*(?:,|$))/y
const EQUALS = /[ \t]*=[ \t]*/y
const QUOTED = /"((?:[^"\\]|\\[\s\S])*)"/y
const SEPARATOR = /[ \t,]+/y
const SPACE = /[ \t]+/y

/** Ignores everything after the first syntax error of a header. */
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
    // Some schemes have a token68 value instead of parameters.
    take(TOKEN68)
  }
  return found
}

const unescaped = (text: string): string => text.replace(/\\([\s\S])/g, '$1')

/** The requirements of the challenges for an OAuth client. */
export interface OAuthChallenge {
  /** Whether there is a Bearer challenge. */
  offersBearer: boolean
  /** Whether there is a DPoP challenge. */
  offersDpop: boolean
  /** Whether there are only challenges of other schemes, such as an API key. */
  isOther: boolean
  resourceMetadata: string | undefined
  /** The scopes that the operation requires. */
  scope: string | undefined
  error: string | undefined
}

/** Combines the parameters of the Bearer and DPoP challenges. */
export function oauthChallengeOf(challenges: readonly Challenge[]): OAuthChallenge {
  const known = challenges.filter(({ scheme }) => scheme === 'bearer' || scheme === 'dpop')
  const first = (name: string): string | undefined => known.map(({ params }) => params.get(name)).find((value) => value !== undefined)
  return {
    offersBearer: known.some(({ scheme }) => scheme === 'bearer'),
    offersDpop: known.some(({ scheme }) => scheme === 'dpop'),
    isOther: challenges.length > 0 && known.length === 0,
    resourceMetadata: first('resource_metadata'),
    scope: first('scope'),
    error: first('error'),
  }
}
