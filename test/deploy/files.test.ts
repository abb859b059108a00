/** The files of deploy/: what they copy exists, their settings are settings, and their times fit together. */

import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { dirname, join, resolve } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { parseAllDocuments, parseDocument } from 'yaml'
// @ts-expect-error a plain script without types
import { root } from '../../scripts/setup.mjs'
import { readSettings, type Settings } from '../../src/cli/serving/read-settings.ts'
import { FIXED_HTTP_LIMITS } from '../../src/http/server/fixed-limits.ts'
import { temporaryFolders } from '../support/folders.ts'
import { portOf } from '../support/http-requests.ts'
import { selfSigned } from '../support/self-signed.ts'

const newFolder = temporaryFolders()

const fileOf = (path: string): string => readFileSync(`${root}/deploy/${path}`, 'utf8')

/** What is in files of secrets. */
const SECRET_FILES: Record<string, string> = {
  PORTICO_KEYS_FILE: 'k'.repeat(32),
  PORTICO_STORE_FILE: 'redis://redis:6379',
  PORTICO_API_KEYS_FILE: `ci=${'k'.repeat(48)}`,
  PORTICO_METRICS_TOKEN_FILE: 't'.repeat(48),
}

/** Checks variables as the command does. Files of secrets are not there, so their settings get a value. */
function settingsOf(env: Record<string, string>): Promise<Settings> {
  const given = Object.entries(env).map(([name, value]) =>
    name in SECRET_FILES ? [name.slice(0, -'_FILE'.length), SECRET_FILES[name] as string] : [name, value],
  )
  return readSettings(new Map(), { cwd: '/', env: Object.fromEntries(given) })
}

/** The variables say who may call in both ways, of which one is enough. */
async function expectCallers({ PORTICO_API_KEYS_FILE: file = '', PORTICO_AUTH_ISSUERS: issuers = '', ...env }: Record<string, string>) {
  expect(file).not.toBe('')
  expect((await settingsOf({ ...env, PORTICO_HTTP: 'true', PORTICO_API_KEYS_FILE: file })).get('apiKeys')).toHaveLength(1)
  const settings = await settingsOf({ ...env, PORTICO_HTTP: 'true', PORTICO_AUTH_ISSUERS: issuers })
  expect(settings.get('authResource')).toBe(`https://${env.PORTICO_ALLOWED_HOSTS}/mcp`)
}

/** What the limits of all replicas allow in Redis. */
function mostBytes(replicas: number, { get }: Settings): number {
  const kept = (get('limits.maxKeptBytes') as number) * 8
  // Twice: what was there at the start of a period, and what may be added in it.
  return 2 * replicas * (kept + FIXED_HTTP_LIMITS.maxRoundBytes) + (get('storeTaskBytes') as number)
}

describe('the Dockerfile', () => {
  interface Instruction {
    name: string
    text: string
  }

  const instructions: Instruction[] = fileOf('Dockerfile')
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [, name = '', text = ''] = /^([A-Z]+) (.*)$/.exec(line) ?? []
      return { name, text }
    })
  /** Each stage, from its FROM to the next one. */
  const stages: Instruction[][] = []
  for (const each of instructions) {
    if (each.name === 'FROM') stages.push([])
    stages.at(-1)?.push(each)
  }
  const last = stages.at(-1) as Instruction[]
  const textsOf = (stage: readonly Instruction[], name: string): string[] =>
    stage.filter((each) => each.name === name).map(({ text }) => text)
  const env = Object.fromEntries(
    textsOf(last, 'ENV')
      .flatMap((text) => text.split(/\s+/))
      .map((pair) => pair.split('=') as [string, string]),
  )

  test('has a stage that builds, one that installs from the lock, and one that runs', () => {
    expect(stages.map(([from]) => from?.text.replace(/^\$\{NODE\}/, 'node'))).toEqual(['node AS build', 'node AS packages', 'node'])
    for (const install of textsOf(stages.flat(), 'RUN').filter((text) => /\bnpm (i|install|ci)\b/.test(text)))
      expect(install).toContain('npm ci')
    expect(textsOf(last, 'RUN').join()).not.toContain('npm')
  })

  test('copies only what is there and is not ignored, and stages that exist', () => {
    const rules = fileOf('Dockerfile.dockerignore')
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
    const patternOf = (rule: string): RegExp =>
      new RegExp(`^${rule.replace(/^!/, '').replaceAll('.', '\\.').replaceAll('**/', '(.*/)?').replaceAll('**', '.*')}(/.*)?$`)
    // The last rule that matches counts.
    const isIgnored = (path: string): boolean => rules.findLast((rule) => patternOf(rule).test(path))?.startsWith('!') === false
    expect(['README.md', 'dist/index.js', 'node_modules/x', 'console/node_modules/x', '.git/config'].every(isIgnored)).toBe(true)
    for (const text of textsOf(stages.flat(), 'COPY')) {
      const words = text.split(' ')
      const from = /^--from=(\w+)$/.exec(words[0] as string)?.[1]
      if (from !== undefined) {
        expect(stages.map(([each]) => each?.text.split(' AS ')[1])).toContain(from)
        continue
      }
      for (const source of words.slice(0, -1)) {
        expect(existsSync(`${root}/${source}`), source).toBe(true)
        expect(isIgnored(source), source).toBe(false)
      }
    }
  })

  test('installs the client library of Redis from a lock that is complete', () => {
    const { packages } = JSON.parse(fileOf('image/package-lock.json')) as {
      packages: Record<string, { version?: string; integrity?: string; dependencies?: Record<string, string> }>
    }
    const { dependencies } = JSON.parse(fileOf('image/package.json')) as { dependencies: Record<string, string> }
    expect(packages['']?.dependencies).toEqual(dependencies)
    const { version } = JSON.parse(readFileSync(`${root}/node_modules/ioredis/package.json`, 'utf8')) as { version: string }
    // The version that the tests of the store run with.
    expect(packages['node_modules/ioredis']?.version).toBe(version)
    for (const [name, { integrity }] of Object.entries(packages)) if (name !== '') expect(integrity, name).toMatch(/^sha512-/)
    // Both are put into one folder, so they must not have a package in common that running needs.
    const { dependencies: needed, optionalDependencies } = JSON.parse(readFileSync(`${root}/package.json`, 'utf8'))
    expect(Object.keys(packages).filter((name) => name.slice('node_modules/'.length) in { ...needed, ...optionalDependencies })).toEqual([])
  })

  test('links a command that the build has made executable', () => {
    const [, path] = /ln -s \/app\/node_modules\/portico\/(\S+) \/usr\/local\/bin\/portico/.exec(fileOf('Dockerfile')) ?? []
    expect(spawnSync(join(root, String(path)), ['--version'], { encoding: 'utf8' })).toMatchObject({ status: 0 })
  })

  test('can be the base of an image with packages, as the page shows', () => {
    const page = readFileSync(`${root}/docs/deployment.md`, 'utf8')
    const [example = ''] = [...page.matchAll(/^```dockerfile\n([\s\S]*?)^```$/gm)]
      .map(([, text]) => text)
      .filter((text) => text?.includes('npm ci'))
    const [, base] = /^ARG NODE=(\S+)$/m.exec(fileOf('Dockerfile')) ?? []
    expect([...example.matchAll(/^FROM (\S+)/gm)].map(([, from]) => from)).toEqual([base, 'portico'])
    // Packages come beside Portico, and do not replace it.
    const [, folder] = /^COPY --from=packages \S+\/node_modules (\S+)$/m.exec(example) ?? []
    expect(textsOf(last, 'COPY').find((text) => text.includes(' /build/dist '))).toContain(` ${folder}/portico/dist`)
    expect(example).toContain('rm -rf node_modules/portico')
    expect(`${example.trimEnd().split(' ').at(-1)}server.mjs`).toBe(env.PORTICO_SERVER)
  })

  test('runs as a user that is not root, with settings that are valid', async () => {
    expect(textsOf(last, 'USER')).toEqual(['1000:1000'])
    const settings = await settingsOf({ ...env, PORTICO_ALLOWED_HOSTS: 'x' })
    expect(Object.keys(env).filter((name) => name.startsWith('PORTICO_'))).toHaveLength(6)
    expect([settings.get('http'), settings.get('host'), settings.get('health')]).toEqual([true, '0.0.0.0', true])
    expect(textsOf(last, 'EXPOSE')).toEqual([env.PORTICO_PORT])
    expect(JSON.parse(textsOf(last, 'CMD')[0] as string)).toEqual(['portico', 'serve'])
    expect(textsOf(last, 'COPY').some((text) => text.startsWith('deploy/server.mjs '))).toBe(true)
  })

  test.for([false, true])('checks the health of the server without other programs; with a certificate: %s', async (isSecure) => {
    const [check = ''] = textsOf(last, 'HEALTHCHECK')
    const [, command = ''] = /CMD (\[.*\])$/.exec(check) ?? []
    const [program, ...args] = JSON.parse(command) as string[]
    expect(program).toBe('node')
    let status = 200
    const asked: string[] = []
    const onRequest: RequestListener = (request, response) => {
      asked.push(`${request.headers.host} ${request.url}`)
      response.writeHead(status).end()
    }
    const server = isSecure ? createSecureServer(selfSigned(), onRequest) : createServer(onRequest)
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    onTestFinished(() => void server.close())
    const port = portOf(server)
    const run = async (to: number): Promise<number | null> => {
      // The certificate may be set in a file, which the check does not read.
      const child = spawn(process.execPath, args, { env: { PORTICO_PORT: String(to) }, stdio: 'ignore' })
      return new Promise((done) => child.once('exit', done))
    }
    expect(await run(port)).toBe(0)
    status = 503
    expect(await run(port)).toBe(1)
    expect(asked).toEqual([`127.0.0.1:${port} /healthz`, `127.0.0.1:${port} /healthz`])
    expect(await run(1)).toBe(1)
  })

  const hasDocker = spawnSync('docker', ['info'], { stdio: 'ignore', timeout: 5000 }).status === 0
  test.runIf(hasDocker)(
    'builds, and its server is healthy',
    async () => {
      const docker = (...args: string[]): string => execFileSync('docker', args, { cwd: root, encoding: 'utf8' }).trim()
      docker('build', '-q', '-f', 'deploy/Dockerfile', '-t', 'portico-test', '.')
      const id = docker('run', '-d', '--rm', '-e', 'PORTICO_ALLOWED_HOSTS=mcp.example.com', 'portico-test')
      onTestFinished(() => void docker('rm', '-f', id))
      await expect.poll(() => docker('inspect', '-f', '{{.State.Health.Status}}', id), { timeout: 60_000 }).toBe('healthy')
      expect(docker('exec', id, 'id', '-u')).toBe('1000')
    },
    600_000,
  )
})

describe('the compose file', () => {
  interface Service {
    build?: { context: string; dockerfile: string }
    environment?: Record<string, string>
    secrets?: string[]
    volumes?: string[]
    networks?: string[]
    ports?: string[]
    depends_on?: Record<string, { condition: string }>
    stop_grace_period?: string
    command?: string[]
    user?: string
    read_only?: boolean
  }
  const document = parseDocument(fileOf('compose.yaml'), { merge: true })
  const compose = document.toJS() as {
    services: Record<string, Service>
    networks: Record<string, { internal?: boolean } | null>
    volumes: Record<string, unknown>
    secrets: Record<string, { file: string }>
  }
  const { services } = compose
  const replicas = Object.entries(services).filter(([name]) => name.startsWith('replica'))

  test('has a way to say who may call: without the marks of comments it is valid', async () => {
    const text = fileOf('compose.yaml').replaceAll(/^( *)# (?=PORTICO_|- portico_|portico_| {2}file:)/gm, '$1')
    const { services: all, secrets } = parseDocument(text, { merge: true }).toJS() as typeof compose
    const { environment = {}, secrets: names } = all['replica-1'] as Service
    expect(names?.map((name) => secrets[name]?.file)).toEqual(['./secrets/keys', './secrets/store', './secrets/api-keys'])
    expect(environment.PORTICO_API_KEYS_FILE).toBe(`/run/secrets/${names?.[2]}`)
    await expectCallers(environment)
  })

  test('names only services, networks, volumes, secrets and files that exist', () => {
    expect(document.errors).toEqual([])
    expect(Object.keys(services)).toEqual(['redis', 'replica-1', 'replica-2', 'nginx'])
    for (const [name, { build, secrets = [], volumes = [], networks = [], depends_on = {} }] of Object.entries(services)) {
      for (const other of Object.keys(depends_on)) expect(Object.keys(services), name).toContain(other)
      for (const network of networks) expect(Object.keys(compose.networks), name).toContain(network)
      for (const secret of secrets) expect(Object.keys(compose.secrets), name).toContain(secret)
      for (const volume of volumes) {
        const source = volume.split(':')[0] as string
        if (!source.startsWith('.')) expect(Object.keys(compose.volumes), name).toContain(source)
        else if (!source.startsWith('./secrets/')) expect(existsSync(join(root, 'deploy', source)), source).toBe(true)
      }
      if (build) expect(existsSync(resolve(root, 'deploy', build.context, build.dockerfile))).toBe(true)
    }
    // The person makes these files, and they are never committed.
    expect(readFileSync(`${root}/.gitignore`, 'utf8')).toContain('deploy/secrets/\n')
    for (const { file } of Object.values(compose.secrets)) expect(dirname(file)).toBe('./secrets')
  })

  test('gives all replicas the same valid settings, a shared store and shared keys', async () => {
    expect(replicas).toHaveLength(2)
    expect(replicas[0]?.[1]).toEqual(replicas[1]?.[1])
    for (const [, { environment = {}, secrets = [] }] of replicas) {
      for (const value of Object.values(environment)) expect(typeof value).toBe('string')
      const settings = await settingsOf(environment)
      expect([environment.PORTICO_KEYS_FILE, environment.PORTICO_STORE_FILE]).toEqual(secrets.map((name) => `/run/secrets/${name}`))
      expect(settings.get('trustProxy')).toBe(1)
    }
  })

  test('lets only nginx be reached, and replicas end in peace', () => {
    expect(compose.networks.inside).toEqual({ internal: true })
    for (const [name, { ports, networks }] of Object.entries(services)) {
      expect([name, ports !== undefined]).toEqual([name, name === 'nginx'])
      // Redis has no way out, and replicas have one that nobody else has.
      const more = name === 'nginx' ? ['outside'] : name === 'redis' ? [] : ['internet']
      expect([name, networks]).toEqual([name, ['inside', ...more]])
    }
    for (const [, { stop_grace_period = '' }] of replicas)
      expect(Number.parseInt(stop_grace_period, 10) * 1000).toBeGreaterThan(10_000 + 5000)
    const redis = services.redis?.command?.join(' ')
    expect(redis).toContain('--maxmemory-policy noeviction')
    expect(redis).toContain('--appendonly yes')
  })

  test('gives Redis the memory for what the limits of all replicas allow', async () => {
    const most = mostBytes(replicas.length, await settingsOf(replicas[0]?.[1].environment ?? {}))
    const [, gigabytes] = /--maxmemory (\d+)gb/.exec(services.redis?.command?.join(' ') ?? '') ?? []
    expect(most).toBeLessThan(Number(gigabytes) * 1024 ** 3)
  })

  test('has the names that nginx sends requests to, and that replicas accept', () => {
    const nginx = fileOf('nginx/portico.conf')
    expect([...nginx.matchAll(/^ {2}server (\S+):3000 /gm)].map(([, name]) => name)).toEqual(replicas.map(([name]) => name))
    const names = new Set([...nginx.matchAll(/server_name (\S+);/g)].map(([, name]) => name))
    expect(names).toEqual(new Set([replicas[0]?.[1].environment?.PORTICO_ALLOWED_HOSTS]))
    const mounted = services.nginx?.volumes?.map((volume) => volume.split(':')[1])
    // A mount of the file would keep the old one when an editor replaces it.
    expect(services.nginx?.volumes).toContain('./nginx:/etc/nginx/conf.d:ro')
    for (const [, path] of nginx.matchAll(/ssl_certificate(?:_key)? (\S+);/g)) expect(mounted).toContain(path)
  })
})

describe('the Kubernetes manifests', () => {
  type Json = Record<string, unknown>
  const documents = parseAllDocuments(fileOf('kubernetes/portico.yaml')) as { errors: unknown[]; toJS(): Json }[]
  const objects = documents.map((document) => document.toJS())
  const find = (kind: string): Json => objects.find((object) => object.kind === kind) as Json
  /** The value at a path such as `spec.template.spec`. */
  const at = (object: unknown, path: string): unknown =>
    path.split('.').reduce<unknown>((value, name) => (value as Json | undefined)?.[name], object)
  const deployment = find('Deployment')
  const pod = at(deployment, 'spec.template.spec') as Json
  const container = (pod.containers as Json[])[0] as Json
  const variablesOf = (of: Json): Record<string, string> =>
    Object.fromEntries((of.env as { name: string; value: string }[]).map(({ name, value }) => [name, value]))
  const env = variablesOf(container)
  const filesIn = (variables: Record<string, string>): unknown[] =>
    Object.keys(variables).flatMap((name) => (name.endsWith('_FILE') ? [variables[name]] : []))

  test('are the objects that they should be', () => {
    expect(documents.flatMap(({ errors }) => errors)).toEqual([])
    expect(objects.map(({ apiVersion, kind }) => `${apiVersion} ${kind}`)).toEqual([
      'apps/v1 Deployment',
      'v1 Service',
      'policy/v1 PodDisruptionBudget',
    ])
    const labels = { 'app.kubernetes.io/name': 'mcp-server' }
    expect(at(deployment, 'spec.selector.matchLabels')).toEqual(labels)
    expect(at(deployment, 'spec.template.metadata.labels')).toEqual(labels)
    expect(at(find('Service'), 'spec.selector')).toEqual(labels)
    expect(at(find('PodDisruptionBudget'), 'spec.selector.matchLabels')).toEqual(labels)
    expect(at(find('Service'), 'spec.sessionAffinity')).toBe('None')
    // Whatever the number of replicas is, a pod can be moved, and the others stay.
    expect(at(find('PodDisruptionBudget'), 'spec')).toEqual({ maxUnavailable: 1, selector: { matchLabels: labels } })
  })

  test('have valid settings, and no secrets', async () => {
    for (const { value } of container.env as { value: unknown }[]) expect(typeof value).toBe('string')
    expect((await settingsOf({ PORTICO_HTTP: 'true', ...env })).get('allowedHosts')).toEqual(['mcp.example.com'])
    expect(Object.keys(env)).not.toContain('PORTICO_KEYS')
    expect(objects.some(({ kind }) => kind === 'Secret')).toBe(false)
    const [{ mountPath } = { mountPath: '' }] = container.volumeMounts as { mountPath: string }[]
    const [volume] = pod.volumes as { secret: { items: { key: string; path: string }[] } }[]
    const mounted = volume?.secret.items.map(({ path }) => `${mountPath}/${path}`)
    expect(new Set(filesIn(env))).toEqual(new Set(mounted))
    expect(mounted).toHaveLength(3)
    // The page creates what is mounted.
    const [command = ''] = /kubectl create secret generic mcp-server [^`]*/.exec(readFileSync(`${root}/docs/deployment.md`, 'utf8')) ?? []
    for (const { key } of volume?.secret.items ?? []) expect(command).toContain(`--from-literal=${key}=`)
    // Kubernetes would overwrite PORTICO_PORT for a Service of this name.
    expect(pod.enableServiceLinks).toBe(false)
  })

  test('have a way to say who may call: without the marks of comments they are valid', async () => {
    const text = fileOf('kubernetes/portico.yaml').replaceAll(/^( {10,})# (?=- name: PORTICO_|- key: | {2}value: | {2}path: )/gm, '$1')
    const [other] = parseAllDocuments(text) as { errors: unknown[]; toJS(): Json }[]
    expect(other?.errors).toEqual([])
    const { containers, volumes } = at(other?.toJS(), 'spec.template.spec') as { containers: Json[]; volumes: Json[] }
    const variables = variablesOf(containers[0] as Json)
    const items = at(volumes[0], 'secret.items') as { path: string }[]
    expect(new Set(filesIn(variables))).toEqual(new Set(items.map(({ path }) => `/var/run/mcp-server/${path}`)))
    expect(items).toHaveLength(4)
    await expectCallers(variables)
  })

  test('say how much memory Redis needs for what the limits of all pods allow', async () => {
    const pods = Number(at(deployment, 'spec.replicas')) + Number(at(deployment, 'spec.strategy.rollingUpdate.maxSurge'))
    const bytes = mostBytes(pods, await settingsOf({ PORTICO_HTTP: 'true', ...env }))
    expect(bytes).toBeLessThan(4 * 1024 ** 3)
    expect(bytes).toBeGreaterThan(3 * 1024 ** 3)
    for (const text of [fileOf('kubernetes/portico.yaml'), readFileSync(`${root}/docs/deployment.md`, 'utf8')])
      expect(text).toContain('Redis or Valkey with 4 GB of memory')
  })

  test('make public what nginx makes public, with the same settings', () => {
    const nginx = fileOf('nginx/portico.conf')
    const ingress = parseDocument(fileOf('kubernetes/ingress.yaml')).toJS() as Json
    expect([ingress.apiVersion, ingress.kind]).toEqual(['networking.k8s.io/v1', 'Ingress'])
    const rules = at(ingress, 'spec.rules') as { host: string; http: { paths: Json[] } }[]
    expect([rules.map(({ host }) => host), at(ingress, 'spec.tls.0.hosts')]).toEqual([
      [env.PORTICO_ALLOWED_HOSTS],
      [env.PORTICO_ALLOWED_HOSTS],
    ])
    const place = new RegExp(/location ~ (\S+) \{/.exec(nginx)?.[1] as string)
    const paths = rules.flatMap(({ http }) => http.paths)
    expect(paths).toHaveLength(5)
    for (const { path, pathType, backend } of paths) {
      expect(path).toMatch(place)
      expect(pathType).toBe('Exact')
      expect(backend).toEqual({
        service: { name: at(find('Service'), 'metadata.name'), port: { name: at(find('Service'), 'spec.ports.0.name') } },
      })
    }
    const settings = Object.entries(at(ingress, 'metadata.annotations') as Record<string, string>)
    expect(settings).toHaveLength(7)
    for (const [name, value] of settings) {
      const setting = name
        .replace('nginx.ingress.kubernetes.io/', '')
        .replaceAll('-', '_')
        .replace('proxy_body_size', 'client_max_body_size')
      // Seconds have a unit there.
      expect(nginx).toMatch(new RegExp(`^ +${setting} ${value}s?;`, 'm'))
    }
  })

  test('probe paths that the server has, at the port of the image', () => {
    const [{ name: port, containerPort } = { name: '', containerPort: 0 }] = container.ports as { name: string; containerPort: number }[]
    expect(fileOf('Dockerfile')).toContain(`PORTICO_PORT=${containerPort} `)
    expect(fileOf('Dockerfile')).toContain('PORTICO_HEALTH=true')
    const probe = (name: string): unknown => at(container, `${name}.httpGet`)
    expect(probe('startupProbe')).toEqual({ path: '/healthz', port })
    expect(probe('livenessProbe')).toEqual({ path: '/healthz', port })
    expect(probe('readinessProbe')).toEqual({ path: '/readyz', port })
    // A check may take 750 ms.
    expect(at(container, 'readinessProbe.timeoutSeconds')).toBeGreaterThan(1)
    expect(at(find('Service'), 'spec.ports.0.targetPort')).toBe(port)
  })

  test('let a pod answer what is in progress before it is killed', () => {
    const [, seconds] = at(container, 'lifecycle.preStop.exec.command') as string[]
    const needed = Number(seconds) + Number(env.PORTICO_GRACE_MS) / 1000
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(needed + 5)
    expect(at(deployment, 'spec.strategy.rollingUpdate')).toEqual({ maxSurge: 1, maxUnavailable: 0 })
  })

  test('run without rights that the server does not need', () => {
    expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } })
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    })
    expect(pod.automountServiceAccountToken).toBe(false)
  })
})

describe('the unit for systemd', () => {
  const text = fileOf('portico.service')
  const linesOf = (name: string, of = text): string[] => [...of.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, value = '']) => value)
  const env = (of: string): Record<string, string> =>
    Object.fromEntries(linesOf('Environment', of).map((line) => line.split(/=(.*)/s).slice(0, 2) as [string, string]))
  const page = readFileSync(`${root}/docs/deployment.md`, 'utf8')

  test('has settings that are valid, and its secrets in files that the page creates', async () => {
    const withStore = text.replaceAll(/^# (?=LoadCredential|Environment)/gm, '')
    for (const [unit, count] of [
      [text, 2],
      [withStore, 3],
    ] as const) {
      const settings = await settingsOf(env(unit))
      expect([settings.get('http'), settings.get('health'), settings.get('trustProxy')]).toEqual([true, true, 1])
      // A proxy on the same machine is the only one that reaches it.
      expect(settings.get('host')).toBe('127.0.0.1')
      const names = linesOf('LoadCredential', unit).map((line) => line.split(':')[0])
      expect(names).toHaveLength(count)
      expect(names.map((name) => `%d/${name}`)).toEqual(
        Object.entries(env(unit)).flatMap(([name, value]) => (name.endsWith('_FILE') ? [value] : [])),
      )
    }
    for (const line of linesOf('LoadCredential')) expect(page).toContain(`sudo tee ${line.split(':')[1]}`)
  })

  test('starts the command itself, starts it again, and gives it the time to answer', async () => {
    const [command = ''] = linesOf('ExecStart')
    expect(command).toBe(`${linesOf('WorkingDirectory')[0]}/node_modules/.bin/portico serve`)
    expect(dirname(env(text).PORTICO_SERVER as string)).toBe(linesOf('WorkingDirectory')[0])
    expect(linesOf('Restart')).toEqual(['always'])
    expect(linesOf('KillMode')).toEqual(['mixed'])
    const graceMs = (await settingsOf(env(text))).get('graceMs') as number
    expect(Number(linesOf('TimeoutStopSec')[0]) * 1000).toBeGreaterThanOrEqual(graceMs + 5000)
    // SIGHUP would end it.
    expect(text).not.toContain('ExecReload')
    expect(linesOf('RestartPreventExitStatus')).toEqual(['2 8'])
  })

  const hasSystemd = spawnSync('systemd-analyze', ['--version'], { stdio: 'ignore' }).status === 0
  test.runIf(hasSystemd)('has only keys and values that systemd knows', () => {
    const file = join(newFolder(), 'portico.service')
    // systemd looks for the program, too.
    writeFileSync(file, text.replace(/^ExecStart=.*$/m, `ExecStart=${process.execPath}`))
    const { status, stderr } = spawnSync('systemd-analyze', ['verify', file], { encoding: 'utf8' })
    expect([status, stderr]).toEqual([0, ''])
  })
})
