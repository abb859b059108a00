/**
 * The page around a view, served at another origin than the console. It shows the view in a frame without an origin, and passes
 * messages on within bounds. Its own policy lets that frame go to no other place.
 */

/** Messages that the shell passes on. The bridge in the host has the same bounds; these keep a flood away from the console's page. */
const MAX_CHARS = 1024 * 1024
const PER_SECOND = 100
const BURST = 500

/** @param consoles the origins of the console */
export const shellPage = (consoles: readonly string[]): string => `<!doctype html>
<html lang="en" data-consoles="${consoles.join(' ')}">
<meta charset="utf-8">
<title>View of a tool</title>
<style>html, body { margin: 0; height: 100%; overflow: hidden } iframe { display: block; border: 0; width: 100%; height: 100% }</style>
<body>
<script src="/shell.js"></script>
`

/** Written for browsers, without anything that needs a build. */
export const SHELL_SCRIPT = `'use strict'
{
  const consoles = document.documentElement.dataset.consoles.split(' ')
  const around = location.ancestorOrigins?.[0]
  const targets = consoles.includes(around) ? [around] : consoles
  const RESERVED = 'ui/notifications/sandbox-'
  let frame
  let isOver = false
  let tokens = ${BURST}
  let filledAt = performance.now()

  const tell = (message) => {
    for (const target of targets) parent.postMessage(message, target)
  }
  const isReserved = (message) => typeof message.method === 'string' && message.method.startsWith(RESERVED)

  const stop = (reason) => {
    if (isOver) return
    isOver = true
    frame.remove()
    tell({ jsonrpc: '2.0', method: RESERVED + 'stopped', params: { reason } })
  }

  const load = () => {
    frame = document.createElement('iframe')
    // No origin: no cookies, no storage, no way to the page around it. Forms fire their events, and the policy blocks sending them.
    frame.setAttribute('sandbox', 'allow-scripts allow-forms')
    frame.title = 'View'
    frame.src = location.pathname.replace('/app/', '/view/')
    // A second page has another policy or none, and would get the messages of the view.
    let isLoaded = false
    frame.addEventListener('load', () => {
      if (isLoaded) stop('It went to another page')
      isLoaded = true
    })
    document.body.append(frame)
  }
  const fromConsole = (message) => {
    if (message.method === RESERVED + 'resource-ready') {
      if (!frame) load()
    } else if (frame && !isReserved(message)) frame.contentWindow.postMessage(message, '*')
  }
  const isFlood = () => {
    const now = performance.now()
    tokens = Math.min(${BURST}, tokens + ((now - filledAt) * ${PER_SECOND}) / 1000)
    filledAt = now
    return --tokens < 0
  }
  const fromView = (message) => {
    if (isFlood()) return stop('It sent too many messages')
    if (typeof message !== 'object' || message === null || isReserved(message)) return
    let text
    try {
      text = JSON.stringify(message)
    } catch {
      return
    }
    if (text.length <= ${MAX_CHARS}) return tell(JSON.parse(text))
    const { id } = message
    const error = { code: -32600, message: 'Expected a message with at most ${MAX_CHARS} characters (maxMessageChars)' }
    if (typeof id === 'string' || typeof id === 'number') frame.contentWindow.postMessage({ jsonrpc: '2.0', id, error }, '*')
  }
  addEventListener('message', ({ source, origin, data }) => {
    if (isOver) return
    if (source === parent) {
      if (consoles.includes(origin) && typeof data === 'object' && data !== null) fromConsole(data)
    } else if (frame && source === frame.contentWindow) fromView(data)
  })
  tell({ jsonrpc: '2.0', method: RESERVED + 'proxy-ready', params: {} })
}
`
