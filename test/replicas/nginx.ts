/** nginx in front of replicas, as operators run it: each request goes to the next replica. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { installPrograms } from '../support/packages.ts'
import { freePort } from '../support/redis-server.ts'
import { until } from '../support/until.ts'

export async function startNginx(ports: readonly number[]): Promise<{ url: string; close(): Promise<void> }> {
  installPrograms({ nginx: 'nginx-light' })
  const folder = mkdtempSync(`${tmpdir()}/portico-nginx-`)
  const port = await freePort()
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${folder}/${name};`)
  writeFileSync(
    `${folder}/nginx.conf`,
    `daemon off; pid ${folder}/pid; error_log ${folder}/errors; events {}
http {
  access_log off; ${paths.join(' ')}
  upstream replicas { ${ports.map((each) => `server 127.0.0.1:${each};`).join(' ')} keepalive 16; }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://replicas; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_set_header Host $http_host;
      proxy_buffering off; proxy_request_buffering off; proxy_read_timeout 60s;
    }
  }
}
`,
  )
  const child = spawn('nginx', ['-p', folder, '-c', `${folder}/nginx.conf`, '-e', `${folder}/errors`], { stdio: ['ignore', 'ignore', 'inherit'] })
  const exited = once(child, 'exit')
  await until(async () => {
    const socket = connect(port, '127.0.0.1')
    const isOpen = await once(socket, 'connect').then(
      () => true,
      () => false,
    )
    socket.destroy()
    return isOpen
  })
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    close: async () => {
      child.kill('SIGTERM')
      await exited
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
