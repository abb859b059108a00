/** What is wrong with rules that can be read: those that never decide anything, and those that protect less than they seem to. */

import { isEqual } from '../../protocol/schema/equality.ts'
import { rankOf } from '../consent/decide.ts'
import { DEFAULTS, LOOSENS_DEFAULT } from '../consent/defaults.ts'
import type { ArgumentTest, PolicyLayer, Rule } from '../model/rule.ts'
import { type CompiledPolicy, type CompiledRule, nameTest } from '../policy/compile-policy.ts'
import { covers } from '../policy/cover.ts'
import { hasWildcard } from '../policy/glob.ts'

export interface LintFinding {
  severity: 'error' | 'warning'
  code:
    | 'unreachable'
    | 'duplicate'
    | 'unknown-server'
    | 'unknown-tool'
    | 'unanchored'
    | 'misses'
    | 'cannot-loosen'
    | 'contradiction'
    | 'claimed-allow'
    | 'useless-grant'
    | 'unknown-root'
  rule: string
  layer: PolicyLayer
  text: string
}

/** What the host has, as far as it is known: server ids, and the names of what each offers. */
export type KnownNames = Readonly<Record<string, readonly string[]>>

/** @param known leave it out to judge the rules alone */
export function lintPolicy(policy: CompiledPolicy, known?: KnownNames): LintFinding[] {
  return policy.rules.flatMap((rule, index) => [
    ...shadowed(rule, index, policy.rules),
    ...powerless(rule, policy.rules),
    ...claimedAllow(rule),
    ...uselessGrant(rule),
    ...argumentFindings(rule, policy),
    ...(known ? unknownNames(rule, known) : []),
  ])
}

const finding = (
  { rule, layer }: CompiledRule,
  severity: LintFinding['severity'],
  code: LintFinding['code'],
  text: string,
): LintFinding => ({
  severity,
  code,
  rule: rule.id,
  layer,
  text,
})

/** Another rule always matches too, always stands, and is at least as strict: this one never makes a difference. */
function shadowed(compiled: CompiledRule, index: number, rules: readonly CompiledRule[]): LintFinding[] {
  const { rule } = compiled
  if (rule.limits || rule.grant) return []
  for (const [at, other] of rules.entries()) {
    if (other === compiled || !hides(other, compiled, rules)) continue
    const where = `rule ${other.rule.id} of the ${other.layer} layer`
    if (other.rule.effect !== rule.effect) {
      return [
        finding(compiled, 'error', 'unreachable', `It never decides: ${where} matches whenever it does, and says ${other.rule.effect}`),
      ]
    }
    // Of two that hide each other the first is the one to keep.
    if (at < index || !covers(compiled, other)) {
      return [finding(compiled, 'warning', 'duplicate', `It says no more than ${where}, which matches whenever it does`)]
    }
  }
  return []
}

function hides(other: CompiledRule, compiled: CompiledRule, rules: readonly CompiledRule[]): boolean {
  if (other.rule.mayRelax || rankOf(other.rule.effect) < rankOf(compiled.rule.effect) || !covers(other, compiled)) return false
  // Only a rule that says so allows what servers do that are not trusted.
  if (compiled.rule.effect === 'allow' && compiled.rule.match.tier !== other.rule.match.tier) return false
  // By matching it sets aside what may be relaxed, and that the other one does not do from where it stands.
  return !rules.some(({ rule, rank }) => rule.mayRelax && rank < compiled.rank && rank >= other.rank)
}

/** An `allow` that can only ever be overruled. */
function powerless(compiled: CompiledRule, rules: readonly CompiledRule[]): LintFinding[] {
  const { rule, layer, rank, kinds } = compiled
  if (rule.effect !== 'allow') return []
  if ([...kinds].every((kind) => DEFAULTS[kind].isForced)) {
    return [finding(compiled, 'error', 'cannot-loosen', `It allows nothing: a person must answer ${[...kinds].join(' and ')} each time`)]
  }
  if (LOOSENS_DEFAULT[layer]) return []
  const isLet = rules.some(
    (upper) =>
      upper.rank < rank && (upper.rule.mayRelax || upper.rule.effect === 'allow') && [...kinds].some((kind) => upper.kinds.has(kind)),
  )
  const text = `It allows nothing: rules of the ${layer} layer only tighten, and no rule of a layer above says mayRelax for this`
  return isLet ? [] : [finding(compiled, 'error', 'cannot-loosen', text)]
}

function claimedAllow(compiled: CompiledRule): LintFinding[] {
  if (compiled.rule.effect !== 'allow' || !compiled.rule.match.claimed) return []
  return [finding(compiled, 'error', 'claimed-allow', 'It never matches: what a server claims allows nothing; say it with "asserted"')]
}

function uselessGrant(compiled: CompiledRule): LintFinding[] {
  const { rule } = compiled
  if (!rule.grant) return []
  if (rule.effect === 'deny' || rule.effect === 'quarantine') {
    return [finding(compiled, 'error', 'useless-grant', `It says ${rule.effect}, which no grant answers`)]
  }
  if (rule.grant.scope === 'once' && (rule.grant.ttl !== undefined || (rule.grant.maxUses ?? 1) > 1)) {
    return [finding(compiled, 'error', 'useless-grant', 'A yes for once is used up at once: expected no ttl and no maxUses beside it')]
  }
  return []
}

function argumentFindings(compiled: CompiledRule, { policy }: CompiledPolicy): LintFinding[] {
  return Object.entries(compiled.rule.args ?? {}).flatMap(([pointer, test]) => {
    const about = (severity: LintFinding['severity'], code: LintFinding['code'], text: string): LintFinding =>
      finding(compiled, severity, code, `arguments${pointer}: ${text}`)
    const findings: LintFinding[] = []
    const loose = compiled.rule.effect === 'allow' ? unanchored(test) : undefined
    if (loose !== undefined) findings.push(about('error', 'unanchored', loose))
    for (const { severity, text } of missed(compiled.rule, pointer, test)) findings.push(about(severity, 'misses', text))
    const contradiction = contradictionIn(test)
    if (contradiction !== undefined) findings.push(about('error', 'contradiction', contradiction))
    for (const [, root] of [test.within ?? []]
      .flat()
      .join('\n')
      .matchAll(/\$\{root:([^}]+)\}/g)) {
      if (root !== undefined && !Object.hasOwn(policy.roots, root))
        findings.push(about('warning', 'unknown-root', `no root ${root} is granted now`))
    }
    return findings
  })
}

/** What lets more through than whoever wrote it may have meant. */
function unanchored({ glob, re2 }: ArgumentTest): string | undefined {
  if (re2 !== undefined && !isAnchored(re2))
    return `the expression ${JSON.stringify(re2)} is found anywhere in a text: expected ^ and $ around it`
  if (glob?.startsWith('**')) return `the pattern ${JSON.stringify(glob)} lets anything stand in front`
  return undefined
}

const PATH_POINTER = /(?:path|file|dir|directory|folder|uri|cwd|source|destination)s?(?:\/\*)?$/i
const LOOKS_LIKE_PATH = /^(?:~?\/|\.{1,2}\/|file:)|^[^\s:]+\/[^\s]+$/

/** What would get past the rule although whoever wrote it means it. */
function missed(rule: Rule, pointer: string, test: ArgumentTest): { severity: LintFinding['severity']; text: string }[] {
  const { glob, re2, eq, in: list } = test
  const found: { severity: LintFinding['severity']; text: string }[] = []
  const steps =
    glob === undefined ? undefined : /(?:^|\/)\.{1,2}(?=\/|$)|(?<!:)\/\/|(?<=.)\/$/.exec(glob.replace(/^[a-z][a-z\d+.-]*:\/\//i, ''))
  if (steps && (rule.effect !== 'allow' || steps[0].includes('.')))
    found.push({
      severity: 'error',
      text: `the pattern ${JSON.stringify(glob)} misses the path that it means: paths are tidied up first, so leave out ${JSON.stringify(steps[0])}`,
    })
  if (rule.effect === 'allow') return found
  if (glob !== undefined && PATH_POINTER.test(pointer) && /^[^/*]|^\*(?!\*)/.test(glob) && !/^(?:[a-z][a-z\d+.-]*:|~)/i.test(glob))
    found.push({
      severity: 'warning',
      text: `the pattern ${JSON.stringify(glob)} misses paths with a folder in front: expected it to begin with "/" or "**/"`,
    })
  const literal = [eq, ...(list ?? [])].find((each) => typeof each === 'string' && LOOKS_LIKE_PATH.test(each))
  if (literal !== undefined && test.within === undefined)
    found.push({
      severity: 'warning',
      text: `${JSON.stringify(literal)} is compared letter by letter, and misses the same path written otherwise: expected glob or within`,
    })
  if (re2 !== undefined && PATH_POINTER.test(pointer) && test.within === undefined && glob === undefined)
    found.push({
      severity: 'warning',
      text: `the expression ${JSON.stringify(re2)} sees a path as it is written, and misses the same path written otherwise: expected glob or within`,
    })
  return found
}

/** Every alternative that is not inside of a group must have both. */
function isAnchored(re2: string): boolean {
  const bare = re2.replace(/^\(\?[a-zA-Z]+\)/, '')
  if (/^\(\?[a-zA-Z]*m/.test(re2)) return false
  return topLevelAlternatives(bare).every((each) => /^(?:\^|\\A)/.test(each) && /(?:(?:^|[^\\])(?:\\\\)*\$|\\z)$/.test(each))
}

function topLevelAlternatives(re2: string): string[] {
  const alternatives = ['']
  let depth = 0
  for (const [token] of re2.matchAll(/\\[\s\S]|\[(?:\\[\s\S]|[^\]\\])*\]|[\s\S]/g)) {
    if (token === '(') depth++
    if (token === ')') depth--
    if (token === '|' && depth === 0) alternatives.push('')
    else alternatives.push(`${alternatives.pop()}${token}`)
  }
  return alternatives
}

function contradictionIn({ min, max, len, eq, in: list, glob, within, hostIn, cidr, re2 }: ArgumentTest): string | undefined {
  if (min !== undefined && max !== undefined && min > max) return `no number is at least ${min} and at most ${max}`
  if (len?.min !== undefined && len.max !== undefined && len.min > len.max) return `no length is at least ${len.min} and at most ${len.max}`
  if (eq !== undefined && list && !list.some((each) => isEqual(each, eq))) return `${JSON.stringify(eq)} is not in the list beside it`
  const isNumber = min !== undefined || max !== undefined
  const isText = [glob, within, hostIn, cidr, re2].some((each) => each !== undefined)
  if (isNumber && (isText || len)) return 'nothing is both a number and a text'
  if (typeof eq === 'number' && ((min !== undefined && eq < min) || (max !== undefined && eq > max)))
    return `${eq} is not in the range beside it`
  if (eq !== undefined && typeof eq !== 'string' && isText) return `${JSON.stringify(eq)} is no text`
  return undefined
}

function unknownNames(compiled: CompiledRule, known: KnownNames): LintFinding[] {
  const servers = Object.keys(known)
  const { server = '*', tool } = compiled.rule.match
  const findings: LintFinding[] = []
  for (const pattern of [server].flat()) {
    if (pattern === '*' || servers.some(nameTest(pattern))) continue
    findings.push(
      finding(compiled, 'error', 'unknown-server', `No server is called ${JSON.stringify(pattern)}; there are ${listed(servers)}`),
    )
  }
  const names = servers.filter((id) => [server].flat().some((pattern) => nameTest(pattern)(id))).flatMap((id) => known[id] ?? [])
  if (tool === undefined || findings.length > 0) return findings
  for (const pattern of [tool].flat()) {
    if (names.some(nameTest(pattern))) continue
    // A rule against what is not there yet is a precaution; one for it is a mistake.
    const severity = compiled.rule.effect === 'allow' || !hasWildcard(pattern) ? 'error' : 'warning'
    findings.push(
      finding(compiled, severity, 'unknown-tool', `Nothing there is called ${JSON.stringify(pattern)}; there are ${listed(names)}`),
    )
  }
  return findings
}

const listed = (names: readonly string[]): string =>
  names.length === 0 ? 'none' : names.length <= 10 ? names.join(', ') : `${names.slice(0, 10).join(', ')} and ${names.length - 10} more`
