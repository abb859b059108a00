/**
 * Connects only to addresses that were checked. The check happens in the DNS lookup of the connection itself: a separate
 * lookup beforehand could return a different address.
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

export function checkedConnect({ resolve = resolveBySystem, ca }: CheckedConnectOptions): Connect {
  return async (url, init, mayReach) => {
    const checkedLookup: LookupFunction = (host, options, done) => {
      resolveAndCheck(host).then(
        (addresses) => (options.all ? done(null, addresses) : done(null, addresses[0]?.address ?? '', addresses[0]?.family)),
        (error: Error) => done(error as NodeJS.ErrnoException, ''),
      )
    }
    const resolveAndCheck = async (host: string) => {
      // fetch fails if it is aborted before it has returned its promise, which a synchronous `resolve` could cause.
      await undefined
      const addresses = await resolve(host)
      // All addresses must be allowed: the owner of the name decides which of them is used.
      if (addresses.length === 0 || !addresses.every((address) => isIP(address) !== 0 && mayReach(address)))
        throw urlRefused('address', url)
      return addresses.map((address) => ({ address, family: isIP(address) }))
    }
    // One connection per request: a pooled connection could serve a request whose rules would refuse its address.
    const agent = new Agent({
      pipelining: 0,
      maxHeaderSize: 16 * 1024,
      connect: { lookup: checkedLookup, ...(ca === undefined ? {} : { ca }) },
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

const resolveBySystem: Resolve = async (host) => (await lookup(host, { all: true })).map(({ address }) => address)
