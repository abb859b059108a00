/** The contract between a host and an asker: terminal, inbox, test, or your own. */

import type { PersonUrl } from '../../base/address/person-url.ts'
import type { ContentBlock } from '../../protocol/model/content.ts'
import type { FormSchema } from '../../protocol/model/elicitation.ts'
import type { CreateMessageParams, CreateMessageResult } from '../../protocol/model/sampling.ts'
import type { CallToolResult, Tool } from '../../protocol/model/tools.ts'
import type { ActionKind } from './action.ts'
import type { PinDifference } from './difference.ts'
import type { GrantScope } from './grant.ts'
import type { PrimitiveKind } from './offering.ts'
import type { ArgumentRules } from './rule.ts'

/** Texts are as the server wrote them. An asker must make control and invisible characters visible (base/text/visible-text.ts). */
export interface Question {
  /** Random, so that it cannot be guessed. */
  id: string
  action: ActionKind
  principal: string
  run: string
  askedAt: number
  /** Without an answer by then the action is refused. */
  expiresAt: number
  server: {
    id: string
    title: string
    /** The command or the address, which distinguishes servers with the same title. */
    where: string
  }
  /** Who wants the action, starting with the person: `['you', 'model scripted', 'server notes']`. */
  chain: readonly string[]
  /** The task that asks: its id in this host, and its tool. Undefined if no task asks. */
  task?: { id: string; tool: string }
  /** Why the person is asked. */
  reasons: readonly string[]
  /** Complete: no text is shortened or masked. Secrets from the vault appear as their handles. */
  subject: Subject
  /** The scopes that the person can choose. The first is the proposed one. */
  scopes: readonly GrantScope[]
  /** The scopes for other widths than `exact`, which may have to be shorter. Undefined: `scopes`. */
  wideScopes?: readonly GrantScope[]
  /** The arguments that a lasting grant can cover. */
  widths: readonly GrantWidth[]
  /** What "Always allow" covers. Undefined: the question does not offer it. */
  always?: AlwaysChoice
}

/** The grant that "Always allow" makes. It lasts until the person revokes it, or until `expiresAt`. */
export interface AlwaysChoice {
  scope: GrantScope
  width: GrantWidth
  /** Milliseconds of the wall clock. Undefined: until it is revoked. */
  expiresAt?: number
}

/** Which arguments a grant covers: exactly these, those that match a pattern, or any. */
export type GrantWidth = 'exact' | 'pattern' | 'any'

/** The subject of a question: what the person decides about. */
export type Subject =
  | {
      kind: 'launch'
      command: string
      args: readonly string[]
      cwd: string
      envNames: readonly string[]
      /** The variables, without secrets. */
      env?: Readonly<Record<string, string>>
      /** The version of the package that the command runs, such as `2026.8.31`. Undefined if it is not known. */
      version?: string
      /** The command runs the latest published version of a package, and that version is not known. Default: false. */
      isLatest?: boolean
      /** The real path of the program. Undefined if it was not found. */
      program?: string
      /** Real paths of the other programs and files in the command. The consent is for their current contents. */
      files?: readonly string[]
      /** The secrets, variables and inputs that the server gets, in words. */
      fills: readonly string[]
      changes: readonly string[]
    }
  | { kind: 'connect'; url: PersonUrl; headerNames: readonly string[]; fills: readonly string[]; changes: readonly string[] }
  | {
      kind: 'approve'
      items: readonly ApprovedItem[]
      isFirst: boolean
      /** Nothing was approved under these names before. Default: false. */
      isNew?: boolean
      /** The person chose this protocol revision, in which the server declares other capabilities. */
      revision?: string
    }
  | {
      kind: 'call'
      tool: Tool
      args: Readonly<Record<string, unknown>>
      /** The proposed pattern for a grant. The person can edit it. */
      pattern: ArgumentRules
      /** The person wrote the arguments, so their secrets may be folded. Default: false. */
      isOwn?: boolean
      /** The arguments that the person allowed last. */
      lastArgs: Readonly<Record<string, unknown>> | undefined
      /** The person wrote `lastArgs`. Default: false. */
      wasOwn?: boolean
      destination: 'local' | 'private' | 'outside'
      /** It is `outside` only because the server is not trusted: a program on this computer may pass the arguments on. Default: false. */
      isOutsideByTier?: boolean
      /** The origins of pieces of the arguments. */
      origins: readonly ArgumentOrigin[]
      /** Short private passages are no longer recognised in this conversation. Set in the first question after that. Default: false. */
      mayMissOrigins?: boolean
    }
  | { kind: 'result'; tool: string; result: CallToolResult; findings: readonly Finding[] }
  | { kind: 'read'; uri: string; isSubscription: boolean; origins?: readonly ArgumentOrigin[] }
  | { kind: 'prompt'; name: string; args: Readonly<Record<string, string>>; isOwn?: boolean; origins?: readonly ArgumentOrigin[] }
  | { kind: 'complete'; of: string; argument: string; value: string; isOwn?: boolean; origins?: readonly ArgumentOrigin[] }
  | { kind: 'sample'; params: CreateMessageParams; model: string; budget: { tokensLeft: number; requestsLeft: number } }
  | { kind: 'sampled'; params: CreateMessageParams; result: CreateMessageResult }
  /** There is no model: the person writes the answer. */
  | { kind: 'compose'; params: CreateMessageParams }
  | {
      kind: 'form'
      message: string
      schema: FormSchema
      defaults: Readonly<Record<string, unknown>>
      warnings: readonly string[]
      /** Set if the host itself asks, for inputs of a configuration. The hidden fields are not shown while they are typed. */
      ours?: { hidden: readonly string[] }
    }
  | { kind: 'url'; message: string; url: PersonUrl }
  /** The view of a tool, and what it may reach. */
  | { kind: 'app'; tool: string; uri: string; addresses: readonly string[]; permissions: readonly string[] }
  /** A message that an app sends to the chat in the person's name. */
  | { kind: 'say'; content: readonly ContentBlock[] }
  | { kind: 'roots'; roots: readonly { uri: string; name?: string }[] }
  | {
      kind: 'import'
      servers: readonly {
        id: string
        where: string
        from: string
        /** The variables, without secrets. Default: none. */
        env?: Readonly<Record<string, string>>
        headerNames?: readonly string[]
        warnings: readonly string[]
      }[]
    }

export interface ApprovedItem {
  kind: PrimitiveKind
  name: string
  /** The complete definition, as the server sent it. */
  definition: unknown
  /** Undefined for a new definition. */
  difference: PinDifference | undefined
  /** Warnings for the person: invisible characters, names of other servers' tools, look-alikes. */
  flags: readonly string[]
}

export interface ArgumentOrigin {
  /** JSON pointer into the arguments. */
  pointer: string
  /** For people: "mail/inbox#3". */
  source: string
  /** How much of the arguments comes from there. */
  bytes: number
  characters: number
  /** The beginning of the first piece. It ends with `…` if the piece is longer. */
  excerpt: string
  /** Where the pieces are in the text at `pointer`, in UTF-16 units: start and end, in order. Undefined: they are in a decoded form of it. */
  ranges?: readonly (readonly [start: number, end: number])[]
}

export interface Finding {
  kind: 'secret' | 'injection' | 'too-large' | 'remote-content'
  text: string
}

/** The answer of a person to a question. */
export type Answer =
  | {
      kind: 'allow'
      scope: GrantScope
      width?: GrantWidth
      pattern?: ArgumentRules
      /** Arguments, form, sampling parameters or message after the person's edits. Default: unchanged. */
      edited?: unknown
      /** The asker, or the person, opens the page of the question: the host does not open it. Default: false. */
      isOpened?: boolean
      /** Who answered. Default: the principal. */
      by?: string
    }
  | { kind: 'deny'; feedback?: string; by?: string }
  /** The person closed the question without an answer. */
  | { kind: 'cancel'; by?: string }

/** Asks a person one question. Rejects when the signal is aborted because the answer is no longer needed. */
export interface Asker {
  ask(question: Question, signal: AbortSignal): Promise<Answer>
  /**
   * Asks several questions of the same kind on one screen: the starts of servers that are enabled together, or the parts of their
   * offerings with warnings. Returns one promise with an answer for each question, in the same order; or one promise for each question,
   * if the answers can come one by one. Default: each is asked with `ask`.
   */
  askTogether?(questions: readonly Question[], signal: AbortSignal): Promise<readonly Answer[]> | readonly Promise<Answer>[]
}
