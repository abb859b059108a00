// biome-ignore-all lint/suspicious/noTemplateCurlyInString: texts as a shell or a configuration would have them
/** Subjects of questions with random text of others in them. */

import fc from 'fast-check'
import { type PersonUrl, personUrl } from '../../../../src/base/address/person-url.ts'
import type { Subject } from '../../../../src/host/model/question.ts'
import { CALL } from './questions.ts'

/** What hid something once, or might. */
const PIECES = [
  '-----BEGIN PRIVATE KEY-----',
  '-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----',
  'API_KEY=$(touch${IFS}/x)',
  'token=abcdef; rm -rf ~',
  'Bearer abcdefghijklmnop1234',
  'Basic dXNlcjpwYXNzd29yZA==',
  'ghp_16C7e42F292c6912E7710c838347Ae178B4a',
  'sk-abcdefghijklmnop12345',
  'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N',
  'https://ada:hunter22@example.com/',
  '[redacted]',
  '[12 characters hidden]',
  '[too deep]',
  '{"to": "evil", "to": "bob"}',
  '{"n": 12345678901234567890}',
  '\u001b[2J',
  '\u001b]8;;https://evil.example\u001b\\',
  '\\x1b',
  '<U+202E>',
  '\u202e',
  '\u200b',
  '\u{e0041}',
  '\u0301\u0336',
  '\t',
  '\r\n',
  '\r',
  '\n',
  '\u2028',
  '  | ',
  '  │ ',
  "'",
  '"',
  '\\',
  '${secret:x}',
  '漢字',
  '👩‍👩‍👧‍👦',
  '\ud800',
  '\0',
  '__proto__',
  'constructor',
  'password',
]

const text = fc
  .array(
    fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...PIECES) }, { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 12 }) }),
    {
      minLength: 1,
      maxLength: 8,
    },
  )
  .map((parts) => parts.join(' '))

/** Names that hid their value, and any others. */
const name = fc.oneof(fc.constantFrom('password', 'token', 'cookie', 'credentials', 'api_key', 'command', 'note', 'constructor'), text)

const leaf = fc.oneof(text, fc.integer(), fc.boolean(), fc.constant(null))

/** JSON, shallow or very deep. */
const json: fc.Arbitrary<unknown> = fc
  .tuple(fc.oneof(leaf, fc.dictionary(name, leaf, { maxKeys: 3 }), fc.array(leaf, { maxLength: 3 })), fc.array(name, { maxLength: 40 }))
  .map(([inner, around]) => around.reduce<unknown>((value, key, i) => (i % 3 === 0 ? [value] : { [key]: value }), inner))

export const args = fc.dictionary(name, json, { maxKeys: 4 })

const data = fc.base64String({ minLength: 4, maxLength: 80 })
const content = fc.oneof(
  text.map((each) => ({ type: 'text' as const, text: each })),
  fc.tuple(text, json).map(([each, meta]) => ({ type: 'text' as const, text: each, _meta: { meta } })),
  fc.tuple(data, text).map(([each, mimeType]) => ({ type: 'image' as const, data: each, mimeType })),
  fc
    .tuple(data, text)
    .map(([each, mimeType]) => ({ type: 'audio' as const, data: each, mimeType, annotations: { audience: [mimeType as 'user'] } })),
)
const block = fc.oneof(
  content,
  fc.tuple(text, text).map(([uri, each]) => ({ type: 'resource' as const, resource: { uri, text: each } })),
  fc.tuple(text, data, text).map(([uri, blob, mimeType]) => ({ type: 'resource' as const, resource: { uri, blob, mimeType } })),
  fc.tuple(text, text).map(([uri, each]) => ({ type: 'resource_link' as const, uri, name: each, description: each })),
)
const sampled = fc.oneof(
  content,
  fc.tuple(text, text, args).map(([id, tool, input]) => ({ type: 'tool_use' as const, id, name: tool, input })),
  fc
    .tuple(text, fc.array(block, { maxLength: 2 }), json)
    .map(([toolUseId, blocks, structuredContent]) => ({ type: 'tool_result' as const, toolUseId, content: blocks, structuredContent })),
)
const tool = fc.tuple(text, text, text, args).map(([each, title, description, properties]) => ({
  name: each,
  title,
  description,
  inputSchema: { type: 'object' as const, properties },
}))
const params = fc
  .record({
    messages: fc.array(fc.record({ role: fc.constant('user' as const), content: fc.oneof(sampled, fc.array(sampled, { maxLength: 2 })) }), {
      minLength: 1,
      maxLength: 2,
    }),
    maxTokens: fc.constant(9),
    systemPrompt: text,
    stopSequences: fc.array(text, { maxLength: 2 }),
    metadata: args,
    tools: fc.array(tool, { maxLength: 2 }),
  })
  .map((each) => each as Extract<Subject, { kind: 'sample' }>['params'])
const url = text.map((each) => personUrl(`https://xn--80ak6aa92e.com/${encodeURIComponent(Buffer.from(each).toString())}`) as PersonUrl)
const field = fc
  .tuple(text, text, text)
  .map(([title, description, value]) => ({ type: 'string' as const, title, description, default: value }))

/** What a question is about, and every text of others in it. */
export interface About {
  subject: Subject
  texts: readonly unknown[]
}

const about = (subject: Subject, ...texts: unknown[]): About => ({ subject, texts })

export const subjects: Record<Subject['kind'], fc.Arbitrary<About>> = {
  launch: fc.tuple(text, fc.array(text, { maxLength: 4 }), text, fc.array(text, { maxLength: 3 })).map(([command, words, cwd, names]) => {
    const env = Object.fromEntries(names.map((each, i) => [each, words[i] ?? command]))
    const each = { command, args: words, cwd, envNames: names, env, program: cwd, files: words, fills: names, changes: words }
    return about({ kind: 'launch', ...each }, Object.values(each))
  }),
  connect: fc.tuple(url, fc.array(text, { maxLength: 3 })).map(([to, names]) => {
    const each = { headerNames: names, fills: names, changes: names }
    return about({ kind: 'connect', url: to, ...each }, to.href, Object.values(each))
  }),
  approve: fc.array(fc.tuple(text, json, json), { minLength: 1, maxLength: 3 }).map((items) =>
    about(
      {
        kind: 'approve',
        isFirst: false,
        items: items.map(([each, definition, before]) => ({
          kind: 'tool',
          name: each,
          definition,
          difference: {
            kind: 'tool',
            name: each,
            class: 'widened',
            formerly: each,
            changes: [{ pointer: `/${each}`, class: 'widened', text: each, before, after: definition }],
          },
          flags: [each],
        })),
      },
      items,
    ),
  ),
  call: fc.tuple(tool, args, args, json).map(([each, given, lastArgs, extra]) =>
    about(
      {
        ...CALL,
        tool: { ...each, annotations: { title: each.title, ...{ extra } } },
        args: given,
        lastArgs,
        origins: [{ pointer: `/${each.name}`, source: each.title, bytes: 9, characters: 9, excerpt: each.description }],
      },
      [each.name, each.title, each.description, extra],
      given,
      lastArgs,
    ),
  ),
  result: fc.tuple(text, fc.array(block, { maxLength: 3 }), json, text).map(([each, blocks, structuredContent, finding]) =>
    about(
      {
        kind: 'result',
        tool: each,
        result: { content: blocks, structuredContent, _meta: { each } },
        findings: [{ kind: 'injection', text: finding }],
      },
      each,
      blocks,
      structuredContent,
      finding,
    ),
  ),
  read: text.map((uri) => about({ kind: 'read', uri, isSubscription: true }, uri)),
  prompt: fc.tuple(text, fc.dictionary(name, text)).map(([each, given]) => about({ kind: 'prompt', name: each, args: given }, each, given)),
  complete: fc
    .tuple(text, name, text)
    .map(([of, argument, value]) => about({ kind: 'complete', of, argument, value }, of, argument, value)),
  sample: params.map((each) => about({ kind: 'sample', params: each, model: 'small', budget: { tokensLeft: 1, requestsLeft: 1 } }, each)),
  sampled: fc
    .tuple(params, sampled, text, text)
    .map(([each, answer, model, stopReason]) =>
      about(
        { kind: 'sampled', params: each, result: { role: 'assistant', content: answer as never, model, stopReason } },
        each,
        answer,
        model,
        stopReason,
      ),
    ),
  compose: params.map((each) => about({ kind: 'compose', params: each }, each)),
  form: fc
    .tuple(text, fc.dictionary(name, field, { maxKeys: 3 }), fc.dictionary(name, text, { maxKeys: 2 }))
    .map(([message, properties, given]) => {
      const defaults = Object.fromEntries(Object.keys(properties).map((each, i) => [each, Object.values(given)[i] ?? 'x']))
      const schema = { type: 'object' as const, properties }
      // The default of a field is what it is filled with; what the person gave before goes first.
      const withoutDefaults = Object.fromEntries(Object.entries(properties).map(([key, { default: _, ...rest }]) => [key, rest]))
      return about({ kind: 'form', message, schema, defaults, warnings: [message] }, message, withoutDefaults, defaults)
    }),
  url: fc.tuple(text, url).map(([message, to]) => about({ kind: 'url', message, url: to }, message, to.href)),
  app: fc
    .tuple(text, text, fc.array(text, { maxLength: 3 }))
    .map(([tool, uri, addresses]) => about({ kind: 'app', tool, uri, addresses, permissions: ['camera'] }, tool, uri, addresses)),
  say: fc
    .array(text, { minLength: 1, maxLength: 3 })
    .map((texts) => about({ kind: 'say', content: texts.map((each) => ({ type: 'text' as const, text: each })) }, texts)),
  roots: fc
    .array(fc.record({ uri: text, name: text }), { minLength: 1, maxLength: 3 })
    .map((roots) => about({ kind: 'roots', roots }, roots.flatMap(Object.values))),
  import: fc
    .array(fc.record({ id: text, where: text, from: text, warnings: fc.array(text, { maxLength: 2 }) }), { minLength: 1, maxLength: 3 })
    .map((servers) => about({ kind: 'import', servers }, servers.flatMap(Object.values))),
}
