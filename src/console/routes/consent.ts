/** Routes for questions that wait, and for grants. */

import { isObject } from '../../base/json.ts'
import {
  type Answer,
  answerChoices,
  argumentChecker,
  checkForm,
  describeQuestion,
  foldedOf,
  type Question,
  summaryOf,
} from '../../host/index.ts'
import type { GivenAnswer, QuestionView } from '../api.ts'
import { invalid, notFound } from '../errors.ts'
import type { ConsoleServices } from '../services.ts'
import { input, type Route, route } from '../web/router.ts'
import { grantView } from '../words/grant-text.ts'
import { NAME } from './use.ts'

const ANSWER = input({
  kind: { enum: ['allow', 'deny', 'cancel'] },
  'scope?': { enum: ['once', 'turn', 'session', 'project', 'always'] },
  'width?': { enum: ['exact', 'pattern', 'any'] },
  'pattern?': { type: 'object' },
  'edited?': {},
  'isOpened?': { type: 'boolean' },
  'feedback?': { type: 'string', maxLength: 10_000 },
})

export const consentRoutes = ({ host, asker, events }: ConsoleServices): Route[] => [
  route('GET /api/questions', {}, () => ({ questions: asker.waiting().map((question) => viewOf(question, asker.groupOf(question.id))) })),
  route('GET /api/questions/:id', {}, ({ params: { id } }) => viewOf(asker.get(id), asker.groupOf(id), true)),
  route('POST /api/questions/:id/answer', { body: ANSWER }, async ({ params: { id }, body }) => {
    const answer = readAnswer(body)
    await checkEdited(asker.get(id), answer)
    asker.answer(id, answer)
    return null
  }),
  route('GET /api/grants', {}, async () => ({
    grants: (await host.grants.list()).map((grant) => grantView(grant, Date.now())),
  })),
  route(
    'POST /api/grants',
    { body: input({ tool: NAME, 'args?': { type: 'object' }, 'width?': { enum: ['exact', 'any'] } }), status: 201 },
    async ({ body: { tool, args = {}, width = 'exact' } }) => {
      const grant = await host.allowAlways(tool, args, { width, by: 'console' })
      events.publish('grants', { revoked: 0 })
      return { grant: grantView(grant, Date.now()) }
    },
  ),
  route('DELETE /api/grants', { query: input({ server: { type: 'string' } }) }, async ({ query: { server } }) => {
    const revoked = await host.grants.revoke({ server })
    events.publish('grants', { revoked })
    return { revoked }
  }),
  route('DELETE /api/grants/:id', {}, async ({ params: { id } }) => {
    const revoked = await host.grants.revoke(id)
    if (revoked === 0) throw notFound(`No grant has the id ${JSON.stringify(id)}: it was revoked, used up or expired`)
    events.publish('grants', { revoked })
    return { revoked }
  }),
]

type Described = Omit<QuestionView, 'group'>

/** A question does not change, and every new one makes each window read the list again. */
const described = new WeakMap<Question, Described>()

function viewOf(question: Question, group: string | undefined, isWhole = false): QuestionView {
  const known = isWhole ? undefined : described.get(question)
  const view: Described = known ?? {
    question,
    summary: summaryOf(question),
    choices: answerChoices(question),
    lines: describeQuestion(question, { isWhole }),
    folded: isWhole ? 0 : foldedOf(question),
  }
  if (!isWhole) described.set(question, view)
  return { ...view, ...(group !== undefined && { group }) }
}

/** Each kind of answer has members of its own. */
function readAnswer(given: GivenAnswer): Answer {
  const by = 'console'
  if (given.kind === 'allow') {
    if ('feedback' in given) throw invalid('feedback: expected only with the kind "deny"')
    if (given.scope === undefined) throw invalid('scope: expected one of those that the question offers')
    return { ...given, by }
  }
  for (const name of ['scope', 'width', 'pattern', 'edited', 'isOpened', ...(given.kind === 'cancel' ? ['feedback'] : [])])
    if (name in given) throw invalid(`${name}: expected only with another kind of answer, got it with ${JSON.stringify(given.kind)}`)
  return { ...given, by }
}

/** A fault is told to the page, and the question stays open. The host checks again. */
async function checkEdited({ subject }: Question, answer: Answer): Promise<void> {
  if (answer.kind !== 'allow') return
  const { edited } = answer
  if (subject.kind === 'form') {
    if (!isObject(edited)) throw invalid('edited: expected the filled-in form as an object')
    const fault = await checkForm(subject.schema, edited)
    if (fault !== undefined) throw invalid(`edited: ${fault}`)
  }
  if (subject.kind === 'compose' && typeof edited !== 'string') throw invalid('edited: expected the answer as text')
  if (subject.kind === 'call' && edited !== undefined) {
    if (!isObject(edited)) throw invalid('edited: expected the arguments as an object')
    const fault = (await argumentChecker(subject.tool))(edited)
    if (fault !== undefined) throw invalid(`edited: ${fault}`)
  }
}
