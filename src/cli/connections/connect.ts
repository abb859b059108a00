/** Connects a client directly to a server for the duration of a command. */

import { systemClock } from '../../base/clock.ts'
import { Client, type ConnectOptions, type LogMessage, McpError, SUPPORTED_REVISIONS, type Target } from '../../client/index.ts'
import type { Authorizer } from '../../http/client/index.ts'
import type { Invocation } from '../command-runner.ts'
import { unknownName } from '../errors.ts'
import { isInteractive } from '../io.ts'
import { jsonText } from '../output/json.ts'
import { safe, untrusted } from '../output/safe-text.ts'
import type { Screen } from '../output/screen.ts'
import { ServerNotes } from '../output/server-notes.ts'
import { CLIENT_INFO } from '../version.ts'
import type { DirectServer } from './direct.ts'
import { hasDisplay, showPage } from './open-page.ts'
import type { TargetOptions } from './options.ts'

/** The transport target for a server. Nothing is started yet. */
export async function targetFor(invocation: Invocation, server: DirectServer): Promise<Target> {
  const { target, options, authorize } = server
  const { screen } = invocation
  const notes = serverNotes(invocation)
  const onWarning = warningPrinter(invocation)
  switch (target.kind) {
    case 'url': {
      const { httpTarget } = await import('../../http/client/index.ts')
      return httpTarget(target.url, {
        headers: options.header,
        // If the person gives an Authorization header, there is no login.
        ...(!hasAuthorization(options.header) && { authorize: authorize ?? (await personalAuthorizer(invocation, target.url)) }),
        ...(options.insecure && { allowInsecure: true }),
        ...(options.transport && { transport: options.transport }),
        onWarning,
      })
    }
    case 'command': {
      const { processTarget } = await import('../../stdio/index.ts')
      return processTarget({
        command: target.command,
        args: target.args,
        env: options.env,
        // Report a server that exits; do not restart it silently.
        restarts: false,
        ...(options.cwd !== undefined && { cwd: options.cwd }),
        ...(options.verbose && {
          onStderr: (line: string) => notes.note(line, (text) => safe`${screen.noteStyle.dim('│')} ${untrusted(text)}`),
        }),
        onWarning,
      })
    }
  }
}

const hasAuthorization = (headers: Record<string, string>): boolean =>
  Object.keys(headers).some((name) => name.toLowerCase() === 'authorization')

/** One rate limit per command, shared by logs and warnings. */
const notesByScreen = new WeakMap<Screen, ServerNotes>()

function serverNotes({ io, screen }: Invocation): ServerNotes {
  const notes = notesByScreen.get(screen) ?? new ServerNotes({ io, screen, clock: systemClock })
  notesByScreen.set(screen, notes)
  return notes
}

/** Prints warnings that a server can cause, under its rate limit. */
export const warningPrinter =
  (invocation: Invocation): ((message: string) => void) =>
  (message) =>
    serverNotes(invocation).note(message, (text) => safe`${invocation.screen.noteStyle.yellow('!')} ${text}`)

/** Logs in with the person's browser, after they have approved the page that the server named. Stored tokens are used without asking. */
async function personalAuthorizer(invocation: Invocation, server: string): Promise<Authorizer> {
  const { oauth, fileTokenStore } = await import('../../auth/index.ts')
  return oauth({
    store: fileTokenStore(),
    about: { name: 'Portico' },
    openBrowser: async (url) => {
      if (!isInteractive(invocation.io))
        throw new McpError('ERR_AUTH', 'The server requires a login, and there is no terminal to log in from', {
          data: { reason: 'browser' },
        })
      const { confirmLogin } = await import('../terminal/answers.ts')
      await confirmLogin(invocation, server, url)
      showPage(invocation, url, 'login', hasDisplay(invocation.io))
    },
  })
}

export function connectOptions(invocation: Invocation, options: TargetOptions): ConnectOptions {
  const { screen } = invocation
  const notes = serverNotes(invocation)
  return {
    info: CLIENT_INFO,
    cache: false,
    ...(options.revision.length > 0 && { revisions: knownRevisions(options.revision) }),
    ...(options.timeout !== undefined && { limits: { timeoutMs: options.timeout * 1000, connectTimeoutMs: options.timeout * 1000 } }),
    ...(options.log && { logLevel: options.log }),
    onLog: ({ level, logger, data }: LogMessage) => {
      const about = `[${level}${logger === undefined ? '' : ` ${logger.slice(0, MAX_LOGGER)}`}]`
      notes.note(typeof data === 'string' ? data : jsonText(data), (text) => safe`${screen.noteStyle.dim(about)} ${text}`)
    },
    onWarning: warningPrinter(invocation),
  }
}

/** Maximum length of a logger's name. */
const MAX_LOGGER = 100

/** The same revisions. Throws for one that does not exist. */
export const knownRevisions = (dates: readonly string[]): string[] => dates.map(knownRevision)

function knownRevision(date: string): string {
  const known = SUPPORTED_REVISIONS.map(({ version }) => version)
  if (!known.includes(date)) throw unknownName('protocol revision', date, known)
  return date
}

/** Connects, runs `use`, and always closes. */
export async function withClient<T>(
  invocation: Invocation,
  server: DirectServer,
  use: (client: Client) => Promise<T>,
  extra: ConnectOptions = {},
): Promise<T> {
  const reached = await targetFor(invocation, server)
  const { signal } = invocation
  const connecting = Client.connect(reached, { ...connectOptions(invocation, server.options), ...extra })
  const client = await orInterrupted(connecting, signal, () => void connecting.then((late) => late.close()).catch(() => {}))
  try {
    return await orInterrupted(use(client), signal)
  } finally {
    await client.close()
    serverNotes(invocation).tellLeftOut()
  }
}

/** The result of `work`, or a rejection soon after Ctrl-C. */
function orInterrupted<T>(work: Promise<T>, signal: AbortSignal, onLeft: () => void = () => {}): Promise<T> {
  if (signal.aborted) return Promise.reject(signal.reason as Error)
  return new Promise((resolve, reject) => {
    const leave = (): void => {
      onLeft()
      // Work that listens to the signal itself may reject with a better error.
      setTimeout(() => reject(signal.reason as Error), LAST_WORDS_MS)
    }
    signal.addEventListener('abort', leave, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave))
  })
}

const LAST_WORDS_MS = 200
