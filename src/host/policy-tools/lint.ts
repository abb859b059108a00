/** Finds valid rules that never decide anything, or that protect less than they seem to. */

import { isEqual } from '../../protocol/schema/equality.ts'
import { rankOf } from '../consent/decide.ts'
import { DEFAULTS, LOOSENS_DEFAULT } from '../consent/defaults.ts'
import { allowsByName } from '../consent/guards.ts'
import { type ArgumentTest, POLICY_LAYERS, type PolicyLayer, PRESETS, type Rule, ruleName } from '../model/rule.ts'
import { type CompiledPolicy, type CompiledRule, nameTest } from '../policy/compile-policy.ts'
import { hasWildcard } from '../policy/glob.ts'
import { covers } from '../policy/rule-covers.ts'

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
    | 'asks-anyway'
    | 'contradiction'
    | 'claimed-allow'
    | 'useless-grant'
    | 'unknown-root'
  rule: string
  layer: PolicyLayer
  text: string
}

/** Server ids, and the names of everything each server offers. */
export type KnownNames = Readonly<Record<string, readonly string[]>>

/**
 * Checks the rules of a policy.
 *
 * @param known the names to check patterns against. Default: names are not checked
 * @example
 * for (const { rule, text } of lintPolicy(policy)) console.warn(`${rule}: ${text}`)
 */
export function lintPolicy(policy: CompiledPolicy, known?: KnownNames): LintFinding[] {
  return [...findLoosePreset(policy), ...policy.rules.flatMap((rule, index) => findingsOf(policy, rule, index, known))]
}

const findingsOf = (policy: CompiledPolicy, rule: CompiledRule, index: number, known: KnownNames | undefined): LintFinding[] => [
  ...findShadowed(rule, index, policy.rules),
  ...findPowerless(rule, policy.rules),
  ...findAskingAnyway(rule),
  ...findClaimedAllow(rule),
  ...findUselessGrant(rule),
  ...checkArgumentTests(rule, policy),
  ...(known ? findUnknownNames(rule, known) : []),
]

/** Finds presets without effect, because another layer names a stricter one. */
function findLoosePreset({ policy: { presets = {} }, preset }: CompiledPolicy): LintFinding[] {
  return POLICY_LAYERS.flatMap((layer) => {
    const named = presets[layer]
    if (named === undefined || PRESETS.indexOf(named) >= PRESETS.indexOf(preset)) return []
    const why =
      layer === 'project' ? `a project can only name a stricter preset than ${preset}` : `another layer names the preset ${preset}`
    const text = `The preset ${named} has no effect: ${why}`
    return [{ severity: 'warning', code: 'cannot-loosen', rule: 'preset', layer, text } as const]
  })
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

/** A rule that makes no difference: another rule always matches too, always applies, and is at least as strict. */
function findShadowed(compiled: CompiledRule, index: number, rules: readonly CompiledRule[]): LintFinding[] {
  const { rule } = compiled
  if (rule.limits || rule.grant) return []
  for (const [at, other] of rules.entries()) {
    if (other === compiled || !hides(other, compiled, rules)) continue
    const where = `rule ${ruleName(other.rule.id)} of the ${other.layer} layer`
    if (other.rule.effect !== rule.effect) {
      return [
        finding(
          compiled,
          'error',
          'unreachable',
          `This rule never decides: ${where} matches every action that this rule matches, and has the stricter effect ${other.rule.effect}`,
        ),
      ]
    }
    // If two rules shadow each other, only the second one is reported.
    if (at < index || !covers(compiled, other)) {
      return [
        finding(compiled, 'warning', 'duplicate', `This rule adds nothing to ${where}, which matches every action that this rule matches`),
      ]
    }
  }
  return []
}

function hides(other: CompiledRule, compiled: CompiledRule, rules: readonly CompiledRule[]): boolean {
  if (other.rule.mayRelax || rankOf(other.rule.effect) < rankOf(compiled.rule.effect) || !covers(other, compiled)) return false
  // Servers that a rule names, and untrusted servers of a rule with that tier, are asked about less, so these make a difference.
  if (compiled.rule.effect === 'allow' && compiled.rule.match.tier !== other.rule.match.tier) return false
  if (other.rule.effect === 'allow' && allowsByName(compiled) && !allowsByName(other)) return false
  // A match in this layer sets aside rules with `mayRelax` in the layers above, which a match of the other rule does not.
  return !rules.some(({ rule, rank }) => rule.mayRelax && rank < compiled.rank && rank >= other.rank)
}

/** An `allow` that can never take effect. */
function findPowerless(compiled: CompiledRule, rules: readonly CompiledRule[]): LintFinding[] {
  const { rule, layer, rank, kinds } = compiled
  if (rule.effect !== 'allow') return []
  if ([...kinds].every((kind) => DEFAULTS[kind].isForced)) {
    return [
      finding(compiled, 'error', 'cannot-loosen', `This rule allows nothing: a person must always answer ${[...kinds].join(' and ')}`),
    ]
  }
  if (LOOSENS_DEFAULT[layer]) return []
  const isLet = rules.some(
    (upper) =>
      upper.rank < rank && (upper.rule.mayRelax || upper.rule.effect === 'allow') && [...kinds].some((kind) => upper.kinds.has(kind)),
  )
  const text = `This rule allows nothing: the ${layer} layer can only tighten, and no rule of a layer above has mayRelax for this action`
  return isLet ? [] : [finding(compiled, 'error', 'cannot-loosen', text)]
}

/** An `allow` that questions of the host can still follow, because it does not name its servers. */
function findAskingAnyway(compiled: CompiledRule): LintFinding[] {
  const { rule, layer, kinds } = compiled
  const { claimed, asserted, tier } = rule.match
  if (rule.effect !== 'allow' || !LOOSENS_DEFAULT[layer] || claimed || asserted || allowsByName(compiled)) return []
  if (![...kinds].some((kind) => DEFAULTS[kind].hasHints)) return []
  const who = tier === undefined ? 'calls of untrusted servers, and of tools' : 'calls of tools'
  const text = `This rule does not name its servers in full, so you are still asked about ${who} that declare themselves destructive or open-world. Write the names of the servers to allow them`
  return [finding(compiled, 'warning', 'asks-anyway', text)]
}

function findClaimedAllow(compiled: CompiledRule): LintFinding[] {
  if (compiled.rule.effect !== 'allow' || !compiled.rule.match.claimed) return []
  return [finding(compiled, 'error', 'claimed-allow', 'This rule never matches: hints of the server never allow anything. Use "asserted"')]
}

function findUselessGrant(compiled: CompiledRule): LintFinding[] {
  const { rule } = compiled
  if (!rule.grant) return []
  if (rule.effect === 'deny' || rule.effect === 'quarantine') {
    return [finding(compiled, 'error', 'useless-grant', `A grant has no meaning for the effect ${rule.effect}`)]
  }
  if (rule.grant.scope === 'once' && (rule.grant.ttl !== undefined || (rule.grant.maxUses ?? 1) > 1)) {
    return [finding(compiled, 'error', 'useless-grant', 'A grant with the scope once is used up at once: expected no ttl and no maxUses')]
  }
  return []
}

function checkArgumentTests(compiled: CompiledRule, { policy }: CompiledPolicy): LintFinding[] {
  return Object.entries(compiled.rule.args ?? {}).flatMap(([pointer, test]) => {
    const about = (severity: LintFinding['severity'], code: LintFinding['code'], text: string): LintFinding =>
      finding(compiled, severity, code, `arguments${pointer}: ${text}`)
    const findings: LintFinding[] = []
    const loose = compiled.rule.effect === 'allow' ? findUnanchored(test) : undefined
    if (loose !== undefined) findings.push(about('error', 'unanchored', loose))
    for (const { severity, text } of findMissed(compiled.rule, pointer, test)) findings.push(about(severity, 'misses', text))
    const contradiction = findContradiction(test)
    if (contradiction !== undefined) findings.push(about('error', 'contradiction', contradiction))
    for (const [, root] of [test.within ?? []]
      .flat()
      .join('\n')
      .matchAll(/\$\{root:([^}]+)\}/g)) {
      if (root !== undefined && !Object.hasOwn(policy.roots, root))
        findings.push(about('warning', 'unknown-root', `the root ${root} is not granted at present`))
    }
    return findings
  })
}

/** A test that probably matches more than intended. */
function findUnanchored({ glob, re2 }: ArgumentTest): string | undefined {
  if (re2 !== undefined && !isAnchored(re2))
    return `the expression ${JSON.stringify(re2)} matches anywhere in a text: expected ^ and $ around it`
  if (glob?.startsWith('**')) return `the pattern ${JSON.stringify(glob)} begins with **, so it accepts any beginning of the text`
  return undefined
}

const PATH_POINTER = /(?:path|file|dir|directory|folder|uri|cwd|source|destination)s?(?:\/\*)?$/i
const LOOKS_LIKE_PATH = /^(?:~?\/|\.{1,2}\/|file:)|^[^\s:]+\/[^\s]+$/

/** Values that the rule probably means but does not match. */
function findMissed(rule: Rule, pointer: string, test: ArgumentTest): { severity: LintFinding['severity']; text: string }[] {
  const { glob, re2, eq, in: list } = test
  const found: { severity: LintFinding['severity']; text: string }[] = []
  const steps =
    glob === undefined ? undefined : /(?:^|\/)\.{1,2}(?=\/|$)|(?<!:)\/\/|(?<=.)\/$/.exec(glob.replace(/^[a-z][a-z\d+.-]*:\/\//i, ''))
  if (steps && (rule.effect !== 'allow' || steps[0].includes('.')))
    found.push({
      severity: 'error',
      text: `the pattern ${JSON.stringify(glob)} never matches: paths are normalized first, so leave out ${JSON.stringify(steps[0])}`,
    })
  if (rule.effect === 'allow') return found
  if (glob !== undefined && PATH_POINTER.test(pointer) && /^[^/*]|^\*(?!\*)/.test(glob) && !/^(?:[a-z][a-z\d+.-]*:|~)/i.test(glob))
    found.push({
      severity: 'warning',
      text: `the pattern ${JSON.stringify(glob)} misses paths with a folder before it: expected "/" or "**/" at the beginning`,
    })
  const literal = [eq, ...(list ?? [])].find((each) => typeof each === 'string' && LOOKS_LIKE_PATH.test(each))
  if (literal !== undefined && test.within === undefined)
    found.push({
      severity: 'warning',
      text: `${JSON.stringify(literal)} is compared literally and misses other spellings of the same path: use glob or within instead`,
    })
  if (re2 !== undefined && PATH_POINTER.test(pointer) && test.within === undefined && glob === undefined)
    found.push({
      severity: 'warning',
      text: `the expression ${JSON.stringify(re2)} is matched against the path as written and misses other spellings of it: use glob or within instead`,
    })
  return found
}

/** Every top-level alternative must have both anchors. */
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

function findContradiction({ min, max, len, eq, in: list, glob, within, hostIn, cidr, re2 }: ArgumentTest): string | undefined {
  if (min !== undefined && max !== undefined && min > max) return `no number is at least ${min} and at most ${max}`
  if (len?.min !== undefined && len.max !== undefined && len.min > len.max) return `no length is at least ${len.min} and at most ${len.max}`
  if (eq !== undefined && list && !list.some((each) => isEqual(each, eq))) return `${JSON.stringify(eq)} is not in the list of "in"`
  const isNumber = min !== undefined || max !== undefined
  const isText = [glob, within, hostIn, cidr, re2].some((each) => each !== undefined)
  if (isNumber && (isText || len)) return 'no value is both a number and text'
  if (typeof eq === 'number' && ((min !== undefined && eq < min) || (max !== undefined && eq > max)))
    return `${eq} is not between min and max`
  if (eq !== undefined && typeof eq !== 'string' && isText) return `${JSON.stringify(eq)} is not text`
  return undefined
}

function findUnknownNames(compiled: CompiledRule, known: KnownNames): LintFinding[] {
  const servers = Object.keys(known)
  const { server = '*', tool } = compiled.rule.match
  const findings: LintFinding[] = []
  for (const pattern of [server].flat()) {
    if (pattern === '*' || servers.some(nameTest(pattern))) continue
    findings.push(
      finding(compiled, 'error', 'unknown-server', `No server matches ${JSON.stringify(pattern)}; known servers: ${listed(servers)}`),
    )
  }
  const names = servers.filter((id) => [server].flat().some((pattern) => nameTest(pattern)(id))).flatMap((id) => known[id] ?? [])
  if (tool === undefined || findings.length > 0) return findings
  for (const pattern of [tool].flat()) {
    if (names.some(nameTest(pattern))) continue
    // Forbidding a tool that does not exist yet can be a precaution; allowing one is a mistake.
    const severity = compiled.rule.effect === 'allow' || !hasWildcard(pattern) ? 'error' : 'warning'
    findings.push(
      finding(
        compiled,
        severity,
        'unknown-tool',
        `No tool, prompt or resource matches ${JSON.stringify(pattern)}; known names: ${listed(names)}`,
      ),
    )
  }
  return findings
}

const listed = (names: readonly string[]): string =>
  names.length === 0 ? 'none' : names.length <= 10 ? names.join(', ') : `${names.slice(0, 10).join(', ')} and ${names.length - 10} more`
