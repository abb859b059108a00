/** What holds where no rule says anything, kind by kind; a table to be read, and nothing else decides by kind. */

import type { ActionKind, Effect } from '../model/action.ts'
import type { GrantScope } from '../model/grant.ts'
import type { PolicyLayer } from '../model/rule.ts'

export interface KindDefaults {
  effect: Effect
  /** The same where the person started it, of something pinned or of something that has no definition to pin. */
  byUser: Effect
  /**
   * Whether the primitive must be as it was approved. `required`: also refuses what has no primitive. `if-any`: a URI
   * that no list has stands for itself, and what a server asks stands on its capabilities, while the host asks for itself. `none`: not a use of a primitive, or the very way to have it approved.
   */
  pin: 'required' | 'if-any' | 'none'
  /** Only a person can give what is asked for: no grant and no bypass answers. */
  isForced: boolean
  /** The person who asked not to be asked is still asked: it is about who is let in, not about what those inside do. */
  defiesBypass: boolean
  /** The hints of a tool say what it does: see hints.ts. */
  hasHints: boolean
  /** What the conversation knows can leave with it. */
  carriesOut: boolean
  /** The same three times in a row is a loop. */
  mayLoop: boolean
  /** The longest a yes may be kept for, where no rule says it. */
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
  'app.call': { ...ORDINARY, pin: 'required', hasHints: true, carriesOut: true, mayLoop: true },
  'task.cancel': { ...ORDINARY, byUser: 'allow', keep: 'session' },
  'task.update': { ...ORDINARY, byUser: 'allow', keep: 'session' },
  'config.import': { ...ORDINARY, defiesBypass: true, keep: 'once' },
}

/** A server that is not configured gets nothing, except that it may become configured. */
export const NEEDS_NO_SERVER: ReadonlySet<ActionKind> = new Set<ActionKind>(['config.import'])

/**
 * The layers whose rules may say `allow` where the table says `ask`. A project is a folder that somebody else may have
 * written: its rules tighten, and loosen only what a rule above lets them.
 */
export const LOOSENS_DEFAULT: Readonly<Record<PolicyLayer, boolean>> = { managed: true, user: true, project: false, session: true }

/** Where hints or the tier say that more care is due, a yes is kept no longer than this unless a rule says so. */
export const KEEP_DESTRUCTIVE: GrantScope = 'turn'
export const KEEP_OPEN_OR_UNTRUSTED: GrantScope = 'session'

/** This many of the same call in a row are a loop. */
export const LOOP_AT = 3

/** How long a yes lasts where no rule says it. */
export const DEFAULT_GRANT_TTL_MS = 30 * 24 * 60 * 60 * 1000

/** Each kind as people would say it, after "No rule covers". */
export const KIND_WORDS: Readonly<Record<ActionKind, string>> = {
  'server.launch': 'starting a server',
  'server.connect': 'connecting to a server',
  'server.approve': 'taking what a server offers into use',
  'tool.call': 'calling this tool',
  'tool.result': 'letting in the result of this tool',
  'resource.read': 'reading this resource',
  'resource.result': 'letting in what was read',
  'resource.subscribe': 'subscribing to this resource',
  'prompt.get': 'getting this prompt',
  'prompt.result': 'letting in the messages of this prompt',
  'argument.complete': 'sending what you type to the server for suggestions',
  'sampling.create': 'asking a model for this server',
  'sampling.deliver': 'giving the answer of the model to the server',
  'elicit.form': 'a form of a server',
  'elicit.url': 'opening a page for a server',
  'roots.expose': 'telling a server about your folders',
  'app.open': 'opening this app',
  'app.call': 'a call by an app',
  'task.cancel': 'cancelling a task',
  'task.update': 'answering a task',
  'config.import': 'taking over servers of other clients',
}
