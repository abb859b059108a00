/**
 * The official suite against the authorization server that our tests of authorization log in at: what our client and our
 * servers get on with there, they get on with at one that conforms.
 */

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from '../support/listening-process.ts'
import { type AuthorizationServer, startAuthorizationServer } from '../support/oidc.ts'
import { faultsOf, Tally } from './judge.ts'
import { planned, REVISIONS } from './plan.ts'
import { listScenarios, runSuite, type SuiteRun } from './suite.ts'

const LONG = 60_000
const RESOURCE = 'http://127.0.0.1:3000/mcp'
const CLIENT = 'conformance-suite'

const scenarios = listScenarios()
const tally = new Tally()

describe.each(['', '/tenant'])('an authorization server at the path "%s"', (path) => {
  let as: AuthorizationServer
  let port: number
  beforeAll(async () => {
    port = await freePort()
    const client = {
      client_id: CLIENT,
      application_type: 'native',
      token_endpoint_auth_method: 'none',
      redirect_uris: [`http://127.0.0.1:${port}/callback`],
    }
    as = await startAuthorizationServer({ path, clients: [client] })
    // The suite asks for no scope.
    as.protect(RESOURCE, { unaskedScopes: ['mcp'] })
  }, LONG)
  afterAll(() => as.stop())

  describe.each(REVISIONS)('at %s', (revision) => {
    const names = planned(scenarios, 'authorization', revision)
    let run: SuiteRun
    beforeAll(async () => {
      const where = ['--url', as.issuer, '--client-id', CLIENT, '--port', String(port), '--resource', RESOURCE]
      // It prints where a person is to log in, and waits for minutes.
      const logIn = async (line: string): Promise<void> => {
        if (line.startsWith(`${as.issuer}/auth?`)) await whenItListens(() => as.open(line))
      }
      run = await runSuite('authorization', [...where, '--spec-version', revision], logIn)
      tally.add(`authorization ${revision}, path "${path}"`, names, run.checks)
    }, LONG)

    test.each(names)('the scenario %s passes', (name) => {
      expect(faultsOf(name, run.checks.get(name)), run.output).toEqual([])
    })

    test('the suite is content as well, and ran nothing we do not look at', () => {
      expect(run.exitCode, run.output).toBe(0)
      expect([...run.checks.keys()].sort()).toEqual([...names].sort())
    })
  })
})

afterAll(() => console.log(`Official conformance suite, authorization server:\n\n${tally}\n`))

/** The suite prints the address before it listens for the way back, and on a busy machine a moment before. */
async function whenItListens<T>(visit: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await visit()
    } catch (error) {
      const { code } = ((error as Error).cause ?? {}) as { code?: string }
      if (code !== 'ECONNREFUSED' || tries === 20) throw error
      await new Promise((resolve) => setTimeout(resolve, 200))
    }
  }
}
