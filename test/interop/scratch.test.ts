import { test } from 'vitest'
import { connectV1Client } from './v1-client.ts'
import { connectV2Client } from './v2-client.ts'
import type { TheirClient } from './their-client.ts'

const show = async (label: string, run: () => Promise<unknown>) => {
  try { console.log(label, JSON.stringify(await run())?.slice(0, 700)) } catch (e) { console.log(label, 'THREW', (e as {code?: unknown}).code, String(e).slice(0, 300), JSON.stringify((e as {data?: unknown}).data)) }
}
async function explore(c: TheirClient) {
  console.log('=====', c.revision, c.instructions, JSON.stringify(c.server), JSON.stringify(c.capabilities))
  await show('tools', async () => (await c.listTools()).length)
  for (const t of ['test_simple_text','test_image_content','test_audio_content','test_embedded_resource','test_resource_link','test_multiple_content_types','test_error_handling']) await show(t, () => c.call(t))
  await show('add', () => c.call('add', {a:1,b:2}))
  await show('add bad', () => c.call('add', {a:'x',b:2}))
  await show('nope', () => c.call('nope'))
  await show('read', () => c.read('test://static-binary'))
  await show('read?', () => c.read('test://nope'))
  await show('read failing', () => c.read('test://failing'))
  await show('prompt', () => c.prompt('test_prompt_with_arguments', {arg1:'a',arg2:'b'}))
  await show('prompt img', () => c.prompt('test_prompt_with_image'))
  await show('prompt?', () => c.prompt('nope'))
  await show('prompt missing', () => c.prompt('test_prompt_with_arguments', {arg1:'a'}))
  await show('complete', () => c.complete({type:'ref/prompt',name:'test_prompt_with_arguments'},{name:'arg1',value:'te'}))
  await show('complete res', () => c.complete({type:'ref/resource',uri:'test://template/{id}/data'},{name:'id',value:'12'}))
  const p: unknown[] = []
  await show('progress', () => c.call('test_tool_with_progress', undefined, {onprogress: (x) => p.push(x)}))
  console.log(JSON.stringify(p))
  await show('log', () => c.callLogged('debug', 'test_tool_with_logging'))
  console.log(JSON.stringify(c.logs.items))
  c.person.elicit = () => ({action:'accept',content:{username:'u',email:'e@x.org'}})
  await show('elicit', () => c.call('test_elicitation', {message:'hi'}))
  c.person.elicit = () => ({action:'accept',content:{}})
  await show('elicit defaults', () => c.call('test_elicitation_sep1034_defaults'))
  await show('elicit enums', () => c.call('test_elicitation_sep1330_enums'))
  c.person.elicit = () => ({action:'accept'})
  await show('url', () => c.call('test_url_elicitation', {url:'https://example.com/x'}))
  await show('url required', () => c.call('test_url_required', {url:'https://example.com/x'}))
  await show('sample', () => c.call('test_sampling', {prompt:'hi'}))
  c.person.roots = [{uri:'file:///a',name:'A'}]
  await show('roots', () => c.call('test_roots'))
  await c.setRoots([{uri:'file:///b'}])
  await show('roots', () => c.call('test_roots'))
  c.person.elicit = () => ({action:'accept',content:{name:'Ada', color:'red'}})
  await show('multi', () => c.call('test_input_required_result_multiple_inputs'))
  await show('multi round', () => c.call('test_input_required_result_multi_round'))
  await show('prompt asks', () => c.prompt('test_input_required_result_prompt'))
  console.log('asked', JSON.stringify(c.asked.items).slice(0, 3000))
  await show('subscribe', async () => { const end = await c.subscribe('test://watched-resource'); const n = c.updates.next(); await c.call('test_trigger_resource_update'); await n; await end(); await c.call('test_trigger_resource_update'); await c.ping(); return c.updates.items })
  await show('changes', async () => { const n = c.refreshed.next((x) => x.kind === 'tools'); await c.call('test_trigger_tool_change'); return n })
  await show('changes', async () => { const n = c.refreshed.next((x) => x.kind === 'prompts'); await c.call('test_trigger_prompt_change'); return n })
  await show('changes', async () => { const n = c.refreshed.next((x) => x.kind === 'resources'); await c.call('test_trigger_resource_change'); return n })
  const ctl = new AbortController()
  const held = c.call('hold', undefined, {signal: ctl.signal})
  await c.ping()
  ctl.abort('enough')
  await show('held', () => held)
  await show('cancelled', () => c.call('count_cancelled'))
  await show('ping', () => c.ping())
  console.log('errors', c.errors.map(String), c.stderr.join(''))
  await c.close()
}
const which = process.env.WHICH ?? 'v1'
test('x', async () => {
  if (which === 'v1') for (const r of [undefined, '2024-11-05']) await explore(await connectV1Client(r ? {revisions:[r]} : {}))
  if (which === 'v2') for (const r of [undefined, '2025-06-18']) await explore(await connectV2Client({ mode: 'legacy', ...(r ? {revision: r} : {}) }))
  if (which === 'v2m') await explore(await connectV2Client({ mode: {pin: '2026-07-28'} }))
}, 60000)
