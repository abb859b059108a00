/**
 * A server that simulates deployments of services to environments. It shows progress, cancellation between steps,
 * questions by form and by page, destructive calls, tasks, and a view.
 */

import { apps } from '../../apps/index.ts'
import { type Context, createServer, type Server, type ServerOptions, ToolError } from '../../server/index.ts'
import { fileTaskStore, tasks } from '../../tasks/index.ts'
import { allRequired, object } from '../schema.ts'
import { Approvals } from './approvals.ts'
import { ENVIRONMENTS, type Environment, Fleet, SERVICES } from './fleet.ts'
import { PLAN_VIEW, PLAN_VIEW_URI } from './plan-view.ts'

export interface DeployOptions {
  /** Duration of one step. Default: 500. */
  stepMs?: number
  /** Stores the tasks of deployments, so that they survive the process. Default: they are in memory. */
  taskFolder?: string
  /** How long an approval request stays open. Default: 10 minutes. */
  approvalTimeoutMs?: number
  /** Maximum number of approvals that are pending or not used yet. Default: 100. */
  maxApprovals?: number
  /**
   * The URL of the page for approving a deployment to production. The service at that URL must call `approve`. Default: a
   * page that this server serves on a local port.
   */
  approvalUrl?: (approvalId: string) => string
  server?: Partial<ServerOptions>
}

export interface DeployServer extends Server {
  /** Approves a deployment, as the approval page does. Returns false if no such approval is pending. */
  approve(approvalId: string): boolean
  /** The ids of the pending approvals. */
  readonly pending: readonly string[]
  /** The number of completed steps of all deployments. */
  readonly effects: number
}

const ENVIRONMENT = { type: 'string', enum: ENVIRONMENTS, description: 'Target environment' } as const
const SERVICE = { type: 'string', enum: SERVICES } as const
const VERSION = { type: 'string', pattern: '^\\d+\\.\\d+\\.\\d+$', description: 'For example 1.4.0' } as const
const REASON = { type: 'string', minLength: 3, maxLength: 200, description: 'Reason for the deployment, kept in its record' } as const

const DEPLOY_TIMEOUT_MS = 10 * 60_000
const POLL_MS = 250
/** Short, because people restart a demo. */
const LEASE_MS = 6_000

export function deployServer(options: DeployOptions = {}): DeployServer {
  const server = createServer({
    name: 'deploy',
    version: '1.0.0',
    title: 'Deploy',
    instructions: 'Call plan before deploy. A person must approve deployments to production on a web page of this server.',
    ...options.server,
  })
  server.extend(
    tasks({ pollIntervalMs: POLL_MS, leaseMs: LEASE_MS, ...(options.taskFolder && { store: fileTaskStore(options.taskFolder) }) }),
  )
  server.extend(apps({ [PLAN_VIEW_URI]: { html: PLAN_VIEW, title: 'Plan of a deployment' } }))
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
    get pending() {
      return approvals.pending
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
      description: 'Shows what a deployment would do, without doing it',
      input: allRequired({ service: SERVICE, version: VERSION, environment: ENVIRONMENT }),
      output: allRequired({
        from: { type: 'string' },
        to: { type: 'string' },
        steps: { type: 'array', items: { type: 'string' } },
        needsApproval: { type: 'boolean' },
      }),
      annotations: { readOnlyHint: true, openWorldHint: false },
      view: PLAN_VIEW_URI,
    },
    ({ service, version, environment }) => ({
      from: fleet.versionOf(environment, service),
      to: version,
      steps: fleet.plan(service, version),
      needsApproval: environment === 'production',
    }),
  )
}

const DEPLOY_RESULT = allRequired({
  service: { type: 'string' },
  environment: { type: 'string' },
  from: { type: 'string' },
  to: { type: 'string' },
  steps: { type: 'integer' },
})

function addDeploy(server: Server, fleet: Fleet, approvals: Approvals, timeoutMs: number): void {
  server.tool(
    'deploy',
    {
      title: 'Deploy a version',
      description: 'Deploys a version of a service to an environment in steps; can be cancelled between steps',
      input: object(
        {
          service: SERVICE,
          version: VERSION,
          environment: ENVIRONMENT,
          reason: REASON,
          approval: { type: 'string', maxLength: 100, description: 'The id of an approval that a person has already given' },
        },
        'service',
        'version',
        'environment',
      ),
      output: DEPLOY_RESULT,
      annotations: { destructiveHint: true, idempotentHint: false, openWorldHint: true },
      timeoutMs,
      task: 'optional',
      // Its answers are stored. The steps begin again, and they are only simulated.
      restartable: true,
    },
    async ({ approval, ...request }, ctx) => {
      const { environment, reason } = await confirm(request, ctx)
      const { service, version } = request
      if (environment === 'production') await requireApproval(approvals, { what: `${service} ${version}`, reason, given: approval }, ctx)
      return ctx.once('deploy', () => fleet.deploy({ service, version, environment, reason }, ctx))
    },
  )
}

interface DeployRequest {
  service: string
  version: string
  environment: Environment
  reason?: string
}

/** Asks the person to confirm the environment and the reason. Without forms, the arguments must give both. */
async function confirm(request: DeployRequest, ctx: Context): Promise<{ environment: Environment; reason: string }> {
  const { service, version, environment, reason } = request
  if (!ctx.caller.capabilities.elicitation?.form) {
    if (reason === undefined) throw new ToolError('The argument "reason" is required: this client cannot ask the person for it')
    return { environment, reason }
  }
  const answer = await ctx.elicit(
    'confirm',
    `Deploy ${service} ${version} to ${environment}?`,
    allRequired({
      environment: { ...ENVIRONMENT, title: 'Environment', default: environment },
      reason: { ...REASON, title: 'Reason', ...(reason !== undefined && { default: reason }) },
    }),
  )
  return { environment: answer.environment, reason: answer.reason }
}

async function requireApproval(
  approvals: Approvals,
  request: { what: string; reason: string; given: string | undefined },
  ctx: Context,
): Promise<void> {
  const { what, reason, given } = request
  const about = `${what} to production: ${reason}`
  if (given !== undefined) {
    const isGood = await ctx.once('approved', () => approvals.use(given, what))
    if (!isGood) throw new ToolError('The approval was not given, is for another deployment, or was already used')
    return
  }
  const { id, url } = await ctx.once('approval', () => approvals.ask(what, about))
  if (!ctx.caller.capabilities.elicitation?.url)
    throw new ToolError(`A person must first approve this deployment at ${url} ; then call deploy again with approval "${id}"`)
  await ctx.elicitUrl('approve', `Approve ${about}`, url, { elicitationId: id })
  await ctx.once('approved', () => approvals.wait(id, what, ctx))
}

function addRollback(server: Server, fleet: Fleet): void {
  server.tool(
    'rollback',
    {
      title: 'Roll back',
      description: 'Rolls back to the previous version; changes of the current one are lost',
      input: allRequired({ service: SERVICE, environment: ENVIRONMENT }),
      output: DEPLOY_RESULT,
      annotations: { destructiveHint: true, idempotentHint: false, openWorldHint: true },
    },
    async ({ service, environment }, ctx) => {
      const to = await ctx.once('to', () => fleet.previousVersion(environment, service))
      if (to === null) throw new ToolError(`${service} has no previous version in ${environment}`)
      if (ctx.caller.capabilities.elicitation?.form) {
        const sure = { type: 'boolean', title: `Discard the changes made after ${to}`, default: false } as const
        const answer = await ctx.elicit('confirm', `Roll ${service} in ${environment} back to ${to}?`, allRequired({ sure }))
        if (!answer.sure) throw new ToolError('The person did not confirm the rollback; nothing was changed')
      }
      return ctx.once('rollback', () => fleet.rollback({ service, environment, version: to }, ctx))
    },
  )
}
