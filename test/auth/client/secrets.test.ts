import { inspect } from 'node:util'
import { beforeEach, describe, expect, test } from 'vitest'
import { oauth } from '../../../src/auth/client/index.ts'
import { proves } from '../../support/proves.ts'
import { type Realm, startRealm } from './realm.ts'
import { failureOf, open } from './support.ts'

const SECRETS = ['client-secret-canary', 'access-canary', 'refresh-canary', 'code-canary', 'state-canary', 'description-canary']
const LEAK = /canary/

/** Everything that a program could see of a run that goes wrong at one place. */
async function outputOf(spoil: (realm: Realm) => void): Promise<string> {
  const realm = await startRealm()
  realm.serverMetadata.token_endpoint_auth_methods_supported = ['client_secret_post']
  realm.callback = { code: 'code-canary' }
  const said: string[] = []
  spoil(realm)
  const auth = oauth({
    redirect: realm.redirect,
    client: { id: 'a', secret: 'client-secret-canary' },
    onWarning: (message) => said.push(message),
    limits: { requestTimeoutMs: 300 },
  })
  const fault = await failureOf(
    open(realm.url, auth, { onWarning: (message) => said.push(message) }).then(async (client) => {
      await client.call('read')
      realm.taken.clear()
      await client.call('read')
      await auth.logout(realm.url)
      throw new Error('nothing went wrong')
    }),
  )
  return `${said.join('\n')}\n${inspect(fault, { depth: 20, showHidden: true })}\n${inspect(auth, { depth: 20, showHidden: true })}`
}

const tokens = { access_token: 'access-canary', refresh_token: 'refresh-canary', token_type: 'Bearer' }

describe('no secret is in an error, a warning, or what is shown of the objects', () => {
  beforeEach(() => proves('T-AUTH-050'))

  test.each<[string, (realm: Realm) => void]>([
    [
      'the token endpoint refuses',
      (realm) =>
        realm.answers.set('/token', ({ body }) => ({
          status: 400,
          json: { error: 'invalid_grant', error_description: `description-canary ${body}` },
        })),
    ],
    [
      'the token endpoint says an odd error',
      (realm) => realm.answers.set('/token', ({ body }) => ({ status: 400, json: { error: `odd "${body}"` } })),
    ],
    ['the token endpoint fails', (realm) => realm.answers.set('/token', ({ body }) => ({ status: 500, text: body }))],
    ['the token is of another type', (realm) => realm.answers.set('/token', () => ({ json: { ...tokens, token_type: 'mac' } }))],
    ['the token cannot be sent', (realm) => realm.answers.set('/token', () => ({ json: { ...tokens, access_token: 'access canary' } }))],
    ['the token endpoint is silent', (realm) => realm.answers.set('/token', () => new Promise(() => {}))],
    [
      'the answer is cut',
      (realm) =>
        realm.answers.set('/token', () => ({ headers: { 'content-type': 'application/json' }, text: JSON.stringify(tokens).slice(0, 60) })),
    ],
    [
      'the server refuses the token',
      (realm) => {
        realm.answers.set('/token', () => ({ json: tokens }))
      },
    ],
    [
      'the server repeats the token',
      (realm) => {
        realm.answers.set('/token', () => ({ json: tokens }))
        realm.answers.set('/mcp', ({ headers }) =>
          headers.authorization ? { status: 403, headers: { 'www-authenticate': 'Bearer error="x"' } } : undefined,
        )
      },
    ],
    [
      'the login comes back with an error',
      (realm) => {
        realm.callback = { error: 'access_denied', error_description: 'description-canary', code: 'code-canary' }
      },
    ],
    [
      'the login comes back from elsewhere',
      (realm) => {
        realm.callback = { iss: 'https://state-canary.example', code: 'code-canary' }
      },
    ],
    ['nobody can be told of a logout', (realm) => realm.answers.set('/revoke', () => ({ status: 503 }))],
  ])('no secret is in an error, a warning or a printed object when %s', async (_, spoil) => {
    const output = await outputOf(spoil)
    expect(output).not.toMatch(LEAK)
    expect(SECRETS.filter((secret) => output.includes(secret))).toEqual([])
  })
})
