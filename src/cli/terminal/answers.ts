/** Answers a directly connected server's questions by asking the person at the terminal. */

import { randomUUID } from 'node:crypto'
import { personUrl } from '../../base/address/person-url.ts'
import { asText } from '../../base/as-text.ts'
import {
  type Answers,
  type Asking,
  Cancelled,
  type CreateMessageParams,
  type CreateMessageResult,
  Declined,
  McpError,
} from '../../client/index.ts'
import type { Answer, Asker, Question, Subject } from '../../host/index.ts'
import type { ActionKind } from '../../host/policy-tools/index.ts'
import type { Invocation } from '../command-runner.ts'
import { isInteractive } from '../io.ts'
import { safe } from '../output/safe-text.ts'
import { Screen } from '../output/screen.ts'

const ANSWER_MS = 10 * 60_000

/** Declares no answers without a terminal. @param where the command or the address that the person gave */
export async function personalAnswers({ io }: Invocation, where: string): Promise<Answers> {
  if (!isInteractive(io)) return {}
  const { terminalAsker } = await import('./asker.ts')
  const { openBrowser } = await import('../../auth/index.ts')
  return answersFrom(terminalAsker(io, { openPage: openBrowser }), where)
}

/**
 * Opens a login page after the person has seen its address, because a server may name any page.
 * @throws McpError ERR_AUTH when the person declines
 */
export async function confirmLogin({ io, signal }: Invocation, server: string, page: string): Promise<void> {
  const url = personUrl(page)
  if (!url) throw browserError(`Not a login page that can be opened: ${JSON.stringify(page)}`)
  const { terminalAsker } = await import('./asker.ts')
  const { openBrowser } = await import('../../auth/index.ts')
  const { host } = new URL(server)
  const subject: Subject = { kind: 'url', message: `${host} wants you to log in at ${url.host}`, url }
  const answer = await terminalAsker(io, { openPage: openBrowser }).ask(questionOf('elicit.url', subject, host, server), signal)
  if (answer.kind !== 'allow') throw browserError('The server requires a login, and you chose not to open its login page')
  new Screen(io).note(safe`Waiting for the login ...`)
}

const browserError = (message: string): McpError => new McpError('ERR_AUTH', message, { data: { reason: 'browser' } })

/** @param where the command or the address that the person gave */
function answersFrom(asker: Asker, where: string): Answers {
  const ask = (action: ActionKind, subject: Subject, { server, signal }: Asking): Promise<Answer> =>
    asker.ask(questionOf(action, subject, server, where), signal)
  return {
    elicit: async ({ message, schema, defaults }, asking) => {
      const answer = await ask('elicit.form', { kind: 'form', message, schema, defaults, warnings: [] }, asking)
      if (answer.kind !== 'allow') return { action: answer.kind === 'deny' ? 'decline' : 'cancel' }
      return { action: 'accept', content: (answer.edited ?? defaults) as Record<string, string> }
    },
    elicitUrl: async ({ message, elicitationId: _, ...url }, asking) => {
      const answer = await ask('elicit.url', { kind: 'url', message, url }, asking)
      return { action: answer.kind === 'allow' ? 'accept' : answer.kind === 'deny' ? 'decline' : 'cancel' }
    },
    // Without a host there is no model: the person answers in its place.
    sample: async (params, asking) => composed(await ask('sampling.create', { kind: 'compose', params: withoutTools(params) }, asking)),
  }
}

function questionOf(action: ActionKind, subject: Subject, server: string, where: string): Question {
  const now = Date.now()
  return {
    id: randomUUID(),
    action,
    principal: 'you',
    run: 'terminal',
    askedAt: now,
    expiresAt: now + ANSWER_MS,
    server: { id: server, title: server, where },
    chain: ['you', `server ${server}`],
    reasons: [],
    subject,
    scopes: ['once'],
    widths: [],
  }
}

function composed(answer: Answer): CreateMessageResult {
  if (answer.kind === 'deny') throw new Declined('The person said no')
  if (answer.kind === 'cancel') throw new Cancelled('The person closed the question')
  return { role: 'assistant', model: 'person', stopReason: 'endTurn', content: { type: 'text', text: asText(answer.edited) } }
}

const withoutTools = ({ tools: _tools, toolChoice: _choice, ...params }: CreateMessageParams): CreateMessageParams => params
