/** Secrets go to the server they are for, and are in nothing that a host keeps, tells or shows. */

import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join, relative } from 'node:path'
import { inspect } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import {
  createHost,
  describeQuestion,
  type HostEvent,
  type HostOptions,
  openVault,
  questionText,
  STORAGE_PATHS,
} from '../../src/host/index.ts'
import type { ServerSpec } from '../../src/host/model/server-spec.ts'
import { listen } from '../../src/http/index.ts'
import { createServer } from '../../src/server/index.ts'
import { calling, chat, hosts, person, says, script, spy, textOf, until, useAll } from './hosts.ts'

const { folder: newFolder } = hosts()

const SECRETS = {
  vaultEnv: 'Hq7-vault-env-canary-01',
  vaultArg: 'Hq7-vault-arg-canary-02',
  vaultPart: 'Hq7-vault-part-canary-03',
  vaultHeader: 'Hq7-vault-header-canary-04',
  vaultUrl: 'Hq7-vault-url-canary-05',
  vaultOdd: 'Hq7 "odd" \\ & ü canary-06',
  vaultLong: `Hq7-line-one-of-a-key-canary-07\nHq7-line-two-of-a-key-canary-08`,
  input: 'Hq7-input-canary-09',
  inputKept: 'Hq7-input-kept-canary-10',
  env: 'Hq7-env-token-canary-11',
  argPassword: 'Hq7-arg-password-canary-12',
  argApiKey: 'Hq7-arg-api-key-canary-13',
  argToken: 'Hq7-arg-token-canary-14',
  argNested: 'Hq7-arg-nested-canary-15',
  argBearer: 'Bearer Hq7argbearercanary16abcdef',
  argUrl: 'Hq7urlpasswordcanary17',
  argPasswordRefused: 'Hq7-refused-password-canary-18',
  argPasswordFailed: 'Hq7-failed-password-canary-19',
  form: 'Hq7-form-canary-20',
  formSecret: 'Hq7-form-secret-canary-21',
  passphrase: 'Hq7-passphrase-canary-22',
  unused: 'Hq7-unused-canary-23',
  argOfModel: 'Hq7-model-password-canary-24',
}

const placeholder = (kind: 'secret' | 'input' | 'env', name: string): string => `\${${kind}:${name}}`

/** Each line, as it is and as it may be written: in JSON, in base64, in hex, in URLs. */
const FORMS = Object.entries(SECRETS).flatMap(([name, secret]) =>
  secret.split('\n').flatMap((line) => {
    const bytes = Buffer.from(line)
    return [
      line,
      // Half of it is too much as well.
      line.slice(-9),
      JSON.stringify(line).slice(1, -1),
      inspect(line).slice(1, -1),
      bytes.toString('base64').slice(0, -4),
      bytes.toString('hex'),
      encodeURIComponent(line),
    ].map((form) => ({ name, form }))
  }),
)

const leaksIn = (where: string, text: string): string[] => [
  ...new Set(FORMS.flatMap(({ name, form }) => (text.includes(form) ? [`${name} in ${where}`] : []))),
]

const filesIn = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true, recursive: true }).flatMap((each) => (each.isFile() ? [join(each.parentPath, each.name)] : []))

/** Says back all that it was given, in every way there is. */
const CHATTERBOX = `
  const all = [process.env.VAULT, process.env.ODD, process.env.KEY, process.env.INPUT, process.env.STORAGE_PATHS, process.env.TOKEN, ...process.argv.slice(2)]
  const said = all.join(' ') + ' ' + Buffer.from(all[0]).toString('base64') + ' ' + Buffer.from(all[0]).toString('hex') + ' ' + JSON.stringify(all)
  process.stderr.write('starting with ' + said + '\\n')
  const server = createServer({ name: 'chatterbox', title: 'With ' + all[0], version: '1', instructions: 'I know ' + said, logging: {}, revisions: ['2025-11-25'], limits: { toolCalls: false } })
  server.tool('tell', { input: object, description: 'Knows ' + said }, () => 'told')
  server.tool('fail', { input: object }, () => { throw new Error('Failed with ' + said) })
  server.tool('log', { input: object }, async (_, context) => { await context.log.error({ said, list: all }); return 'logged' })
  server.tool('ask', { input: object }, async (_, context) => {
    const { answer } = await context.elicit('form', 'You gave me ' + all[0], { type: 'object', properties: { answer: { type: 'string', title: 'More than ' + all[0] } } })
    return answer ? 'thanks' : 'no'
  })
  server.tool('sample', { input: object }, async (_, context) => {
    await context.sample('m', { maxTokens: 10, systemPrompt: 'Mind ' + all[0], messages: [{ role: 'user', content: { type: 'text', text: said } }] })
    return 'sampled'
  })
  server.tool('take', { input: object }, (args) => 'taken ' + JSON.stringify(args).length)
  server.prompt('boom', {}, () => { throw new McpError('ERR_INVALID_PARAMS', 'Failed with ' + said, { data: { said, all } }) })
  server.tool('die', { input: object }, () => { process.stderr.write('dying with ' + said + '\\n'); process.exit(3) })
  serveStdio(server, {})`

test('secrets from any source are in no file, event, error, question or log', async () => {
  const folder = join(newFolder(), 'host')
  const vault = await openVault({ folder: join(folder, STORAGE_PATHS.secrets), keychain: false, passphrase: SECRETS.passphrase })
  for (const [name, value] of Object.entries(SECRETS)) if (name.startsWith('vault') || name === 'unused') await vault.set(name, value)
  process.env.HQ7_TOKEN = SECRETS.env
  onTestFinished(() => {
    delete process.env.HQ7_TOKEN
  })

  const far = createServer({ name: 'far', version: '1' })
  far.tool('hello', {}, () => 'hello')
  const listening = await listen(far, {})
  const rude = createHttpServer((request, response) => {
    response.writeHead(500, { 'content-type': 'text/plain' })
    response.end(`I got ${JSON.stringify(request.headers)} at ${request.url}`)
  }).listen(0, '127.0.0.1')
  await once(rude, 'listening')
  const rudeUrl = `http://127.0.0.1:${(rude.address() as AddressInfo).port}/mcp?key=${placeholder('secret', 'vaultUrl')}`
  const common = { tier: 'untrusted', provenance: [] } as const
  const http = (url: string): Omit<ServerSpec, 'id'> => ({
    ...common,
    transport: {
      type: 'http',
      url,
      headers: { authorization: `Bearer ${placeholder('secret', 'vaultHeader')}`, 'x-api-key': placeholder('secret', 'vaultHeader') },
    },
  })
  const chatterbox: Omit<ServerSpec, 'id'> = {
    ...common,
    inputs: [
      { id: 'one', isSecret: true, description: 'a password' },
      { id: 'two', isSecret: true, description: 'another password' },
    ],
    transport: {
      type: 'stdio',
      command: process.execPath,
      args: [script(newFolder(), CHATTERBOX), placeholder('secret', 'vaultArg'), `--header=x ${placeholder('secret', 'vaultPart')} y`],
      env: {
        VAULT: placeholder('secret', 'vaultEnv'),
        ODD: placeholder('secret', 'vaultOdd'),
        KEY: placeholder('secret', 'vaultLong'),
        INPUT: placeholder('input', 'one'),
        STORAGE_PATHS: placeholder('input', 'two'),
        TOKEN: placeholder('env', 'HQ7_TOKEN'),
      },
    },
  }
  const missing: Omit<ServerSpec, 'id'> = {
    ...common,
    transport: { type: 'stdio', command: `/nowhere/${placeholder('secret', 'vaultEnv')}`, args: [], env: {} },
  }

  const ask = person(({ subject }) => {
    if (subject.kind === 'form' && subject.message.startsWith('To be started')) {
      const isKept = subject.message.includes('another')
      return { kind: 'allow', scope: 'once', edited: { value: isKept ? SECRETS.inputKept : SECRETS.input, keep: isKept } }
    }
    if (subject.kind === 'form') return { kind: 'allow', scope: 'once', edited: { answer: SECRETS.form } }
    if (subject.kind === 'call' && subject.args.refuse === true) return { kind: 'deny' }
    return { kind: 'allow', scope: 'session', width: subject.kind === 'call' ? 'exact' : 'any' }
  })
  const events: HostEvent[] = []
  const errors: unknown[] = []
  const caught = (error: unknown): void => void errors.push(error)
  const options: HostOptions = {
    folder,
    keychain: false,
    passphrase: SECRETS.passphrase,
    ask,
    model: spy([says('sampled')], [calling('chatterbox__take', { password: SECRETS.argOfModel })]),
    servers: { chatterbox, far: http(listening.url), rude: http(rudeUrl), missing },
    onEvent: (event) => events.push(event),
    limits: { server: { connectTimeoutMs: 20_000 } },
  }
  const host = await createHost(options)
  await host.settled()
  await useAll(host)
  expect(host.health().chatterbox?.state).toBe('ready')
  expect(textOf(await host.call('far__hello'))).toBe('hello')

  await host.call('chatterbox__tell')
  await host.call('chatterbox__fail').catch(caught)
  await host.prompt('chatterbox__boom').catch(caught)
  await host.call('chatterbox__log')
  await host.call('chatterbox__ask')
  await host.call('chatterbox__sample')
  const args = {
    password: SECRETS.argPassword,
    api_key: SECRETS.argApiKey,
    accessToken: SECRETS.argToken,
    deep: { credentials: { client_secret: SECRETS.argNested } },
    note: SECRETS.argBearer,
    url: `https://user:${SECRETS.argUrl}@example.com/`,
  }
  await host.call('chatterbox__take', args, { as: 'person' })
  await host.call('chatterbox__take', { ...args, password: SECRETS.argPasswordRefused, refuse: true }, { as: 'person' }).catch(caught)
  await host.call({ server: 'chatterbox', name: 'nothing' }, { password: SECRETS.argPasswordFailed }).catch(caught)
  await host.call({ server: 'rude', name: 'any' }, { password: SECRETS.argPasswordFailed }).catch(caught)
  const parts = await chat(host, 'go')
  await host.call('chatterbox__die').catch(caught)
  await until(() => events.some((event) => event.kind === 'health' && event.server === 'chatterbox' && event.health.state !== 'ready'))
  await host.retry('rude').catch(caught)
  await host.retry('missing').catch(caught)
  const health = host.health()
  await host.close()
  await listening.close()
  rude.close()
  rude.closeAllConnections()

  const stderr = events.flatMap((event) => (event.kind === 'log' && event.log.kind === 'stderr' ? [event.log.line] : []))
  expect(stderr.join()).toContain('starting with [redacted]')
  expect(events.some((event) => event.kind === 'log' && event.log.kind === 'message')).toBe(true)
  const everything = (value: unknown) => inspect(value, { depth: 20, maxStringLength: null, maxArrayLength: null, showHidden: false })
  expect(errors).toHaveLength(5)
  expect(everything(errors)).toContain('Failed with [redacted]')
  const encrypted = new Set([STORAGE_PATHS.secrets, STORAGE_PATHS.tokens] as string[])
  const files = filesIn(folder).filter((file) => !encrypted.has(relative(folder, file).split('/')[0] as string))
  expect(files.length).toBeGreaterThan(3)
  // No pattern is proposed where it would have a secret in it: patterns are kept.
  expect(
    ask
      .saw('call')
      .filter(({ args: { password } }) => password !== undefined)
      .map(({ pattern }) => pattern),
  ).toEqual([{}, {}, {}])
  expect(ask.read()).toContain(`argument password: | ${SECRETS.argOfModel}`)
  const leaks = [
    ...files.flatMap((file) => leaksIn(relative(folder, file), readFileSync(file, 'utf8'))),
    ...filesIn(folder).flatMap((file) => leaksIn(`the encrypted ${relative(folder, file)}`, readFileSync(file, 'latin1'))),
    ...events.flatMap((event) => leaksIn(`an event: ${event.kind}`, everything(event))),
    ...errors.flatMap((error) => leaksIn('an error', everything(error))),
    // What a model wrote is never hidden from whoever decides about it.
    ...ask.asked
      .flatMap((question) => leaksIn(`a question: ${question.subject.kind}`, questionText(describeQuestion(question))))
      .filter((leak) => leak !== 'argOfModel in a question: call'),
    ...leaksIn('health', everything(health)),
    ...leaksIn('a chat', everything(parts.filter(({ type }) => type !== 'tool-call'))),
  ]
  expect([...new Set(leaks)]).toEqual([])
}, 60_000)
