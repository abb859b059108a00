/** The measures over HTTP. Each has contestants by name and a goal. Ratios are relative to the first contestant. */

import { loadHttp, startHttp } from './http-load.mjs'
import { holdHttp } from './http-memory.mjs'

/** @param here finds a contestant's file; @param calls runs a client in a separate process */
export function httpMeasures(of, calls) {
  const load =
    (name, options = {}) =>
    () =>
      loadHttp(of(name, 'http-server'), options)
  const hold = (name, holding) => () => holdHttp(of(name, 'http-server'), { holding })
  const each = (names, options) => Object.fromEntries(names.map((name) => [name, load(name, options)]))
  const cpu = { unit: 'us', value: (result) => result.cpu }
  const sse = { args: ['--sse'] }
  const stateless = { dialect: 'stateless' }
  const off = { args: ['--no-sessions'] }
  const oneByOne = { connections: 1, calls: 10_000 }
  const young = { calls: 3000, warmUp: 0 }
  const big = { request: 'big', connections: 8, calls: 200, warmUp: 50 }
  const blob = { request: 'blob', connections: 2, calls: 20, warmUp: 4 }
  const progress = { request: 'progress', connections: 8, calls: 100, warmUp: 40, args: ['--sse'] }

  return [
    { name: 'HTTP tools/call, session, JSON', goal: 1.35, run: each(['raw', 'portico', 'v1', 'v2', 'fastmcp', 'tmcp'], {}), ...cpu },
    { name: 'HTTP tools/call, first 3,000 calls of a process', goal: 2.5, run: each(['raw', 'portico', 'v1', 'v2'], young), ...cpu },
    {
      name: 'HTTP tools/call, checked structured output',
      goal: 1.5,
      run: each(['raw', 'portico', 'v1', 'v2'], { request: 'structured' }),
      ...cpu,
    },
    { name: 'HTTP tools/call, session, stream', goal: 1.35, run: each(['raw', 'portico', 'v1', 'v2', 'fastmcp'], sse), ...cpu },
    { name: 'HTTP tools/call, sessions off, JSON', goal: 1.6, run: each(['raw', 'portico'], off), ...cpu },
    {
      name: 'HTTP tools/call, sessions off, stream',
      goal: 1.6,
      run: each(['raw', 'portico'], { args: [...off.args, ...sse.args] }),
      ...cpu,
    },
    { name: 'HTTP tools/call, 2026-07-28, JSON', goal: 1.35, run: each(['raw', 'portico', 'v2', 'tmcp'], stateless), ...cpu },
    { name: 'HTTP tools/call, 2026-07-28, stream', goal: 1.4, run: each(['raw', 'portico', 'v2'], { ...stateless, ...sse }), ...cpu },
    {
      name: 'HTTP tools/call, 2026-07-28, with health and metrics, and with onRequest',
      goal: 1.05,
      run: {
        portico: load('portico', stateless),
        metrics: load('portico', { ...stateless, args: ['--metrics'] }),
        onRequest: load('portico', { ...stateless, args: ['--on-request'] }),
      },
      ...cpu,
    },
    {
      name: 'HTTP tools/list, 20 tools',
      goal: 0.6,
      run: each(['raw', 'portico', 'v1', 'v2', 'fastmcp', 'tmcp'], { request: 'list' }),
      ...cpu,
    },
    {
      name: 'HTTP tools/list, 1,000 tools',
      goal: 0.15,
      run: each(['raw', 'portico', 'v1', 'v2', 'fastmcp', 'tmcp'], {
        request: 'list',
        args: ['--tools=1000'],
        connections: 16,
        calls: 400,
        warmUp: 100,
      }),
      ...cpu,
    },
    {
      name: 'HTTP latency, one connection (p50)',
      goal: 1.15,
      run: each(['raw', 'portico', 'v1', 'v2', 'fastmcp', 'tmcp'], oneByOne),
      unit: 'us',
      value: ({ p50 }) => p50,
    },
    {
      name: 'HTTP latency, one connection (p99)',
      goal: 1.5,
      run: each(['raw', 'portico'], oneByOne),
      unit: 'us',
      value: ({ p99 }) => p99,
    },
    { name: 'HTTP 1,000 progress notifications', goal: 1.0, run: each(['raw', 'portico', 'v1', 'v2', 'fastmcp'], progress), ...cpu },
    { name: 'HTTP result of 1 MiB of text', goal: 1.05, run: each(['raw', 'portico', 'v1', 'v2', 'fastmcp'], big), ...cpu },
    {
      name: 'HTTP resource of 10 MiB as bytes (throughput)',
      goal: 2.5,
      isHigherBetter: true,
      run: each(['raw', 'portico', 'v1', 'v2'], blob),
      unit: 'MB/s',
      value: ({ wall }) => (10 * 1.048576) / (wall / 1_000_000),
    },
    {
      name: 'client over HTTP, 64 in flight (CPU of the client)',
      goal: 2.2,
      unit: 'us',
      run: Object.fromEntries(['raw', 'portico', 'v1', 'v2'].map((name) => [name, client(name)])),
      value: (result) => result.cpu,
    },
    memory('heap of an idle session over HTTP (KB, goal 1)', 'session', 1, ['portico', 'v1', 'v2', 'fastmcp', 'tmcp']),
    memory('heap of a session with an open stream (KB, goal 7)', 'stream', 7, ['raw', 'portico', 'v1', 'v2']),
    memory('heap of a subscriptions/listen stream (KB, goal 8)', 'listen', 8, ['raw', 'portico', 'v2']),
  ]

  function memory(name, holding, goal, names) {
    const run = Object.fromEntries(names.map((each) => [each, hold(each, holding)]))
    return { name, unit: 'KB', isAbsolute: true, goal, run, value: (kilobytes) => kilobytes }
  }

  function client(name) {
    return async () => {
      const server = await startHttp(of('raw', 'http-server'))
      try {
        return await calls(of(name, 'http-client'), 15_000, 64, [server.url.href])
      } finally {
        await server.stop()
      }
    }
  }
}
