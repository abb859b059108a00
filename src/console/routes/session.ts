/** Routes for sessions, settings and secrets. */

import { VERSION } from '../../base/version.ts'
import { SUPPORTED_REVISIONS } from '../../client/index.ts'
import { notFound } from '../errors.ts'
import type { ConsoleServices } from '../services.ts'
import { noCookie, sessionCookie } from '../web/headers.ts'
import { input, type Route, route } from '../web/router.ts'

export const sessionRoutes = ({ host, codes, sessions, limits, models, preferences, port }: ConsoleServices): Route[] => [
  route('POST /api/session', { body: input({ code: { type: 'string' } }), status: 201, isOpen: true }, ({ body, cookies, headers }) => {
    // Before the code is used up: the person can try again with it.
    sessions.checkRoom()
    codes.redeem(body.code)
    const { cookie, token } = sessions.open(cookies)
    headers['set-cookie'] = sessionCookie(port(), cookie, limits.sessionIdleMs)
    return { token, expiresInMs: limits.sessionIdleMs }
  }),
  route('DELETE /api/session', {}, ({ session, cookies, headers }) => {
    if (session) sessions.end(session)
    // Other windows of the browser may still use it.
    if (!cookies.some((cookie) => sessions.hasCookie(cookie))) headers['set-cookie'] = noCookie(port())
    return null
  }),
  route('POST /api/session/codes', { status: 201 }, () => ({ code: codes.issue('window'), expiresInMs: limits.codeTtlMs })),
  route('GET /api/settings', {}, () => ({
    name: 'portico',
    version: VERSION,
    folder: host.folder,
    project: host.project,
    preset: host.policy.current().preset,
    models: models.list(),
    revisions: SUPPORTED_REVISIONS.map(({ version }) => version),
    limits: { ...limits },
  })),
  route('GET /api/preferences', {}, async () => ({ preferences: await preferences.read() })),
  route('PUT /api/preferences', { body: input({ preferences: { type: 'object' } }) }, async ({ body }) => {
    await preferences.write(body.preferences)
    return null
  }),
  route('GET /api/secrets', {}, async () => {
    const names = await (await host.secrets()).list()
    const models = await host.storedModels.list()
    const texts = host.specs().map(({ id, transport }) => ({ id, text: transport.type === 'memory' ? '' : JSON.stringify(transport) }))
    return {
      secrets: names.map((name) => ({
        name,
        servers: texts.filter(({ text }) => text.includes(`\${secret:${name}}`)).map(({ id }) => id),
        models: models.filter(({ secret }) => secret === name).map(({ id }) => id),
      })),
    }
  }),
  route('PUT /api/secrets/:name', { body: input({ value: { type: 'string', minLength: 1 } }) }, async ({ params: { name }, body }) => {
    await (await host.secrets()).set(name, body.value)
    return null
  }),
  route('DELETE /api/secrets/:name', {}, async ({ params: { name } }) => {
    const vault = await host.secrets()
    if (!(await vault.list()).includes(name)) throw notFound(`There is no secret ${JSON.stringify(name)}`)
    await vault.delete(name)
    return null
  }),
]
