/** Hostile text on the approval page, checked in Chromium. */

import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { Approvals } from '../../src/demo/deploy/approvals.ts'
import { chromiumOfFile } from '../support/chromium.ts'

const chromium = chromiumOfFile()

/** Each would send a request to the canary server if it were interpreted as markup. */
const payloads = (canary: string): string[] => {
  const act = `fetch('${canary}/ran')`
  const tags = ['img', 'image', 'audio', 'video', 'iframe', 'embed', 'script', 'link', 'input', 'source', 'track', 'object', 'svg']
  const events = ['onload', 'onerror', 'onfocus', 'onmouseover', 'onanimationstart', 'ontoggle', 'onbegin']
  return [
    `<script>${act}</script>`,
    `<SCRIPT SRC=${canary}/a.js></SCRIPT>`,
    `"><script>${act}</script>`,
    `'><script>${act}</script>`,
    `</strong></p><script>${act}</script><p>`,
    `</title><script>${act}</script>`,
    `<!--><script>${act}</script>-->`,
    `<![CDATA[<script>${act}</script>]]>`,
    `<svg><script>${act}</script></svg>`,
    `<math><mtext><script>${act}</script>`,
    `<style>@import '${canary}/a.css';</style>`,
    `<style>body{background:url(${canary}/b)}</style>`,
    `<base href="${canary}/">`,
    `<meta http-equiv="refresh" content="0;url=${canary}/moved">`,
    `<form action="${canary}/posted"><button autofocus>Approve</button></form>`,
    `<a href="javascript:${act}" autofocus>Approve</a>`,
    `<details open ontoggle="${act}">`,
    `<body onload="${act}">`,
    `<template><script>${act}</script></template>`,
    `<noscript><p title="</noscript><img src=x onerror=${act}>">`,
    `![](${canary}/markdown.png) [Approve](javascript:${act})`,
    `&lt;script&gt;${act}&lt;/script&gt;`,
    `&#60;script&#62;${act}`,
    `\u003cscript\u003e${act}\u003c/script\u003e`,
    `<scr\u0000ipt>${act}</script>`,
    `api to \u202eproduction`,
    `{{constructor.constructor("${act}")()}}`,
    ...tags.map((tag) => `<${tag} src="${canary}/${tag}" href="${canary}/${tag}" data="${canary}/${tag}">`),
    ...events.flatMap((event) => [`<img src=x ${event}="${act}">`, `<svg ${event}=${act}>`, `" ${event}="${act}" x="`]),
  ]
}

test('hostile text on the approval page is shown as text: no script, no remote content, no extra button', {
  timeout: 120_000,
}, async () => {
  const loaded: string[] = []
  const elsewhere = createHttpServer((request, response) => {
    loaded.push(request.url ?? '')
    response.end()
  }).listen(0, '127.0.0.1')
  await once(elsewhere, 'listening')
  const canary = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}`
  const approvals = new Approvals({ timeoutMs: 60_000, maxApprovals: 200, onApproved: () => {} })
  try {
    const page = await (await (await chromium()).newContext()).newPage()
    const texts = payloads(canary)
    expect(texts.length).toBeGreaterThanOrEqual(60)
    for (const text of texts) {
      const { url } = await approvals.ask('api', text)
      await page.goto(url, { waitUntil: 'load' })
      expect(await page.locator('strong').textContent()).toBe(text.replaceAll('\0', '\\x00').replaceAll('\u202e', '<U+202E>'))
      expect(await page.locator('button').count(), text).toBe(1)
      expect(await page.locator('script, img, iframe, svg, style, base, meta[http-equiv], a').count(), text).toBe(0)
      expect(page.url()).toBe(url)
    }
    expect(loaded).toEqual([])
  } finally {
    await approvals.close()
    elsewhere.closeAllConnections()
    elsewhere.close()
  }
})
