/** The view of `plan`: a page without any package, which shows the steps, plans again and tells the model what you look at. */

import { APPS_REVISION } from '../../revisions/apps-revision.ts'

/** Where clients find it. */
export const PLAN_VIEW_URI = 'ui://deploy/plan'

/** Everything that comes from outside is set as text, never as HTML. */
export const PLAN_VIEW = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Plan of a deployment</title>
<style>
  :root { color-scheme: light; --text: #1b1f27; --muted: #59616e; --line: #d5d9e0; --accent: #2f54c9; --soft: #eaf0ff; --page: #fff }
  :root[data-theme="dark"] { color-scheme: dark; --text: #e7eaf0; --muted: #a3abb8; --line: #3a414d; --accent: #9db4ff; --soft: #253050; --page: #171a20 }
  body { margin: 0; padding: 16px; background: var(--page); color: var(--text); font: 14px/20px system-ui, sans-serif }
  h1 { margin: 0 0 4px; font-size: 16px }
  p { margin: 0 0 12px; color: var(--muted) }
  ol { display: flex; flex-wrap: wrap; gap: 8px; margin: 0 0 16px; padding: 0; list-style: none; counter-reset: step }
  li { flex: 1 1 120px; padding: 8px 10px; border: 1px solid var(--line); border-radius: 8px; counter-increment: step }
  li::before { content: counter(step); display: inline-block; width: 20px; margin-right: 8px; border-radius: 10px; background: var(--soft); color: var(--accent); text-align: center; font-weight: 600 }
  button { margin-right: 8px; padding: 6px 12px; border: 1px solid var(--accent); border-radius: 6px; background: none; color: var(--accent); font: inherit; cursor: pointer }
  button:disabled { opacity: .5; cursor: default }
  #note { margin: 12px 0 0; min-height: 20px }
</style>
<body>
<h1 id="title">Plan</h1>
<p id="about">Waiting for the plan …</p>
<ol id="steps"></ol>
<button id="other" disabled>Plan again</button><button id="tell" disabled>Tell the model</button>
<p id="note" role="status"></p>
<script>
  const by = (id) => document.getElementById(id)
  const waiting = new Map()
  let last = 0
  let args = {}
  let plan
  const post = (message) => parent.postMessage({ jsonrpc: '2.0', ...message }, '*')
  const ask = (method, params) => new Promise((resolve, reject) => {
    waiting.set(++last, { resolve, reject })
    post({ id: last, method, params })
  })
  const otherOf = () => (args.environment === 'production' ? 'staging' : 'production')
  const show = () => {
    by('title').textContent = args.service + ' ' + plan.to + ' to ' + args.environment
    by('about').textContent = 'Now: ' + plan.from + '. ' + (plan.needsApproval ? 'A person must approve it on a page.' : 'It needs no approval.')
    by('steps').replaceChildren(...plan.steps.map((text) => Object.assign(document.createElement('li'), { textContent: text })))
    by('other').textContent = 'Plan it for ' + otherOf()
    for (const button of document.querySelectorAll('button')) button.disabled = false
    post({ method: 'ui/notifications/size-changed', params: { height: document.documentElement.offsetHeight } })
  }
  const take = (given, result) => {
    if (!result.structuredContent) return
    args = given
    plan = result.structuredContent
    show()
  }
  const note = (text) => { by('note').textContent = text }
  by('other').onclick = () => {
    const wanted = { ...args, environment: otherOf() }
    ask('tools/call', { name: 'plan', arguments: wanted }).then((result) => { take(wanted, result); note('') }, (error) => note(error.message))
  }
  by('tell').onclick = () => {
    const text = 'The person looks at the plan: ' + by('title').textContent + '.'
    ask('ui/update-model-context', { content: [{ type: 'text', text }] }).then(() => note('It goes with your next message.'), (error) => note(error.message))
  }
  const theme = (context) => { if (context && context.theme) document.documentElement.dataset.theme = context.theme }
  addEventListener('message', ({ source, data }) => {
    if (source !== parent || !data || data.jsonrpc !== '2.0') return
    const { id, method, params, result, error } = data
    if (method === 'ui/notifications/tool-input') args = params.arguments || {}
    else if (method === 'ui/notifications/tool-result') take(args, params)
    else if (method === 'ui/notifications/host-context-changed') theme(params)
    else if (method === 'ui/resource-teardown') post({ id, result: {} })
    else if (waiting.has(id)) {
      const { resolve, reject } = waiting.get(id)
      waiting.delete(id)
      error ? reject(error) : resolve(result)
    }
  })
  const about = { appInfo: { name: 'plan', version: '1.0.0' }, appCapabilities: {}, protocolVersion: '${APPS_REVISION}' }
  ask('ui/initialize', about).then(({ hostContext, hostCapabilities }) => {
    theme(hostContext)
    if (!hostCapabilities.updateModelContext) by('tell').remove()
    post({ method: 'ui/notifications/initialized' })
  })
</script>
`
