/** From a TARGET to a client that is connected to it, for as long as a command needs it. */

import { authError } from '../../auth/client/errors.ts'
import { systemClock } from '../../base/clock.ts'
import { Client } from '../../client/client.ts'
import type { ConnectOptions } from '../../client/options.ts'
import type { LogMessage } from '../../protocol/model/logging.ts'
import type { Authorizer } from '../../protocol/seams/authorizer.ts'
import type { Target } from '../../protocol/seams/link.ts'
import { REVISIONS } from '../../revisions/index.ts'
import { unknownName } from '../faults.ts'
import type { Invocation } from '../frame.ts'
import { isInteractive } from '../io.ts'
import { jsonText } from '../output/json.ts'
import type { Screen } from '../output/screen.ts'
import { ServerNotes } from '../output/server-notes.ts'
import { untrusted, words } from '../output/shown.ts'
import { CLIENT_INFO } from './client-info.ts'
import { refuseByName } from './configured.ts'
import type { TargetOptions } from './options.ts'
import type { TargetName } from './target.ts'

/** What a transport needs to know to reach it. Nothing is started or asked yet. */
export async function reach(invocation: Invocation, target: TargetName, options: TargetOptions): Promise<Target> {
  const { screen } = invocation
  const notes = notesOf(invocation)
  const onWarning = warningsOf(invocation)
  switch (target.kind) {
    case 'server':
      return refuseByName(invocation, target.id)
    case 'url': {
      const { httpTarget } = await import('../../http/client/target.ts')
      return httpTarget(target.url, {
        headers: options.header,
        // Whoever brings a key of their own is not sent to a login.
        ...(!hasAuthorization(options.header) && { authorize: await personalAuthorizer(invocation, target.url) }),
        ...(options.insecure && { allowInsecure: true }),
        onWarning,
      })
    }
    case 'command': {
      const { processTarget } = await import('../../stdio/index.ts')
      return processTarget({
        command: target.command,
        args: target.args,
        env: options.env,
        // A server that ends is told of, not started behind the person's back.
        restarts: false,
        ...(options.cwd !== undefined && { cwd: options.cwd }),
        ...(options.verbose && {
          onStderr: (line: string) => notes.note(line, (text) => words`${screen.noteStyle.dim('│')} ${untrusted(text)}`),
        }),
        onWarning,
      })
    }
  }
}

const hasAuthorization = (headers: Record<string, string>): boolean =>
  Object.keys(headers).some((name) => name.toLowerCase() === 'authorization')

/** One for everything that is said during a command, so that a server cannot double its share. */
const notesByScreen = new WeakMap<Screen, ServerNotes>()

function notesOf({ io, screen }: Invocation): ServerNotes {
  const notes = notesByScreen.get(screen) ?? new ServerNotes({ io, screen, clock: systemClock })
  notesByScreen.set(screen, notes)
  return notes
}

/** For what a server can cause any number of times. */
export const warningsOf =
  (invocation: Invocation): ((message: string) => void) =>
  (message) =>
    notesOf(invocation).note(message, (text) => words`${invocation.screen.noteStyle.yellow('!')} ${text}`)

/**
 * Logs in with the person's browser, and only where there is a person who has agreed to the page; tokens from earlier are
 * used anywhere. Which page it is, the server decides.
 */
async function personalAuthorizer(invocation: Invocation, server: string): Promise<Authorizer> {
  const { oauth, fileTokenStore } = await import('../../auth/index.ts')
  return oauth({
    store: fileTokenStore(),
    about: { name: 'Portico' },
    openBrowser: async (url) => {
      if (!isInteractive(invocation.io)) throw authError('browser', 'The server wants a login, and nobody is here to log in')
      const { agreeToLogin } = await import('../terminal/answers.ts')
      await agreeToLogin(invocation, server, url)
    },
  })
}

export function connectOptions(invocation: Invocation, options: TargetOptions): ConnectOptions {
  const { screen } = invocation
  const notes = notesOf(invocation)
  return {
    info: CLIENT_INFO,
    cache: false,
    ...(options.revision.length > 0 && { revisions: options.revision.map(knownRevision) }),
    ...(options.timeout !== undefined && { limits: { timeoutMs: options.timeout * 1000, connectTimeoutMs: options.timeout * 1000 } }),
    ...(options.log && { logLevel: options.log }),
    onLog: ({ level, logger, data }: LogMessage) => {
      const about = `[${level}${logger === undefined ? '' : ` ${logger.slice(0, MAX_LOGGER)}`}]`
      notes.note(typeof data === 'string' ? data : jsonText(data), (text) => words`${screen.noteStyle.dim(about)} ${text}`)
    },
    onWarning: warningsOf(invocation),
  }
}

/** Of the name of a logger. */
const MAX_LOGGER = 100

function knownRevision(date: string): string {
  const known = REVISIONS.map(({ version }) => version)
  if (!known.includes(date)) throw unknownName('protocol revision', date, known)
  return date
}

/** Connects, and closes whatever happens. */
export async function withClient<T>(
  invocation: Invocation,
  target: TargetName,
  options: TargetOptions,
  use: (client: Client) => Promise<T>,
  extra: ConnectOptions = {},
): Promise<T> {
  const reached = await reach(invocation, target, options)
  const { signal } = invocation
  const connecting = Client.connect(reached, { ...connectOptions(invocation, options), ...extra })
  const client = await orInterrupted(connecting, signal, () => void connecting.then((late) => late.close()).catch(() => {}))
  try {
    return await orInterrupted(use(client), signal)
  } finally {
    await client.close()
    notesOf(invocation).tellLeftOut()
  }
}

/** What `work` gives, or a rejection as soon as the person wants no more of it. */
function orInterrupted<T>(work: Promise<T>, signal: AbortSignal, onLeft: () => void = () => {}): Promise<T> {
  if (signal.aborted) return Promise.reject(signal.reason as Error)
  return new Promise((resolve, reject) => {
    const leave = (): void => {
      onLeft()
      // Work that listens to the signal itself may have more to say about how it ended.
      setTimeout(() => reject(signal.reason as Error), LAST_WORDS_MS)
    }
    signal.addEventListener('abort', leave, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave))
  })
}

const LAST_WORDS_MS = 200
