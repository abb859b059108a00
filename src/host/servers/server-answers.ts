/** Answers the requests of a server (forms, pages, sampling, roots), each through the gate. */

import type { Answers, Asking, FormRequest, UrlRequest } from '../../client/answer-server.ts'
import { McpError } from '../../protocol/errors.ts'
import type { ElicitResult } from '../../protocol/model/elicitation.ts'
import type { RefusalData } from '../consent/gate/refusal.ts'
import type { HostedServer } from './hosted-server.ts'
import { serverRequest } from './server-request.ts'
import type { ServerServices } from './server-services.ts'

export interface ServerAnswersOptions {
  services: Pick<ServerServices, 'gate' | 'ownConversation' | 'taskOf'>
  server(): HostedServer
  /** Whether there is a person to ask. */
  canAsk: boolean
  /** Opens a page after the person agreed to it. */
  openUrl(url: string, purpose: 'login' | 'page'): void | Promise<void>
  sample: Answers['sample']
  roots: NonNullable<Answers['roots']>
}

/** Declares only the features that can be answered: the client does not offer the others to the server. */
export function answersFor(options: ServerAnswersOptions): Answers {
  const { canAsk, sample, roots } = options
  return {
    ...(canAsk && {
      elicit: (request, asking) => askForm(options, request, asking),
      elicitUrl: (request, asking) => askToOpen(options, request, asking),
    }),
    ...(sample && { sample }),
    roots,
  }
}

async function askForm({ services, server }: ServerAnswersOptions, request: FormRequest, { signal, task }: Asking): Promise<ElicitResult> {
  const { message, schema, defaults } = request
  checkLength({ message, schema, defaults })
  const args = { message, fields: Object.keys(schema.properties) }
  let content: unknown = defaults
  const action = serverRequest(services, server(), 'elicit.form', args, {
    subject: () => ({ kind: 'form', message, schema, defaults, warnings: [] }),
    edit: (edited) => {
      content = edited
    },
    signal,
    task,
  })
  return elicitResult(() =>
    services.gate.run(action, async () => ({ action: 'accept', content: content as NonNullable<ElicitResult['content']> })),
  )
}

async function askToOpen(
  { services, server, openUrl }: ServerAnswersOptions,
  request: UrlRequest,
  { signal, task }: Asking,
): Promise<Pick<ElicitResult, 'action'>> {
  const { message, elicitationId: _, ...url } = request
  checkLength({ message, url })
  const args = { url: url.href, message }
  const action = serverRequest(services, server(), 'elicit.url', args, { subject: () => ({ kind: 'url', message, url }), signal, task })
  return elicitResult(() =>
    services.gate.run(action, async ({ answer }) => {
      if (answer?.isOpened !== true) await openUrl(url.href, 'page')
      return { action: 'accept' }
    }),
  )
}

/** Characters of a form or of a request to open a page, as JSON. Nobody reads more, and every open window gets a copy. */
const MAX_QUESTION_CHARS = 256 * 1024

function checkLength(request: object): void {
  const { length } = JSON.stringify(request)
  if (length > MAX_QUESTION_CHARS)
    throw new McpError('ERR_LIMIT', `The question has ${length} characters: expected at most ${MAX_QUESTION_CHARS} (maxQuestionChars)`)
}

/** The server learns whether the request was accepted, declined or cancelled. It does not learn whether a person or a rule decided. */
async function elicitResult(run: () => Promise<ElicitResult>): Promise<ElicitResult> {
  try {
    return await run()
  } catch (error) {
    if (!(error instanceof McpError)) throw error
    if (error.code === 'ERR_CONSENT' || error.code === 'ERR_QUARANTINED') return { action: 'cancel' }
    if (error.code !== 'ERR_DENIED') throw error
    return { action: (error.data as RefusalData).isCancelled ? 'cancel' : 'decline' }
  }
}
