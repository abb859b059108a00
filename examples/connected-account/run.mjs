/** Alice connects her photos through a tool. Then Mallory tries to make Alice connect them to Mallory's account. */

import { createServer } from 'node:net'
import { connect } from 'portico'
import { startServer } from './server.mjs'
import { startIssuer, startPhotos } from './surroundings.mjs'

const issuer = await startIssuer()
const photos = await startPhotos()
const url = `http://127.0.0.1:${await freePort()}`
const stop = await startServer({ url, issuer: issuer.url, photos })

/** Everything that the MCP clients see. The token of the photo service must not be in it. */
let seen = ''

/** Calls the tool as `person`. Pages open in the browser of `atTheBrowser`. */
async function call(person, atTheBrowser) {
  let wasAsked = false
  const client = await connect(`${url}/mcp`, {
    http: { headers: { authorization: `Bearer ${await issuer.token(person, `${url}/mcp`)}` } },
    answer: {
      elicitUrl: async ({ message, href }) => {
        seen += `${message} ${href}`
        if (wasAsked) return { action: 'decline' }
        wasAsked = true
        console.log(`  the client asks: ${message}`)
        console.log(`  the browser of ${atTheBrowser} shows: ${await browse(href, atTheBrowser)}`)
        return { action: 'accept' }
      },
    },
  })
  const result = await client.call('albums', {}).catch((error) => ({ content: [{ text: error.message }] }))
  seen += JSON.stringify(result)
  await client.close()
  return result.content[0].text
}

/** Simulates a person with a browser: logs in, agrees and follows redirects. Returns the title of the last page. */
async function browse(start, person) {
  const cookies = new Map([[photos.origin, `user=${person}`]])
  const go = async (to, init = {}) => {
    const { origin } = new URL(to)
    const answer = await fetch(to, { ...init, redirect: 'manual', headers: { ...init.headers, cookie: cookies.get(origin) ?? '' } })
    for (const cookie of answer.headers.getSetCookie())
      cookies.set(origin, `${cookies.get(origin) ?? ''}; ${cookie.split(';')[0]}`.replace(/^; /, ''))
    const location = answer.headers.get('location')
    if (location?.startsWith(`${url}/login`)) return go(`${location}&as=${person}`)
    return location ? go(new URL(location, to).href) : answer.text()
  }
  let html = await go(start)
  const token = /name="token" value="([^"]+)"/.exec(html)?.[1]
  const headers = { 'content-type': 'application/x-www-form-urlencoded', origin: url }
  if (token) html = await go(start, { method: 'POST', headers, body: `token=${token}&answer=yes` })
  return /<h1>([^<]*)/.exec(html)?.[1]
}

console.log('Alice asks for her albums:')
console.log(`  answer: ${await call('alice', 'alice')}`)
console.log('Alice asks again, without a question:')
console.log(`  answer: ${await call('alice', 'alice')}`)
console.log('Mallory asks, and makes Alice open the page:')
console.log(`  answer: ${await call('mallory', 'alice')}`)
console.log(`The clients saw a token of the photo service: ${/photos-[0-9a-f-]{36}/.test(seen) ? 'yes' : 'no'}`)

stop()
issuer.close()
photos.close()

function freePort() {
  const server = createServer()
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address()
      server.close(() => resolve(port))
    })
  })
}
