/**
 * A server that puts versions of services into environments. Nothing real is deployed: what would be done is counted, and
 * takes time. It shows progress, cancellation that stops in the middle, questions by form and by page, and calls that
 * destroy something.
 */

import { type Context, createServer, type Server, type ServerOptions, ToolError } from '../../server/index.ts'
import { object } from '../schema.ts'
import { Approvals } from './approvals.ts'
import { ENVIRONMENTS, type Environment, Fleet, SERVICES } from './fleet.ts'

export interface DeployOptions {
  /** How long each of the steps takes. */
  stepMs?: number
  /** How long a person may take on the approval page. */
  approvalTimeoutMs?: number
  /** Maximum number of approvals that are pending or not used yet. */
  maxApprovals?: number
  /**
   * Where a deployment to production is approved, when it is not at the page that the server serves at a port of this
   * machine. The service at that URL must call `approve`.
   */
  approvalUrl?: (approvalId: string) => string
  server?: Partial<ServerOptions>
}

export interface DeployServer extends Server {
  /** What a person does on the approval page. False when nobody waits for it. */
  approve(approvalId: string): boolean
  /** The approvals that are waited for. */
  readonly awaited: readonly string[]
  /** How many steps were done so far, by every deployment. */
  readonly effects: number
}

const ENVIRONMENT = { type: 'string', enum: ENVIRONMENTS, description: 'Where to' } as const
const SERVICE = { type: 'string', enum: SERVICES } as const
const VERSION = { type: 'string', pattern: '^\\d+\\.\\d+\\.\\d+$', description: 'Such as 1.4.0' } as const
const REASON = { type: 'string', minLength: 3, maxLength: 200, description: 'Why, for the record' } as const

const DEPLOY_TIMEOUT_MS = 10 * 60_000

export function deployServer(options: DeployOptions = {}): DeployServer {
  const server = createServer({
    name: 'deploy',
    version: '1.0.0',
    title: 'Deploy',
    instructions: 'Plan before deploying. Production needs an approval of a person, on a page of this server.',
    ...options.server,
  })
  const fleet = new Fleet(server, options.stepMs ?? 500)
  const approvalTimeoutMs = options.approvalTimeoutMs ?? 10 * 60_000
  const approvals = new Approvals({
    timeoutMs: approvalTimeoutMs,
    maxApprovals: options.maxApprovals ?? 100,
    onApproved: (id) => void server.completeElicitation(id),
    ...(options.approvalUrl && { url: options.approvalUrl }),
  })
  addPlan(server, fleet)
  addDeploy(server, fleet, approvals, approvalTimeoutMs + DEPLOY_TIMEOUT_MS)
  addRollback(server, fleet)
  return {
    ...server,
    approve: (id) => approvals.approve(id),
    get awaited() {
      return approvals.awaited
    },
    get effects() {
      return fleet.effects
    },
    close: async () => {
      await server.close()
      await approvals.close()
    },
  }
}

function addPlan(server: Server, fleet: Fleet): void {
  server.tool(
    'plan',
    {
      title: 'Plan a deployment',
      description: 'Says what deploying would do, and does nothing',
      input: object({ service: SERVICE, version: VERSION, environment: ENVIRONMENT }, 'service', 'version', 'environment'),
      output: object(
        {
          from: { type: 'string' },
          to: { type: 'string' },
          steps: { type: 'array', items: { type: 'string' } },
          needsApproval: { type: 'boolean' },
        },
        'from',
        'to',
        'steps',
        'needsApproval',
      ),
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    ({ service, version, environment }) => ({
      from: fleet.versionOf(environment, service),
      to: version,
      steps: fleet.plan(service, version),
      needsApproval: environment === 'production',
    }),
  )
}

const DONE = object(
  {
    service: { type: 'string' },
    environment: { type: 'string' },
    from: { type: 'string' },
    to: { type: 'string' },
    steps: { type: 'integer' },
  },
  'service',
  'environment',
  'from',
  'to',
  'steps',
)

function addDeploy(server: Server, fleet: Fleet, approvals: Approvals, timeoutMs: number): void {
  server.tool(
    'deploy',
    {
      title: 'Deploy a version',
      description: 'Puts a version of a service into an environment, step by step; can be cancelled between steps',
      input: object(
        {
          service: SERVICE,
          version: VERSION,
          environment: ENVIRONMENT,
          reason: REASON,
          approval: { type: 'string', maxLength: 100, description: 'The id of an approval that was given before' },
        },
        'service',
        'version',
        'environment',
      ),
      output: DONE,
      annotations: { destructiveHint: true, idempotentHint: false, openWorldHint: true },
      timeoutMs,
    },
    async ({ approval, ...wish }, ctx) => {
      const { environment, reason } = await confirm(wish, ctx)
      const { service, version } = wish
      if (environment === 'production') await approved(approvals, { what: `${service} ${version}`, reason, given: approval }, ctx)
      return ctx.once('deploy', () => fleet.deploy({ service, version, environment, reason }, ctx))
    },
  )
}

interface Wish {
  service: string
  version: string
  environment: Environment
  reason?: string
}

/** The person says where and why, when the client can ask them; otherwise the arguments have to. */
async function confirm(wish: Wish, ctx: Context): Promise<{ environment: Environment; reason: string }> {
  const { service, version, environment, reason } = wish
  if (!ctx.caller.capabilities.elicitation?.form) {
    if (reason === undefined) throw new ToolError('Give a reason: this client cannot ask the person for one')
    return { environment, reason }
  }
  const answer = await ctx.elicit(
    'confirm',
    `Deploy ${service} ${version} to ${environment}?`,
    object(
      {
        environment: { ...ENVIRONMENT, title: 'Environment', default: environment },
        reason: { ...REASON, title: 'Reason', ...(reason !== undefined && { default: reason }) },
      },
      'environment',
      'reason',
    ),
  )
  return { environment: answer.environment, reason: answer.reason }
}

async function approved(
  approvals: Approvals,
  wish: { what: string; reason: string; given: string | undefined },
  ctx: Context,
): Promise<void> {
  const { what, reason, given } = wish
  const about = `${what} to production: ${reason}`
  if (given !== undefined) {
    const isGood = await ctx.once('approved', () => approvals.use(given, what))
    if (!isGood) throw new ToolError('That approval was not given, was for something else, or was used already')
    return
  }
  const { id, url } = await ctx.once('approval', () => approvals.ask(what, about))
  if (!ctx.caller.capabilities.elicitation?.url)
    throw new ToolError(`A person must approve this first at ${url} ; then call deploy again with approval "${id}"`)
  await ctx.elicitUrl('approve', `Approve ${about}`, url, { elicitationId: id })
  await ctx.once('approved', () => approvals.wait(id, what, ctx))
}

function addRollback(server: Server, fleet: Fleet): void {
  server.tool(
    'rollback',
    {
      title: 'Roll back',
      description: 'Puts the version before the last back; what came with the last is lost',
      input: object({ service: SERVICE, environment: ENVIRONMENT }, 'service', 'environment'),
      output: DONE,
      annotations: { destructiveHint: true, idempotentHint: false, openWorldHint: true },
    },
    async ({ service, environment }, ctx) => {
      const to = await ctx.once('to', () => fleet.before(environment, service))
      if (to === null) throw new ToolError(`There is no version of ${service} in ${environment} to go back to`)
      if (ctx.caller.capabilities.elicitation?.form) {
        const sure = { type: 'boolean', title: `Lose what came after ${to}`, default: false } as const
        const answer = await ctx.elicit('confirm', `Roll ${service} in ${environment} back to ${to}?`, object({ sure }, 'sure'))
        if (!answer.sure) throw new ToolError('The person is not sure; nothing was done')
      }
      return ctx.once('rollback', () => fleet.rollback({ service, environment, version: to }, ctx))
    },
  )
}
