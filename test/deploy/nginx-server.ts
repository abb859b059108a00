/** A real nginx with the configuration of deploy/, in a folder of its own. Only names, ports and the certificate are others. */

import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { expect, vi } from 'vitest'
// @ts-expect-error a plain script without types
import { root } from '../../scripts/setup.mjs'
import { freePort } from '../support/listening-process.ts'
import { installPrograms } from '../support/packages.ts'

export const NGINX_FILE = `${root}/deploy/nginx/portico.conf`

export interface Nginx {
  child: ChildProcess
  /** The endpoint, over TLS. */
  url: string
  /** The address that redirects to TLS. */
  plainUrl: string
}

export const installNginx = (): void => installPrograms({ nginx: 'nginx-light', openssl: 'openssl' })

/** @param replicas the ports of the replicas */
export async function startNginx(folder: string, replicas: readonly number[]): Promise<Nginx> {
  installNginx()
  const [plain, secure] = [await freePort(), await freePort()]
  const config = writeNginx(folder, replicas, plain, secure)
  const { status, stderr } = spawnSync('nginx', ['-t', '-p', folder, '-c', config], { encoding: 'utf8' })
  expect(status, stderr).toBe(0)
  const child = spawn('nginx', ['-p', folder, '-c', config], { stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  const plainUrl = `http://127.0.0.1:${plain}`
  await vi.waitFor(async () => expect((await fetch(plainUrl, { redirect: 'manual' })).status, said).toBe(308), { timeout: 10_000 })
  return { child, url: `https://127.0.0.1:${secure}/mcp`, plainUrl }
}

function writeNginx(folder: string, replicas: readonly number[], plain: number, secure: number): string {
  const [cert, key] = [join(folder, 'tls.crt'), join(folder, 'tls.key')]
  mkdirSync(join(folder, 'temp'), { recursive: true })
  const subject = ['-subj', '/CN=mcp.example.com', '-addext', 'subjectAltName=DNS:mcp.example.com,IP:127.0.0.1']
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', key]
  execFileSync('openssl', ['req', '-x509', ...newKey, '-out', cert, '-days', '2', ...subject], { stdio: 'ignore' })
  const servers = replicas.map((port) => `  server 127.0.0.1:${port} max_fails=2 fail_timeout=5s;\n`).join('')
  const text = readFileSync(NGINX_FILE, 'utf8')
  const changed = text
    .replace(/(?: {2}server replica-\d:3000 .*\n)+/, servers)
    .replace('listen 80;', `listen 127.0.0.1:${plain};`)
    .replace('listen 443 ssl;', `listen 127.0.0.1:${secure} ssl;`)
    .replace('/etc/nginx/certs/tls.crt', cert)
    .replace('/etc/nginx/certs/tls.key', key)
  writeFileSync(join(folder, 'portico.conf'), changed)
  const temp = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `  ${name}_temp_path ${folder}/temp/${name};\n`).join('')
  // Without it root would run workers as a user that cannot enter the folder.
  const user = userInfo().uid === 0 ? 'user root;\n' : ''
  const main = `${user}daemon off;\nworker_processes 1;\npid ${folder}/nginx.pid;\nerror_log stderr warn;\nevents {}\nhttp {\n  access_log off;\n${temp}  include ${folder}/portico.conf;\n}\n`
  const file = join(folder, 'nginx.conf')
  writeFileSync(file, main)
  return file
}
