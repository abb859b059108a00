/** Writes a call of the timeline as a test for Vitest, with `portico/testing`. Secrets are never in it. */

import { isObject } from '../../base/json.ts'
import { type ServerSpec, withoutPlainSecrets } from '../../host/index.ts'
import type { TestView } from '../api.ts'
import { expectedText, isLarge, literal, outline, quoted, secretText } from './literals.ts'
import type { RecordedCall } from './recorded-call.ts'

/** @param day when it was written, as year, month and day */
export function testText(call: RecordedCall, spec: ServerSpec, day: string): TestView {
  const secrets = new Set<string>()
  const target = targetText(spec, secrets)
  const answers = answerTexts(call, secrets)
  const request = requestText(call, secrets)
  const title = `${call.server}: ${subjectOf(call)} answers as recorded`
  const lines = [
    `/** Written by Portico on ${day}. Run it with: npx vitest run ${fileOf(call)} */`,
    '',
    `import { ${['connect', ...answers.types.map((type) => `type ${type}`)].sort(byName).join(', ')} } from 'portico'`,
    `import { ${target.name} } from '${target.from}'`,
    `import { checkMessage, tapTarget } from 'portico/testing'`,
    `import { expect, test } from 'vitest'`,
    '',
    ...target.lines,
    ...(secrets.size === 0 ? [] : SECRET),
    ...answers.lines,
    `test(${quoted(title)}, async () => {`,
    `  const server = ${target.text}`,
    '  const sent = new Map<unknown, string>()',
    '  const received: { message: unknown; method: string | undefined }[] = []',
    `  const target = tapTarget(server, ({ from, message }) => {`,
    '    const { id, method } = message as { id?: unknown; method?: string }',
    "    if (from === 'server') received.push({ message, method: sent.get(id) })",
    '    else if (method !== undefined) sent.set(id, method)',
    '  })',
    `  const client = await connect(target${answers.handlers === '' ? '' : `, { answer: { ${answers.handlers} } }`})`,
    '  try {',
    ...expectLines(call, request),
    '  } finally {',
    '    await client.close()',
    '  }',
    '  // Every message of the server follows the rules of the protocol.',
    '  const { revision } = client',
    "  const broken = received.flatMap(({ message, method }) => checkMessage(message, { from: 'server', revision, method }))",
    '  expect(broken).toEqual([])',
    '})',
    '',
  ]
  return { text: lines.join('\n'), file: fileOf(call), secrets: [...secrets].sort() }
}

const byName = (one: string, other: string): number =>
  one.replace('type ', '').toLowerCase() < other.replace('type ', '').toLowerCase() ? -1 : 1

const SECRET = [
  '/** Values that are not in this file. Set them in the environment. */',
  'function secret(name: string): string {',
  '  const value = process.env[name]',
  "  if (value === undefined) throw new Error('Expected the environment variable ' + name)",
  '  return value',
  '}',
  '',
]

/** `notes-search.test.ts`. */
const fileOf = (call: RecordedCall): string =>
  `${
    [call.server, subjectOf(call)]
      .join('-')
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-+|-+$/g, '')
      .slice(0, 60) || 'call'
  }.test.ts`

const subjectOf = ({ params }: RecordedCall): string => String(params.name ?? params.uri ?? '')

interface TargetText {
  /** The function that reaches the server, and the entry point that has it. */
  name: string
  from: string
  text: string
  /** Lines before the test. */
  lines: readonly string[]
}

function targetText(spec: ServerSpec, secrets: Set<string>): TargetText {
  const { transport } = withoutPlainSecrets(spec)
  if (transport.type === 'memory')
    return {
      name: 'memoryTarget',
      from: 'portico/client',
      text: 'memoryTarget(program)',
      lines: ['// The server that your program gives to the host.', "import { server as program } from './server.js'", ''],
    }
  if (transport.type === 'http') {
    const headers = literal(transport.headers, 4, secretText(secrets, 'HEADER'))
    const url = literal(transport.url, 0, secretText(secrets, 'SERVER_URL'))
    return {
      name: 'httpTarget',
      from: 'portico/http',
      text: `httpTarget(${url}${headers === '{}' ? '' : `, { headers: ${headers} }`})`,
      lines: [],
    }
  }
  const { command, args, env, cwd } = transport
  const options = {
    command: literal(command, 4, secretText(secrets, 'COMMAND')),
    args: literal(args, 4, secretText(secrets, 'ARG')),
    ...(Object.keys(env).length > 0 && { env: literal(env, 4, secretText(secrets, '')) }),
    ...(cwd !== undefined && { cwd: literal(cwd, 4, secretText(secrets, 'FOLDER')) }),
  }
  const lines = Object.entries(options).map(([name, text]) => `    ${name}: ${text},\n`)
  return { name: 'processTarget', from: 'portico/stdio', text: `processTarget({\n${lines.join('')}  })`, lines: [] }
}

const KINDS = [
  { method: 'elicitation/create', list: 'forms', type: 'ElicitResult', handler: 'elicit: () => next(forms)' },
  { method: 'sampling/createMessage', list: 'samples', type: 'CreateMessageResult', handler: 'sample: () => next(samples)' },
] as const

/** What the server asked during the call is answered as it was then. */
function answerTexts({ questions }: RecordedCall, secrets: Set<string>): { types: string[]; lines: string[]; handlers: string } {
  const used = KINDS.map((kind) => ({ ...kind, answers: questions.filter(({ method }) => method === kind.method) })).filter(
    ({ answers }) => answers.length > 0,
  )
  const folders = questions.filter(({ method }) => method === 'roots/list').flatMap(({ answer }) => answer.roots ?? [])
  const handlers: string[] = used.map(({ handler }) => handler)
  if (folders.length > 0) handlers.push(`roots: ${literal(folders, 4, secretText(secrets, 'ROOT'))}`)
  if (used.length === 0) return { types: [], lines: [], handlers: handlers.join(', ') }
  return {
    types: used.map(({ type }) => type),
    lines: [
      '/** What you answered to the questions of the server, in their order. */',
      ...used.map(
        ({ list, type, answers }) =>
          `const ${list}: ${type}[] = ${literal(
            answers.map(({ answer: { _meta, ...answer } }) => answer),
            0,
            secretText(secrets, 'ANSWER'),
          )}`,
      ),
      '',
      'function next<Answer>(answers: Answer[]): Answer {',
      '  const answer = answers.shift()',
      "  if (answer === undefined) throw new Error('The server asked more than in the recorded call')",
      '  return answer',
      '}',
      '',
    ],
    handlers: handlers.join(', '),
  }
}

function requestText({ method, params }: RecordedCall, secrets: Set<string>): string {
  const args = literal(params.arguments ?? {}, 4, secretText(secrets, 'ARGUMENT'))
  const given = args === '{}' ? '' : `, ${args}`
  switch (method) {
    case 'tools/call':
      return `client.call(${quoted(subjectOf({ params } as RecordedCall))}${given})`
    case 'prompts/get':
      return `client.prompt(${quoted(String(params.name))}${given})`
    case 'resources/read':
      return `client.read(${literal(params.uri, 4, secretText(secrets, 'URI'))})`
  }
}

function expectLines(call: RecordedCall, request: string): string[] {
  const { outcome, method } = call
  if ('error' in outcome) return [`    // It failed: the server answered with an error.`, `    await expect(${request}).rejects.toThrow()`]
  const { _meta, resultType: _type, isError, ttlMs: _ttl, cacheScope: _scope, ...rest } = outcome.result
  const expected = isLarge(rest) ? outline(rest) : rest
  return [
    `    const result = await ${request}`,
    ...(isTask(outcome.result)
      ? ['    // The recording has only the start of the task, not its result.', '    expect(result.isError ?? false).toBe(false)']
      : [
          ...(method === 'tools/call' ? [`    expect(result.isError ?? false).toBe(${isError === true})`] : []),
          `    expect(result).toMatchObject(${literal(expected, 4, expectedText)})`,
        ]),
  ]
}

/** Whether the answer says that the call runs as a task, in either form. */
const isTask = ({ resultType, task }: Readonly<Record<string, unknown>>): boolean => resultType === 'task' || isObject(task)
