/** The default effect and properties of each kind of action. */

import type { ActionKind, Effect } from '../model/action.ts'
import type { GrantScope } from '../model/grant.ts'
import type { PolicyLayer } from '../model/rule.ts'

export interface KindDefaults {
  effect: Effect
  /** The effect when the person started it and the definition is approved, or there is no definition. */
  byUser: Effect
  /**
   * Whether the primitive must be approved. `required`: always. `if-any`: only if there is one, because unlisted URIs and requests of
   * the host have none. `none`: the action uses no primitive, or is itself the approval.
   */
  pin: 'required' | 'if-any' | 'none'
  /** Only a person can answer: neither grants nor bypass satisfy the question. */
  isForced: boolean
  /** Asked even with bypass, because it adds or changes a server. */
  defiesBypass: boolean
  /** Tool hints apply: see hints.ts. */
  hasHints: boolean
  /** Can carry data of the conversation to the server. */
  carriesOut: boolean
  /** Repetitions that the person did not start are checked for a loop. */
  mayLoop: boolean
  /** The longest scope of a grant. Default where no rule sets one. */
  keep: GrantScope
}

const ORDINARY: KindDefaults = {
  effect: 'ask',
  byUser: 'ask',
  pin: 'none',
  isForced: false,
  defiesBypass: false,
  hasHints: false,
  carriesOut: false,
  mayLoop: false,
  keep: 'always',
}

export const DEFAULTS: Readonly<Record<ActionKind, KindDefaults>> = {
  'server.launch': { ...ORDINARY, defiesBypass: true },
  'server.connect': { ...ORDINARY, defiesBypass: true },
  'server.approve': { ...ORDINARY, defiesBypass: true, keep: 'once' },
  'tool.call': { ...ORDINARY, byUser: 'allow', pin: 'required', hasHints: true, carriesOut: true, mayLoop: true },
  'tool.result': { ...ORDINARY, effect: 'allow', byUser: 'allow', keep: 'session' },
  'resource.read': { ...ORDINARY, byUser: 'allow', pin: 'if-any', carriesOut: true, mayLoop: true },
  'resource.result': { ...ORDINARY, effect: 'allow', byUser: 'allow', keep: 'session' },
  'resource.subscribe': { ...ORDINARY, byUser: 'allow', pin: 'if-any', carriesOut: true },
  'prompt.get': { ...ORDINARY, byUser: 'allow', pin: 'required', carriesOut: true, mayLoop: true },
  'prompt.result': { ...ORDINARY, effect: 'allow', byUser: 'allow', keep: 'session' },
  'argument.complete': { ...ORDINARY, byUser: 'allow', pin: 'required', carriesOut: true, keep: 'session' },
  'sampling.create': { ...ORDINARY, byUser: 'allow', pin: 'if-any', mayLoop: true, keep: 'session' },
  'sampling.deliver': { ...ORDINARY, byUser: 'allow', pin: 'if-any', carriesOut: true, keep: 'session' },
  'elicit.form': { ...ORDINARY, pin: 'if-any', isForced: true, keep: 'once' },
  'elicit.url': { ...ORDINARY, pin: 'if-any', isForced: true, keep: 'once' },
  'roots.expose': { ...ORDINARY, pin: 'if-any' },
  'app.open': { ...ORDINARY, byUser: 'allow', pin: 'if-any' },
  // A view may refresh its data again and again; the limits of the bridge bound it.
  'app.call': { ...ORDINARY, pin: 'required', hasHints: true, carriesOut: true },
  'app.message': { ...ORDINARY, pin: 'if-any', isForced: true, keep: 'once' },
  'task.cancel': { ...ORDINARY, byUser: 'allow', keep: 'session' },
  'task.update': { ...ORDINARY, byUser: 'allow', keep: 'session' },
  'config.import': { ...ORDINARY, defiesBypass: true, keep: 'once' },
}

/** Actions allowed for a server that is not configured yet. */
export const NEEDS_NO_SERVER: ReadonlySet<ActionKind> = new Set<ActionKind>(['config.import'])

/**
 * The layers whose rules may loosen a default. Others may have written the files of a project, so its rules only tighten, unless a
 * rule of a higher layer is marked `mayRelax`.
 */
export const LOOSENS_DEFAULT: Readonly<Record<PolicyLayer, boolean>> = { managed: true, user: true, project: false, session: true }

/** The longest scopes of grants that cover other arguments of destructive and open-world tools, where no rule sets one. */
export const KEEP_DESTRUCTIVE: GrantScope = 'turn'
export const KEEP_OPEN_WORLD: GrantScope = 'session'

/** This number of identical calls in a row counts as a loop. */
export const LOOP_AT = 3

/** Each kind in words, after "You have no rule for". */
export const KIND_WORDS: Readonly<Record<ActionKind, string>> = {
  'server.launch': 'starting a server',
  'server.connect': 'connecting to a server',
  'server.approve': 'approving what a server offers',
  'tool.call': 'this tool',
  'tool.result': 'using the result of this tool',
  'resource.read': 'reading this resource',
  'resource.result': 'using the resource that was read',
  'resource.subscribe': 'subscribing to this resource',
  'prompt.get': 'getting this prompt',
  'prompt.result': 'using the messages of this prompt',
  'argument.complete': 'sending your input to the server for suggestions',
  'sampling.create': 'asking a model for this server',
  'sampling.deliver': 'sending the answer of the model to the server',
  'elicit.form': 'answering a form of a server',
  'elicit.url': 'opening a page for a server',
  'roots.expose': 'sharing your folders with a server',
  'app.open': 'opening this app',
  'app.call': 'a call by an app',
  'app.message': 'a message of an app in your name',
  'task.cancel': 'cancelling a task',
  'task.update': 'answering a task',
  'config.import': 'importing servers of other clients',
}
