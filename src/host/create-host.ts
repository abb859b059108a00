/** Puts a host together: what it keeps, what it decides by, and one supervised connection for each server. */

import { userInfo } from 'node:os'
import { join, resolve } from 'node:path'
import type { OAuth } from '../auth/client/oauth.ts'
import { fileTokenStore } from '../auth/store/local-stores.ts'
import { systemClock } from '../base/clock.ts'
import { McpError } from '../protocol/errors.ts'
import type { Authorizer } from '../protocol/seams/authorizer.ts'
import { withDefaults } from '../protocol/with-defaults.ts'
import { LastArguments } from './actions/last-arguments.ts'
import type { OtherName } from './approval/flags.ts'
import { ReviewQueue } from './approval/review-queue.ts'
import { Catalog } from './catalog/catalog.ts'
import { inlineServers } from './config/inline-servers.ts'
import { inputsFor } from './config/inputs.ts'
import { readConfig } from './config/lazy-readers.ts'
import { serverFile } from './config/server-file.ts'
import { nobody } from './consent/ask/askers.ts'
import { DEFAULT_GATE_LIMITS, Gate } from './consent/gate/gate.ts'
import { UsageCounter } from './consent/usage.ts'
import { Host } from './host.ts'
import { Run } from './model/run.ts'
import type { ServerSpec } from './model/server-spec.ts'
import { personModel } from './models/person.ts'
import { DEFAULT_HOST_LIMITS, type GivenConfig, type HostEvent, type HostOptions } from './options.ts'
import type { CompiledPolicy } from './policy/compile-policy.ts'
import { loadPolicy } from './policy/load-policy.ts'
import { RootConsent } from './roots/root-consent.ts'
import { createBroker } from './sampling/broker.ts'
import { fileBudgetStore } from './sampling/budget.ts'
import { redactEvent, redactingAsker } from './secrets/redact-output.ts'
import { redactor } from './secrets/redactor.ts'
import { Fleet } from './servers/fleet.ts'
import { agreeToLogin, askForInput } from './servers/host-questions.ts'
import { HostedServer } from './servers/hosted-server.ts'
import { deferredLogin } from './servers/login.ts'
import { answersFor, samplingGate } from './servers/server-answers.ts'
import { type HostStorage, hostFolder, openStorage, STORAGE_PATHS } from './services/open-storage.ts'
import type { HostServices } from './services/services.ts'

/** Starts connecting to all servers in the background; `settled` tells when that is over. */
export async function createHost(options: HostOptions = {}): Promise<Host> {
  const limits = withDefaults(DEFAULT_HOST_LIMITS, options.limits)
  const { clock = systemClock, onEvent = () => {} } = options
  const secrets = redactor([])
  const ask = options.ask && redactingAsker(options.ask, secrets)
  const emit = (event: HostEvent): void => onEvent(redactEvent(event, secrets))
  const warn = (text: string, server?: string): void => emit({ kind: 'warning', text, ...(server !== undefined && { server }) })

  let policy = await loadPolicy(options)
  const specs = await specsOf(options, warn)
  const kept = await openStorage(options, (text) => secrets.scrub(text), warn)
  const parts = partsOf({ ...options, ...(ask && { ask }) }, kept, secrets, () => policy, limits.maxResultBytes)
  const models = [options.model ?? []].flat()
  const hosted = new Map<string, HostedServer>()
  const logins = new Map<string, OAuth>()

  const server = (id: string): HostedServer => {
    fleet.get(id)
    return hosted.get(id) as HostedServer
  }
  const catalog = new Catalog({
    isVisible: (id, kind, name) => hosted.get(id)?.stateOf(kind, name) === 'pinned',
    onChange: (kinds) => emit({ kind: 'catalog', kinds }),
    clock,
  })
  const approvals = new ReviewQueue({
    parts,
    othersThan: (one) =>
      namesOf(
        [...hosted.values()].filter((each) => each !== one),
        catalog,
      ),
    onReview: (review) => emit({ kind: 'review', review }),
    onApproved: ({ id, supervised }) => {
      catalog.refresh(id)
      // Before, it was told that it has none.
      supervised.announceRoots()
    },
    onWarning: (id, text) => warn(text, id),
  })
  const roots = new RootConsent({
    parts,
    offered: options.roots ?? [],
    canAsk: ask !== undefined,
    onChange: (id) => hosted.get(id)?.supervised.announceRoots(),
    onWarning: warn,
  })
  const broker = createBroker({
    models,
    gate: samplingGate(parts, server),
    store: fileBudgetStore(join(kept.folder, STORAGE_PATHS.budgets)),
    clock,
    now: parts.wallNow,
    onFailure: (id, error) => warn(`A sampling request was not answered: ${(error as Error).message}`, id),
    ...(options.equivalents && { equivalents: options.equivalents }),
    ...(ask && { person: (id: string) => personModel({ asker: ask, about: aboutOf(parts, server(id)) }) }),
    ...(limits.sampling && { limits: limits.sampling }),
    ...(limits.budget && { budget: limits.budget }),
    ...(options.allowedModels && { allowedModels: (id: string) => options.allowedModels?.(id) }),
  })
  const openUrl = options.openUrl ?? (async (url: string) => (await import('../auth/client/login/node/browser.ts')).openBrowser(url))

  const supervise = (spec: ServerSpec) => {
    // One of this name that was configured otherwise may have been given what is not meant for this one.
    forget(spec.id)
    const own = (): HostedServer => one
    const one: HostedServer = new HostedServer({
      spec,
      parts,
      auth: authFor(spec, own),
      input: async (asking, id, signal) =>
        inputsFor(spec, { vault: await parts.vault(), ask: (input) => askForInput(parts, asking, input, signal) })(id),
      onOther: ({ id }) => roots.forget(id),
      onListing: (listed, { surface }) => {
        try {
          catalog.put(spec.id, surface)
        } catch (error) {
          return warn((error as Error).message, spec.id)
        }
        approvals.look(listed)
      },
      supervision: {
        answers: answersFor({
          parts,
          server: own,
          canAsk: ask !== undefined,
          openUrl,
          sample: models.length > 0 || ask ? broker.answerFor(spec.id) : undefined,
          roots: () => roots.answer(one),
        }),
        clock,
        onHealth: (health) => emit({ kind: 'health', server: spec.id, health }),
        onLog: (log) => emit({ kind: 'log', server: spec.id, log }),
        onWarning: (text) => warn(text, spec.id),
        ...(options.info && { info: options.info }),
        ...(limits.server && { limits: limits.server }),
        ...(limits.client && { clientLimits: limits.client }),
      },
    })
    hosted.set(spec.id, one)
    return one.supervised
  }

  function forget(id: string): void {
    hosted.delete(id)
    logins.delete(id)
    roots.forget(id)
  }

  function authFor(spec: ServerSpec, own: () => HostedServer): Authorizer | undefined {
    if (options.auth) return options.auth(spec)
    if (spec.transport.type !== 'http' || 'authorization' in lowerCased(spec.transport.headers)) return undefined
    const login = deferredLogin({
      store: tokens,
      user: parts.principal,
      about: { name: 'Portico' },
      openBrowser: (url) => agreeToLogin(parts, own(), url, openUrl),
      onWarning: (text) => warn(text, spec.id),
    })
    logins.set(spec.id, login)
    return login
  }

  const tokens = fileTokenStore({
    folder: join(kept.folder, STORAGE_PATHS.tokens),
    passphrase: options.passphrase,
    keychain: options.keychain,
    onWarning: warn,
  })
  const fleet = new Fleet({ supervise, clock, limits: { maxServers: limits.maxServers } })
  const loginOf = (id: string): { login: OAuth; url: string } => {
    const { transport } = server(id).spec
    const login = logins.get(id)
    if (!login || transport.type !== 'http') {
      const why = transport.type === 'http' ? 'its configuration says with what it is authorized' : 'it is not at a URL'
      throw new McpError('ERR_UNSUPPORTED', `There is no login for the server ${JSON.stringify(id)}: ${why}`)
    }
    return { login, url: transport.url }
  }

  const host = new Host({
    parts,
    kept,
    fleet,
    catalog,
    approvals,
    broker,
    roots,
    models,
    limits: {
      maxDefinitionTokens: limits.maxDefinitionTokens,
      chat: limits.chat ?? {},
    },
    favorites: options.favorites ?? [],
    policy: () => policy,
    setPolicy: async (next) => {
      policy = await loadPolicy({ ...options, policy: next })
    },
    server,
    onRemoved: (id) => {
      forget(id)
      catalog.remove(id)
    },
    login: async (id, signal) => {
      const { login, url } = loginOf(id)
      await login.login(url, signal ? { signal } : {})
    },
    logout: async (id, signal) => {
      const { login, url } = loginOf(id)
      await login.logout(url, signal ? { signal } : {})
    },
  })
  catalog.addServers(specs.map(({ id }) => id))
  await host.configure(specs)
  return host
}

/** A file that cannot be read is no reason to start without what it says. */
async function specsOf(options: HostOptions, warn: (text: string) => void): Promise<ServerSpec[]> {
  const { config, servers = {}, project = process.cwd(), folder } = options
  if (config === undefined) return inlineServers(servers)
  const own = serverFile(hostFolder(folder)).file
  const files = [config as GivenConfig | GivenConfig[]].flat().map((given) => (typeof given === 'string' ? { file: given } : given))
  const read = await readConfig(
    files.map(({ file, isOurs }) => ({ file, isOurs: isOurs ?? resolve(file) === own })),
    { project },
  )
  for (const { file, where, text } of read.problems) {
    const words = `${file}${where === '' ? '' : `, ${where}`}: ${text}`
    if (where === '' && read.servers.length === 0) throw new McpError('ERR_CONFIG', words)
    warn(words)
  }
  return [...read.servers, ...inlineServers(servers)]
}

function partsOf(
  options: HostOptions,
  kept: HostStorage,
  secrets: HostServices['redactor'],
  policy: () => CompiledPolicy,
  maxResultBytes: number,
): HostServices {
  const { ask, clock = systemClock, limits = {} } = options
  const principal = options.principal ?? userInfo().username
  const project = options.project ?? process.cwd()
  const wallNow = (): number => Date.now()
  const usage = new UsageCounter({ now: wallNow })
  const gate = new Gate({
    principal,
    project,
    mode: options.mode ?? (ask ? 'interactive' : 'headless'),
    policy,
    grants: kept.grants,
    usage,
    asker: ask ?? nobody(),
    audit: kept.audit,
    clock,
    wallNow,
    limits: withDefaults(DEFAULT_GATE_LIMITS, limits.gate),
  })
  return {
    gate,
    pins: kept.pins,
    vault: kept.vault,
    redactor: secrets,
    usage,
    lastArguments: new LastArguments(),
    maxResultBytes,
    hasRules: (kind) => (policy().byKind.get(kind) ?? []).length > 0,
    run: new Run(),
    principal,
    project,
    clock,
    wallNow,
  }
}

const aboutOf = (parts: HostServices, server: HostedServer) => ({
  principal: parts.principal,
  run: (server.onlyRun ?? parts.run).id,
  server: server.shown,
  chain: ['you', `server ${server.id}`],
})

/** By the names that the servers have for them, and by those that models know them by. */
const namesOf = (servers: readonly HostedServer[], catalog: Catalog): OtherName[] =>
  servers.flatMap(({ id, supervised }) =>
    (supervised.listing?.surface.tools ?? []).flatMap(({ name }) => {
      const exposed = catalog.entryOf('tool', id, name)?.exposed
      return [name, ...(exposed === undefined ? [] : [exposed])].map((each) => ({ server: id, name: each }))
    }),
  )

const lowerCased = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
