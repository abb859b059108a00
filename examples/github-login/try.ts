/** A client logs in: it registers, opens the page, the person continues with GitHub, and the client gets a token. */

import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { connect } from 'portico'
import { oauth } from 'portico/auth'
import { startServer } from './server.ts'
import { startStandIn } from './stand-in.ts'

/** A person with a browser: keeps cookies, follows redirects, and clicks the button. */
async function browse(start: string): Promise<void> {
  const cookies = new Map<string, string>()
  const go = async (to: string, method = 'GET'): Promise<string> => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const answer = await fetch(to, { method, redirect: 'manual', headers: { cookie } })
    for (const line of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      cookies.set(name, value)
    }
    const location = answer.headers.get('location')
    if (location !== null) return go(new URL(location, to).href)
    const html = await answer.text()
    const title = /<h1>([^<]*)/.exec(html)?.[1]
    if (!html.includes('<form')) return html
    console.log(`The page says: ${title}`)
    return go(to, 'POST')
  }
  await go(start)
}

const probe = createServer().listen(0, '127.0.0.1')
await new Promise((resolve) => probe.once('listening', resolve))
const { port } = probe.address() as AddressInfo
await new Promise((resolve) => probe.close(resolve))

const github = await startStandIn()
const stop = await startServer(`http://127.0.0.1:${port}`, github)
const client = await connect(`http://127.0.0.1:${port}/mcp`, { auth: oauth({ openBrowser: browse }) })
console.log((await client.call('whoami')).content)
await client.close()

const withGitHubToken = await fetch(`http://127.0.0.1:${port}/mcp`, {
  method: 'POST',
  headers: { authorization: 'Bearer gho_of_another_app' },
})
console.log('With a token of GitHub:', withGitHubToken.status)
await stop()
github.close()
