/** Questions of a server that was connected to by hand, put to the person at the terminal. */

import { randomUUID } from 'node:crypto'
import { authError } from '../../auth/client/errors.ts'
import { personUrl } from '../../base/address/person-url.ts'
import { asText } from '../../base/as-text.ts'
import type { Answers, Asking } from '../../client/answers.ts'
import { secretFields } from '../../host/consent/ask/form-lines.ts'
import type { ActionKind } from '../../host/model/action.ts'
import type { Answer, Asker, Question, Subject } from '../../host/model/question.ts'
import { Cancelled, Declined } from '../../protocol/errors.ts'
import type { CreateMessageParams, CreateMessageResult } from '../../protocol/model/sampling.ts'
import type { Invocation } from '../frame.ts'
import { isInteractive } from '../io.ts'
import { describeTarget, type TargetName } from '../target/target.ts'

const ANSWER_MS = 10 * 60_000

/** Nothing is offered where there is nobody to ask. */
export async function personalAnswers({ io }: Invocation, target: TargetName): Promise<Answers> {
  if (!isInteractive(io)) return {}
  const { terminalAsker } = await import('./asker.ts')
  const { openBrowser } = await import('../../auth/client/login/node/browser.ts')
  return answersBy(terminalAsker(io, { openPage: openBrowser }), describeTarget(target))
}

/**
 * Opens the page of a login after the person has seen where it is: a server may name any page.
 * @throws McpError when they do not want to
 */
export async function agreeToLogin({ io, signal }: Invocation, server: string, page: string): Promise<void> {
  const url = personUrl(page)
  if (!url) throw authError('browser', `Not a page to log in at: ${JSON.stringify(page)}`)
  const { terminalAsker } = await import('./asker.ts')
  const { openBrowser } = await import('../../auth/client/login/node/browser.ts')
  const { host } = new URL(server)
  const subject: Subject = { kind: 'url', message: `${host} wants you to log in at ${url.host}`, url }
  const answer = await terminalAsker(io, { openPage: openBrowser }).ask(questionOf('elicit.url', subject, host, server), signal)
  if (answer.kind !== 'allow') throw authError('browser', 'The server wants a login, and you did not want to open its page')
}

/** @param where the command or the address that the person gave */
function answersBy(asker: Asker, where: string): Answers {
  const ask = (action: ActionKind, subject: Subject, { server, signal }: Asking): Promise<Answer> =>
    asker.ask(questionOf(action, subject, server, where), signal)
  return {
    elicit: async ({ message, schema, defaults }, asking) => {
      const warnings = secretFields(schema).length > 0 ? ['It asks for something that looks like a secret'] : []
      const answer = await ask('elicit.form', { kind: 'form', message, schema, defaults, warnings }, asking)
      if (answer.kind !== 'allow') return { action: answer.kind === 'deny' ? 'decline' : 'cancel' }
      return { action: 'accept', content: (answer.edited ?? defaults) as Record<string, string> }
    },
    elicitUrl: async ({ message, elicitationId: _, ...url }, asking) => {
      const answer = await ask('elicit.url', { kind: 'url', message, url }, asking)
      return { action: answer.kind === 'allow' ? 'accept' : answer.kind === 'deny' ? 'decline' : 'cancel' }
    },
    // There is no model here: the person is asked to answer in its place.
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
