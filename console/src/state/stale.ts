/** Which fetched lists an event makes stale. */

import type { RouteName } from '../../../src/console/api.ts'
import type { ConsoleEvent } from './event.ts'

/** A fetched route is stale if its key begins with one of these names. Everything is stale after missed events. */
export function staleRoutes(event: ConsoleEvent): readonly RouteName[] | 'all' {
  switch (event.name) {
    case 'hello':
      return event.data.isComplete ? [] : 'all'
    case 'servers':
      return [...SERVERS, ...LISTS, 'GET /api/import']
    case 'enabled':
      return [...SERVERS, ...LISTS]
    case 'policy':
      return ['GET /api/policy', 'GET /api/policy/hits', 'GET /api/settings']
    case 'models':
      return ['GET /api/models', 'GET /api/settings', 'GET /api/secrets']
    case 'recordings':
      return ['GET /api/recordings', 'GET /api/recordings/:id']
    case 'model-turn':
      return ['GET /api/model-turns']
    case 'task':
      return event.data.status === 'working' || event.data.status === 'input_required' ? TASKS : [...TASKS, 'GET /api/audit']
    case 'health':
    case 'review':
      return SERVERS
    case 'catalog':
      return [...LISTS, 'GET /api/servers', 'GET /api/skills']
    case 'grants':
      return ['GET /api/grants', 'GET /api/policy']
    case 'question-end':
      return event.data.answer === 'allow' ? ['GET /api/grants', 'GET /api/audit'] : ['GET /api/audit']
    case 'chat':
      // A call has ended: its decision is in the log.
      return event.data.part.type === 'tool-result' || event.data.part.type === 'refused' ? ['GET /api/audit'] : []
    case 'app':
      return event.data.hasContext ? ['GET /api/conversations/:id'] : []
    case 'operation':
      // A new conversation is listed as soon as it is answered.
      if (event.data.state === 'running') return event.data.kind === 'chat' ? ['GET /api/conversations'] : []
      return AFTER[event.data.kind] ?? CALLS
    default:
      return []
  }
}

const SERVERS: readonly RouteName[] = ['GET /api/servers', 'GET /api/servers/:id', 'GET /api/skills']

const TASKS: readonly RouteName[] = ['GET /api/tasks', 'GET /api/tasks/:id']

const CALLS: readonly RouteName[] = ['GET /api/calls/recent', 'GET /api/audit', 'GET /api/operations', 'GET /api/policy/hits']

const LISTS: readonly RouteName[] = ['GET /api/tools', 'GET /api/prompts', 'GET /api/resources', 'GET /api/templates', 'GET /api/search']

const AFTER: Readonly<Record<string, readonly RouteName[]>> = {
  chat: ['GET /api/conversations', 'GET /api/conversations/:id', ...CALLS],
  subscribe: ['GET /api/subscriptions'],
  enable: [...SERVERS, ...LISTS, 'GET /api/audit'],
  restart: [...SERVERS, ...LISTS],
  approve: [...SERVERS, ...LISTS, 'GET /api/audit'],
  'enable-all': [...SERVERS, ...LISTS, 'GET /api/audit'],
  login: SERVERS,
  logout: SERVERS,
  'test-model': [],
  root: ['GET /api/servers/:id/roots', 'GET /api/servers/:id'],
}
