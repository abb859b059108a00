/** nginx in front of replicas, as operators run it: each request goes to the next replica, and a reload adds and removes replicas. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { installPrograms } from '../support/packages.ts'
import { freePort } from '../support/redis-server.ts'
import { until } from '../support/until.ts'
import type { Balancer } from './balancer.ts'

/** A request with this header goes to the replica at this port. Each answer tells the address of its replica in it. */
export const REPLICA_HEADER = 'x-replica'

export async function startNginx(): Promise<Balancer> {
  installPrograms({ nginx: 'nginx-light' })
  const folder = mkdtempSync(`${tmpdir()}/portico-nginx-`)
  const port = await freePort()
  const ports = new Set<number>()
  const file = `${folder}/nginx.conf`
  const log = `${folder}/passed`
  let written = ''
  const write = (): void => {
    written = configOf(folder, log, port, ports)
    writeFileSync(file, written)
  }
  write()
  const child = spawn('nginx', ['-p', folder, '-c', file, '-e', `${folder}/errors`], { stdio: ['ignore', 'ignore', 'inherit'] })
  const exited = once(child, 'exit')
  const hasEnded = (): boolean => child.exitCode !== null || child.signalCode !== null
  await until(async () => {
    const socket = connect(port, '127.0.0.1')
    const isOpen = await once(socket, 'connect').then(
      () => true,
      () => false,
    )
    socket.destroy()
    return isOpen || hasEnded()
  })
  if (hasEnded()) throw new Error(`nginx ended with ${child.exitCode} before it listened`)
  const reload = async (): Promise<void> => {
    // Several changes may have come before this one had its turn.
    if (hasEnded() || written === configOf(folder, log, port, ports)) return
    const before = workersOf(child.pid as number)
    write()
    child.kill('SIGHUP')
    await until(() => {
      const now = workersOf(child.pid as number)
      return now.length > 0 && !now.some((pid) => before.includes(pid))
    })
  }
  let changes = Promise.resolve()
  const changed = (): Promise<void> => {
    changes = changes.then(reload)
    return changes
  }
  const url = `http://127.0.0.1:${port}/mcp`
  return {
    url,
    ports,
    add: (replica) => {
      ports.add(replica)
      return changed()
    },
    remove: (replica) => {
      ports.delete(replica)
      return changed()
    },
    to: (replica) => ({ url, headers: { [REPLICA_HEADER]: String(replica) } }),
    passed: () => {
      const passed = new Map<number, number>()
      for (const [, replica] of readFileSync(log, 'utf8').matchAll(/:(\d+)/g)) {
        passed.set(Number(replica), (passed.get(Number(replica)) ?? 0) + 1)
      }
      return passed
    },
    close: async () => {
      child.kill('SIGTERM')
      await exited
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** The processes that accept connections. Those of the configuration before only finish what they have begun. */
function workersOf(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean)
  return children
    .filter((child) => titleOf(child).startsWith('nginx: worker process') && !titleOf(child).includes('shutting down'))
    .map(Number)
}

function titleOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch {
    return ''
  }
}

/**
 * Clients get no keep-alive: a reload closes their idle connections, and a request that meets this would be lost. There are connections for
 * 2000 streams and as many requests, two for each, and to spare: when few are left, nginx drops those that have sent nothing yet.
 */
function configOf(folder: string, log: string, port: number, ports: ReadonlySet<number>): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${folder}/${name};`)
  const servers = [...ports].map((each) => `server 127.0.0.1:${each};`)
  return `daemon off; pid ${folder}/pid; error_log ${folder}/errors; worker_processes 1; worker_rlimit_nofile 17000;
events { worker_connections 16384; }
http {
  log_format replica $upstream_addr; access_log ${log} replica; ${temporary.join(' ')}
  # The first one is there because an upstream must not be empty.
  upstream replicas { server 127.0.0.1:9 down; ${servers.join(' ')} keepalive 16; }
  map $http_x_replica $target { default replicas; "~^(?<only>[0-9]+)$" 127.0.0.1:$only; }
  server {
    listen 127.0.0.1:${port} backlog=4096;
    keepalive_timeout 0;
    location / {
      proxy_pass http://$target; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_set_header Host $http_host;
      proxy_buffering off; proxy_request_buffering off; proxy_read_timeout 60s;
      add_header ${REPLICA_HEADER} $upstream_addr always;
    }
  }
}
`
}
