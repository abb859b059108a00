/** Routes for sessions and settings. */

import { VERSION } from '../../base/version.ts'
import type { ConsoleServices } from '../services.ts'
import { noCookie, sessionCookie } from '../web/headers.ts'
import { input, type Route, route } from '../web/router.ts'

export const sessionRoutes = ({ host, codes, sessions, limits, port }: ConsoleServices): Route[] => [
  route('POST /api/session', { body: input({ code: { type: 'string' } }), status: 201, isOpen: true }, ({ body, headers }) => {
    // Before the code is used up: the person can try again with it.
    sessions.checkRoom()
    codes.redeem(body.code)
    const { cookie, token } = sessions.open()
    headers['set-cookie'] = sessionCookie(port(), cookie, limits.sessionIdleMs)
    return { token, expiresInMs: limits.sessionIdleMs }
  }),
  route('DELETE /api/session', {}, ({ session, headers }) => {
    if (session) sessions.end(session)
    headers['set-cookie'] = noCookie(port())
    return null
  }),
  route('POST /api/session/codes', { status: 201 }, () => ({ code: codes.issue(), expiresInMs: limits.codeTtlMs })),
  route('GET /api/settings', {}, () => ({
    name: 'portico',
    version: VERSION,
    folder: host.folder,
    models: host.models.map(({ id, label }) => ({ id, label })),
    limits: { ...limits },
  })),
  route('GET /api/secrets', {}, async () => ({ names: await (await host.secrets()).list() })),
]
