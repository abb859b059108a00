/** The one contract between a host and whoever puts its questions to a person: terminal, console, inbox, or a test. */

import type { PersonUrl } from '../../base/address/person-url.ts'
import type { FormSchema } from '../../protocol/model/elicitation.ts'
import type { CreateMessageParams, CreateMessageResult } from '../../protocol/model/sampling.ts'
import type { CallToolResult, Tool } from '../../protocol/model/tools.ts'
import type { ActionKind } from './action.ts'
import type { PinDifference } from './difference.ts'
import type { GrantScope } from './grant.ts'
import type { PrimitiveKind } from './offering.ts'
import type { ArgumentRules } from './rule.ts'

/** Texts come as the server wrote them: whoever shows them makes control and invisible characters visible (protocol/visible-text.ts). */
export interface Question {
  /** Unguessable, so that knowing it is not by chance. */
  id: string
  action: ActionKind
  principal: string
  run: string
  askedAt: number
  /** No answer by then is a no. */
  expiresAt: number
  server: {
    id: string
    title: string
    /** The command, or the address: what tells it from another server of the same title. */
    where: string
  }
  /** Who wants it, from the person on: `['you', 'model scripted', 'server notes']`. */
  chain: readonly string[]
  /** Why this is asked, in words. */
  reasons: readonly string[]
  /** Nothing of it is shortened or masked; values of the vault stand in it as their handles. */
  subject: Subject
  /** For how long a yes may hold; the first is proposed. */
  scopes: readonly GrantScope[]
  /** For which arguments a yes may hold, where it may hold for more than this call. */
  widths: readonly GrantWidth[]
}

export type GrantWidth = 'exact' | 'pattern' | 'any'

export type Subject =
  | {
      kind: 'launch'
      command: string
      args: readonly string[]
      cwd: string
      envNames: readonly string[]
      /** The variables with what may be shown of their values: everything but secrets. */
      env?: Readonly<Record<string, string>>
      /** The real path of the program; undefined when none was found. */
      program?: string
      /** Real paths of the other programs and files that the command names. A yes is for what is in them now. */
      files?: readonly string[]
      /** Which secrets, variables and inputs it is given, and where, in words. */
      fills: readonly string[]
      changes: readonly string[]
    }
  | { kind: 'connect'; url: PersonUrl; headerNames: readonly string[]; fills: readonly string[]; changes: readonly string[] }
  | { kind: 'approve'; items: readonly ApprovedItem[]; isFirst: boolean }
  | {
      kind: 'call'
      tool: Tool
      args: Readonly<Record<string, unknown>>
      /** The pattern that would be granted, to be looked at and edited. */
      pattern: ArgumentRules
      /** The person wrote the arguments, and nobody else: secrets among them are theirs, and may be folded. Default: false. */
      isOwn?: boolean
      /** What the person said yes to the last time. */
      lastArgs: Readonly<Record<string, unknown>> | undefined
      /** The person wrote those of the last time. Default: false. */
      wasOwn?: boolean
      destination: 'local' | 'private' | 'outside'
      /** Where pieces of the arguments came from. */
      origins: readonly ArgumentOrigin[]
      /** Short private passages are no longer recognised in this conversation. Set in the first question after that. Default: false. */
      mayMissOrigins?: boolean
    }
  | { kind: 'result'; tool: string; result: CallToolResult; findings: readonly Finding[] }
  | { kind: 'read'; uri: string; isSubscription: boolean }
  | { kind: 'prompt'; name: string; args: Readonly<Record<string, string>>; isOwn?: boolean }
  | { kind: 'complete'; of: string; argument: string; value: string; isOwn?: boolean }
  | { kind: 'sample'; params: CreateMessageParams; model: string; budget: { tokensLeft: number; requestsLeft: number } }
  | { kind: 'sampled'; params: CreateMessageParams; result: CreateMessageResult }
  /** There is no model: the person writes what it would have said. */
  | { kind: 'compose'; params: CreateMessageParams }
  | {
      kind: 'form'
      message: string
      schema: FormSchema
      defaults: Readonly<Record<string, unknown>>
      warnings: readonly string[]
      /** The host itself asks, for what the configuration of a server leaves open. The hidden fields are not shown as they are typed. */
      ours?: { hidden: readonly string[] }
    }
  | { kind: 'url'; message: string; url: PersonUrl }
  | { kind: 'roots'; roots: readonly { uri: string; name?: string }[] }
  | {
      kind: 'import'
      servers: readonly {
        id: string
        where: string
        from: string
        /** The variables that it sets, with what may be shown of their values. Default: none. */
        env?: Readonly<Record<string, string>>
        headerNames?: readonly string[]
        warnings: readonly string[]
      }[]
    }

export interface ApprovedItem {
  kind: PrimitiveKind
  name: string
  /** The whole definition, as the server sent it. */
  definition: unknown
  /** Undefined when it is new. */
  difference: PinDifference | undefined
  /** Things a person should look at twice, in words: invisible characters, names of other servers' tools, look-alikes. */
  flags: readonly string[]
}

export interface ArgumentOrigin {
  /** JSON pointer into the arguments. */
  pointer: string
  /** For people: "mail/inbox#3". */
  source: string
  bytes: number
  excerpt: string
}

export interface Finding {
  kind: 'secret' | 'injection' | 'too-large' | 'remote-content'
  text: string
}

export type Answer =
  | {
      kind: 'allow'
      scope: GrantScope
      width?: GrantWidth
      pattern?: ArgumentRules
      /** Arguments, form, sampling parameters or message as the person edited them; what was asked about unless given. */
      edited?: unknown
      /** Who answered, when it was not the principal at this terminal. */
      by?: string
    }
  | { kind: 'deny'; feedback?: string; by?: string }
  /** Closed without an answer. */
  | { kind: 'cancel'; by?: string }

/** Puts one question to a person. Rejects when the signal says that nobody needs the answer any more. */
export interface Asker {
  ask(question: Question, signal: AbortSignal): Promise<Answer>
}
