/**
 * Connects only to addresses that were judged. The judgement is made where the name is looked up for the connection, not
 * before it: a name may have another address the next moment.
 */

import { lookup } from 'node:dns/promises'
import { isIP, type LookupFunction } from 'node:net'
import { Agent, fetch } from 'undici'
import { urlRefused } from '../foreign-url.ts'
import type { Connect, Resolve } from '../safe-fetch.ts'

export interface CheckedConnectOptions {
  resolve?: Resolve | undefined
  ca?: string | undefined
}

export function checkedConnect({ resolve = systemAddresses, ca }: CheckedConnectOptions): Connect {
  return async (url, init, mayReach) => {
    const judgedLookup: LookupFunction = (host, options, done) => {
      addressesOf(host).then(
        (addresses) => (options.all ? done(null, addresses) : done(null, addresses[0]?.address ?? '', addresses[0]?.family)),
        (error: Error) => done(error as NodeJS.ErrnoException, ''),
      )
    }
    const addressesOf = async (host: string) => {
      // Not yet: fetch does not bear to be aborted, by whoever looks names up, before it has returned.
      await undefined
      const addresses = await resolve(host)
      // One address that is not public is enough: whoever answers for the name chooses which one is taken.
      if (addresses.length === 0 || !addresses.every((address) => isIP(address) !== 0 && mayReach(address)))
        throw urlRefused('address', url)
      return addresses.map((address) => ({ address, family: isIP(address) }))
    }
    // One connection a request: no other request finds it open and goes where nobody judged for it.
    const agent = new Agent({
      pipelining: 0,
      maxHeaderSize: 16 * 1024,
      connect: { lookup: judgedLookup, ...(ca === undefined ? {} : { ca }) },
    })
    const { method = 'GET', headers, body, signal } = init
    const response = await fetch(url, {
      method,
      headers,
      redirect: 'manual',
      body: (body as string) ?? null,
      signal: signal ?? null,
      dispatcher: agent,
    })
    return response as unknown as Response
  }
}

const systemAddresses: Resolve = async (host) => (await lookup(host, { all: true })).map(({ address }) => address)
