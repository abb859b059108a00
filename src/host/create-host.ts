/** Creates a host, in this order: settings, policy, storage, gate, services, servers. */

import { userInfo } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { fileTokenStore } from '../auth/store/local-stores.ts'
import { type Clock, systemClock } from '../base/clock.ts'
import { VERSION } from '../base/version.ts'
import { checkMembers } from '../protocol/check-members.ts'
import { McpError } from '../protocol/errors.ts'
import type { Authorizer } from '../protocol/interfaces/authorizer.ts'
import { mergeOptions } from '../protocol/with-defaults.ts'
import type { OtherName } from './approval/name-warnings.ts'
import { ReviewQueue } from './approval/review-queue.ts'
import { Catalog } from './catalog/catalog.ts'
import { ToolSearch } from './catalog/search.ts'
import { EntrySearch } from './catalog/search-all.ts'
import { inlineServers } from './config/inline-servers.ts'
import { inputsFor } from './config/inputs.ts'
import { serverFile } from './config/server-file.ts'
import { Host } from './host.ts'
import { personModel } from './language-models/person-as-model.ts'
import { StoredModels } from './language-models/stored-models.ts'
import type { HostEvent } from './model/event.ts'
import type { Asker } from './model/question.ts'
import type { ServerSpec } from './model/server-spec.ts'
import { DEFAULT_HOST_LIMITS, type GivenConfig, HOST_LIMIT_MEMBERS, HOST_MEMBERS, type HostLimits, type HostOptions } from './options.ts'
import { RootConsent } from './roots/root-consent.ts'
import { type Broker, createBroker } from './sampling/broker.ts'
import { fileBudgetStore } from './sampling/budget.ts'
import { redactEvent, redactingAsker, redactValue } from './secrets/redact-output.ts'
import { redactor as createRedactor, type Redactor } from './secrets/redactor.ts'
import { Fleet } from './servers/fleet.ts'
import { agreeToLogin, askForInput } from './servers/host-questions.ts'
import { HostedServer } from './servers/hosted-server.ts'
import { FIXED_SUPERVISION_LIMITS } from './servers/limits.ts'
import { deferredLogin, Logins, needsLogin } from './servers/login.ts'
import { samplingGate } from './servers/sampling-gate.ts'
import { answersFor } from './servers/server-answers.ts'
import { TrafficLog } from './servers/traffic.ts'
import { createConsent } from './setup/create-consent.ts'
import { samplingLimits } from './setup/derived-limits.ts'
import { HostModels } from './setup/host-models.ts'
import { openPolicy, warnAboutUnusedPolicy } from './setup/host-policy.ts'
import type { ConsentServices, HostServices } from './setup/host-services.ts'
import { readConfig } from './setup/lazy-readers.ts'
import { hostFolder, openStorage, STORAGE_PATHS } from './setup/open-storage.ts'
import { HostTasks } from './tasks/host-tasks.ts'

/**
 * Creates a host. It connects to all servers in the background; `host.settled()` waits for them.
 * @throws McpError ERR_CONFIG if the policy or the only configuration file cannot be read
 * @example
 * await using host = await createHost({ servers: { files: { command: 'files-server' } }, ask: terminalAsker })
 * await host.settled()
 * const result = await host.call('files__read', { path: 'notes.txt' })
 */
export async function createHost(options: HostOptions = {}): Promise<Host> {
  checkMembers('createHost', options, HOST_MEMBERS)
  checkMembers('limits', options.limits, HOST_LIMIT_MEMBERS)
  const settings = readSettings(options)
  const { limits, redactor, asker, warn } = settings
  const policy = await openPolicy(options, warn)
  if (options.policy === undefined) await warnAboutUnusedPolicy(join(hostFolder(options.folder), STORAGE_PATHS.policy), warn)
  const specs = await readSpecs(settings)
  const storage = await openStorage({
    ...options,
    retention: options.auditRetention,
    scrub: (text) => redactor.scrub(text),
    onWarning: warn,
  })
  const consent = createConsent({ ...settings, storage, policy, asker, mode: options.mode, aroundAction: options.telemetry?.action })
  const models = await openModels(settings, consent)
  const services = createServices(settings, consent, models)
  const host = new Host(services, {
    limits,
    favorites: options.favorites ?? [],
    info: options.info ?? { name: 'portico', version: VERSION },
    openUrl: settings.openUrl,
  })
  services.catalog.addServers(specs.map(({ id }) => id))
  await host.configure(specs)
  services.tasks.open()
  return host
}

/** The options with their defaults. Questions and events leave the host through `asker` and `emit`, which redact secrets. */
interface Settings {
  options: HostOptions
  limits: Partial<HostLimits> & typeof DEFAULT_HOST_LIMITS
  clock: Clock
  principal: string
  project: string
  redactor: Redactor
  asker: Asker | undefined
  emit(event: HostEvent): void
  warn(text: string, server?: string): void
  /** Undefined: no one looks at messages. */
  traffic: TrafficLog | undefined
  openUrl(url: string, purpose: 'login' | 'page'): void | Promise<void>
}

function readSettings(options: HostOptions): Settings {
  const { onEvent = () => {}, onTraffic, ask } = options
  const limits = mergeOptions(DEFAULT_HOST_LIMITS, options.limits)
  const redactor = createRedactor([])
  const emit = (event: HostEvent): void => onEvent(redactEvent(event, redactor))
  return {
    options,
    limits,
    clock: options.clock ?? systemClock,
    principal: options.principal ?? userInfo().username,
    project: options.project ?? process.cwd(),
    redactor,
    asker: ask && redactingAsker(ask, redactor),
    emit,
    traffic: onTraffic && new TrafficLog((traffic) => onTraffic(redactValue(traffic, redactor))),
    warn: (text, server) => emit({ kind: 'warning', text, ...(server !== undefined && { server }) }),
    openUrl: options.openUrl ?? (async (url) => (await import('../auth/client/login/node/browser.ts')).openBrowser(url)),
  }
}

/** Reads the servers of `config` and `servers`. Fails if a file cannot be read and no server is left without it. */
async function readSpecs({ options, project, warn }: Settings): Promise<ServerSpec[]> {
  const { config, servers = {}, folder } = options
  if (config === undefined) return inlineServers(servers)
  const own = serverFile(hostFolder(folder)).file
  const files = [config as GivenConfig | GivenConfig[]].flat().map((given) => (typeof given === 'string' ? { file: given } : given))
  const read = await readConfig(
    files.map(({ file, isOurs }) => ({ file, isOurs: isOurs ?? resolve(file) === own })),
    { project },
  )
  for (const { file, where, text } of read.problems) {
    const problem = `${file}${where === '' ? '' : `, ${where}`}: ${text}`
    if (where === '' && read.servers.length === 0) throw new McpError('ERR_CONFIG', problem)
    warn(problem)
  }
  return [...read.servers, ...inlineServers(servers)]
}

async function openModels({ options, redactor, warn }: Settings, { folder, vault }: ConsentServices): Promise<HostModels> {
  const stored = new StoredModels({ folder, vault, onKey: (value, name) => redactor.add(value, `secret ${name}`) })
  await stored.list().catch((error: Error) => warn(error.message))
  return new HostModels([options.model ?? []].flat(), stored, options.fallbackModel)
}

function createServices(settings: Settings, consent: ConsentServices, models: HostModels): HostServices {
  const { options, clock, asker, emit, warn } = settings
  // The other services look up servers in the fleet, so the fleet is created first. It makes its first server after `services` is complete.
  const fleet = new Fleet<HostedServer>({
    supervise: (spec) => createHostedServer(settings, services, spec),
    onConfigured: (ids) => emit({ kind: 'servers', ids }),
    clock,
  })
  const catalog = new Catalog({
    isVisible: (id, kind, name) => fleet.find(id)?.stateOf(kind, name) === 'pinned',
    onChange: (kinds) => emit({ kind: 'catalog', kinds }),
    clock,
  })
  const search = new ToolSearch(catalog)
  const reviews = new ReviewQueue({
    parts: consent,
    othersThan: ({ id }) => [
      ...toolNames(
        fleet.all().filter((server) => server.id !== id),
        catalog,
      ),
      ...approvedNames(consent, (server) => server !== id && fleet.find(server) !== undefined && !fleet.find(server)?.offering),
      ...fleet.all().flatMap((server) => (server.id === id ? [] : [{ server: server.id }])),
    ],
    onReview: (review) => emit({ kind: 'review', review }),
    onEnabled: (enabled) => emit({ kind: 'enabled', ...enabled }),
    onApproved: (server) => {
      const { id } = server
      catalog.refresh(id)
      emit({ kind: 'approved', server: id, waiting: reviews.review(server)?.items.length ?? 0 })
      // Before the approval the server got an empty list of roots, so it is told to ask again.
      fleet.find(id)?.announceRoots()
    },
    onWarning: (id, text) => warn(text, id),
  })
  const roots = new RootConsent({
    services: consent,
    offered: options.roots ?? [],
    canAsk: asker !== undefined,
    onChange: (id) => fleet.find(id)?.announceRoots(),
    onWarning: warn,
  })
  const broker = createSampling(settings, consent, { fleet, models })
  const { passphrase, keychain } = options
  const logins = new Logins(fileTokenStore({ folder: join(consent.folder, STORAGE_PATHS.tokens), passphrase, keychain, onWarning: warn }))
  const services: HostServices = {
    ...consent,
    fleet,
    catalog,
    search,
    entrySearch: new EntrySearch(catalog, search),
    reviews,
    roots,
    models,
    broker,
    logins,
    tasks: new HostTasks(
      { ...consent, fleet, hasOtherServers: options.hasOtherServers ?? false },
      {
        folder: join(consent.folder, STORAGE_PATHS.tasks),
        onChange: ({ id, server, tool, status }) => emit({ kind: 'task', id, server, tool, status }),
        onWarning: warn,
      },
    ),
  }
  return services
}

function createSampling(
  { options, limits, clock, asker, warn }: Settings,
  consent: ConsentServices,
  { fleet, models }: Pick<HostServices, 'fleet' | 'models'>,
): Broker {
  return createBroker({
    get models() {
      return models.list()
    },
    gate: samplingGate(consent, (id) => fleet.get(id)),
    store: fileBudgetStore(join(consent.folder, STORAGE_PATHS.budgets)),
    clock,
    now: consent.wallNow,
    onFailure: (id, error) => warn(`A sampling request was not answered: ${(error as Error).message}`, id),
    equivalents: options.equivalents,
    person: asker && ((id) => personModel({ asker, about: questionFacts(consent, fleet.get(id)) })),
    limits: samplingLimits(limits),
    budget: limits.budget,
    allowedModels: (id) => options.allowedModels?.(id),
  })
}

/** Where a question about a server comes from. */
const questionFacts = ({ principal, ownConversation }: ConsentServices, server: HostedServer) => ({
  principal,
  run: (server.onlyConversation ?? ownConversation).id,
  server: server.shown,
  chain: ['you', `server ${server.id}`],
})

function createHostedServer(settings: Settings, services: HostServices, spec: ServerSpec): HostedServer {
  const { options, limits, clock, asker, emit, warn, openUrl } = settings
  const { catalog, reviews, roots, broker, logins, models } = services
  // Roots and logins of a former server with this name were not granted to this one.
  roots.forget(spec.id)
  logins.forget(spec.id)
  const server: HostedServer = new HostedServer({
    spec,
    services,
    auth: createAuthorizer(settings, services, spec, () => server),
    input: async (asking, id, signal) => {
      const ask = inputsFor(spec, { vault: await services.vault(), ask: (input) => askForInput(services, asking, input, signal) })
      return ask(id)
    },
    onOther: ({ id }) => roots.forget(id),
    roots: () => roots.of(spec.id).map(({ uri }) => fileURLToPath(uri)),
    onOffering: (listed, offering) => {
      try {
        catalog.put(spec.id, offering)
      } catch (error) {
        return warn((error as Error).message, spec.id)
      }
      reviews.look(listed)
      services.tasks.look()
    },
    supervision: {
      answers: answersFor({
        services,
        server: () => server,
        canAsk: asker !== undefined,
        openUrl,
        sample: models.list().length > 0 || asker ? broker.answerFor(spec.id) : undefined,
        roots: () => roots.answer(server),
      }),
      clock,
      onHealth: (health) => emit({ kind: 'health', server: spec.id, health }),
      onLog: (log) => emit({ kind: 'log', server: spec.id, log }),
      traffic: settings.traffic,
      onWarning: (text) => warn(text, spec.id),
      info: options.info,
      telemetry: options.telemetry?.request,
      limits: { ...limits.server, ...FIXED_SUPERVISION_LIMITS },
      clientLimits: limits.client,
    },
  })
  return server
}

function createAuthorizer(
  { options, warn, openUrl }: Settings,
  services: HostServices,
  spec: ServerSpec,
  server: () => HostedServer,
): Authorizer | undefined {
  if (options.auth) return options.auth(spec)
  if (!needsLogin(spec)) return undefined
  const login = deferredLogin({
    store: services.logins.tokens,
    user: services.principal,
    about: { name: 'Portico' },
    openBrowser: (url) => agreeToLogin(services, server(), url, openUrl),
    onWarning: (text) => warn(text, spec.id),
  })
  services.logins.add(spec.id, login)
  return login
}

/** The approved tools of other configured servers, which are not started: a new server must not look like one of them. */
const approvedNames = ({ pins }: ConsentServices, isMeant: (server: string) => boolean): OtherName[] =>
  pins
    .list()
    .filter(({ server }) => isMeant(server))
    .flatMap(({ server, items }) => items.flatMap(({ kind, name }) => (kind === 'tool' ? [{ server, name }] : [])))

/** The names of all tools: those of the servers, and those that models see. */
const toolNames = (servers: readonly HostedServer[], catalog: Catalog): OtherName[] =>
  servers.flatMap(({ id, offering }) =>
    (offering?.tools ?? []).flatMap(({ name }) => {
      const exposed = catalog.entryOf('tool', id, name)?.exposed
      return [name, ...(exposed === undefined ? [] : [exposed])].map((each) => ({ server: id, name: each }))
    }),
  )
