/** Measures the console: the time from the start of the command to its page on an empty home, and the size of the page. */

import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { fileURLToPath } from 'node:url'
import { MAX_PAGE_KB, pageSizes } from '../scripts/page-size.mjs'
import { median } from './cpu.mjs'

const cli = fileURLToPath(new URL('../dist/cli/index.js', import.meta.url))
const ROUNDS = 5
const GOAL_MS = 2_000

/** Prints three lines. */
export async function printConsole() {
  const runs = []
  for (let round = 0; round < ROUNDS; round++) runs.push(await firstRun())
  const [link, page, servers] = ['link', 'page', 'servers'].map((name) => median(runs.map((run) => run[name])))
  const { firstKb, allKb } = pageSizes()
  console.log('\nThe console (portico without a command, on an empty home)')
  console.log(
    `  first run: ${link.toFixed(0)} ms to the link, ${page.toFixed(0)} ms to the page (goal ${GOAL_MS}: ${verdict(page, GOAL_MS)}), ${servers.toFixed(0)} ms to ready sample servers`,
  )
  console.log(
    `  page: ${firstKb.toFixed(1)} kB compressed on first load (goal ${MAX_PAGE_KB}: ${verdict(firstKb, MAX_PAGE_KB)}), ${allKb.toFixed(1)} kB with all pages`,
  )
}

const verdict = (measured, goal) => (measured <= goal ? 'reached' : 'missed')

async function firstRun() {
  const home = mkdtempSync(`${tmpdir()}/portico-first-`)
  const begun = performance.now()
  const sinceStart = () => performance.now() - begun
  const child = spawn(process.execPath, [cli, '--no-open', '--port', '0'], {
    cwd: home,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { PATH: process.env.PATH, HOME: home, PORTICO_HOME: `${home}/host` },
  })
  try {
    const url = new URL(await linkOf(child))
    const link = sinceStart()
    const html = await (await fetch(url.origin)).text()
    await Promise.all((html.match(/assets\/[\w.-]+/g) ?? []).map(async (name) => (await fetch(`${url.origin}/${name}`)).arrayBuffer()))
    const page = sinceStart()
    await ready(url)
    return { link, page, servers: sinceStart() }
  } finally {
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGTERM')
    await ended
    rmSync(home, { recursive: true, force: true })
  }
}

/** Resolves with the link that the command prints. */
export function linkOf(child) {
  return new Promise((resolve, reject) => {
    let text = ''
    child.stdout.on('data', (chunk) => {
      text += chunk
      const [link] = /^http:\/\/127\.0\.0\.1:\d+\/#code=\S+$/m.exec(text) ?? []
      if (link) resolve(link)
    })
    child.once('exit', () => reject(new Error(`It ended without a link: ${text}`)))
  })
}

/** Resolves when every sample server is ready. */
async function ready({ origin, hash }) {
  const answer = await fetch(`${origin}/api/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ code: hash.slice('#code='.length) }),
  })
  const { token } = await answer.json()
  const headers = { 'portico-token': token, cookie: answer.headers.get('set-cookie').split(';')[0] }
  for (;;) {
    const { servers } = await (await fetch(`${origin}/api/servers`, { headers })).json()
    if (servers.every(({ health }) => health.state === 'ready')) return
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}
