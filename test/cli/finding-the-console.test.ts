/** Whether a browser may open, and how another process finds a running console. */

import { connect } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { canOpenBrowser } from '../../src/cli/up/can-open-browser.ts'
import { announceConsole, runningConsole, socketOf } from '../../src/cli/up/running-console.ts'
import { temporaryFolders } from '../support/folders.ts'

const newFolder = temporaryFolders()

describe('a browser opens', () => {
  const desktop = { platform: 'linux', isRoot: false } as const

  test.each([
    ['on a desktop', { DISPLAY: ':0' }, desktop, true],
    ['on Wayland', { WAYLAND_DISPLAY: 'wayland-0' }, desktop, true],
    ['on a Mac', {}, { ...desktop, platform: 'darwin' }, true],
    ['on Windows', {}, { ...desktop, platform: 'win32' }, true],
    ['not without a display', { DISPLAY: '' }, desktop, false],
    ['not as root', { DISPLAY: ':0' }, { ...desktop, isRoot: true }, false],
    ['not over ssh, even with a forwarded display', { DISPLAY: ':10', SSH_CONNECTION: 'a b' }, desktop, false],
    ['not over ssh to a Mac', { SSH_TTY: '/dev/ttys001' }, { ...desktop, platform: 'darwin' }, false],
    ['not in CI', { DISPLAY: ':0', CI: 'true' }, desktop, false],
    ['with CI=false', { DISPLAY: ':0', CI: 'false' }, desktop, true],
  ] as const)('%s', (_, env, surroundings, expected) => {
    expect(canOpenBrowser({ env }, surroundings)).toBe(expected)
  })
})

describe('the socket', () => {
  async function announced(): Promise<string> {
    const folder = newFolder()
    let links = 0
    const end = await announceConsole(folder, { origin: 'http://127.0.0.1:1', link: () => `http://127.0.0.1:1/#code=${++links}` })
    onTestFinished(end)
    return folder
  }

  /** What it answers before it closes. */
  const answerTo = (folder: string, request: string): Promise<string> =>
    new Promise((resolve) => {
      let text = ''
      const socket = connect(socketOf(folder) as string, () => socket.write(request))
      socket
        .on('error', () => {})
        .on('data', (part) => {
          text += part
        })
      socket.once('close', () => resolve(text))
    })

  test('it makes a link only for a process that asks for one', async () => {
    const folder = await announced()
    expect(await runningConsole(folder, 'who')).toEqual({ pid: process.pid, origin: 'http://127.0.0.1:1' })
    expect(await runningConsole(folder, 'link')).toMatchObject({ link: 'http://127.0.0.1:1/#code=1' })
    expect(await runningConsole(newFolder(), 'link')).toBeUndefined()
  })

  test('other requests are closed without an answer, at once or after 2 s', async () => {
    const folder = await announced()
    expect(await answerTo(folder, 'x'.repeat(1_000_000))).toBe('')
    const begun = performance.now()
    expect(await answerTo(folder, 'li')).toBe('')
    expect(performance.now() - begun).toBeGreaterThan(1_500)
  })

  test('a second console leaves the socket to the first', async () => {
    const folder = await announced()
    const end = await announceConsole(folder, { origin: 'http://127.0.0.1:2', link: () => '' })
    expect(await runningConsole(folder, 'who')).toMatchObject({ origin: 'http://127.0.0.1:1' })
    await end()
    expect(await runningConsole(folder, 'who')).toMatchObject({ origin: 'http://127.0.0.1:1' })
  })

  test('its path has a maximum, and Windows has another kind of name', () => {
    expect(socketOf('/home/ada', 'linux')).toBe('/home/ada/console.sock')
    expect(socketOf(`/${'a'.repeat(100)}`, 'linux')).toBeUndefined()
    expect(socketOf(`/${'a'.repeat(100)}`, 'win32')).toMatch(/^\\\\\.\\pipe\\portico-[0-9a-f]{32}$/)
  })
})
