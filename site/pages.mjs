/** The pages of the documentation in their order. The sidebar, docs/index.md and llms.txt are made from this list. */

import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const docs = fileURLToPath(new URL('../docs/', import.meta.url))

/** A page: its file, its name in the sidebar, and what a reader finds there. */
const page = (file, name, description) => ({ file, name, description })

const SECTIONS = [
  {
    title: 'Tutorials',
    pages: [
      page('tutorial-server.md', 'Your first server', 'From an empty folder to a tested server in your client, in ten minutes.'),
      page('tutorial-client.md', 'Your first client', 'Connect to a server, call its tools, answer its questions, in ten minutes.'),
      page('tutorial-agent.md', 'Your first agent', 'A model, two servers and a person who decides, in ten minutes.'),
      page('examples.md', 'Examples', 'Small complete programs to copy.'),
    ],
  },
  {
    title: 'How to',
    pages: [
      page('how-to.md', 'Find a task', 'A list of tasks, each with the section that describes it.'),
      page('server.md', 'Write a server', 'Tools, resources, prompts, questions, progress, middleware, mounted servers.'),
      page('http.md', 'Serve over HTTP', 'listen, httpHandler, frameworks, sessions, limits, workers, hosts and origins.'),
      page('client.md', 'Write a client', 'connect, calls, answers to servers, changes, errors, child processes, HTTP.'),
      page('agents.md', 'Build an agent', 'Tools of servers for the AI SDK, LangChain, the OpenAI Agents SDK or your own loop.'),
      page('testing.md', 'Test a server', 'pair, rehearse and record: tests in memory, in every revision.'),
      page('tasks.md', 'Run long work', 'Tools whose calls run as tasks, and where tasks are kept.'),
      page('openapi.md', 'Wrap an HTTP API', 'Tools from an OpenAPI description.'),
      page('apps.md', 'Show a view', 'Tools with a view (MCP Apps), and the bridge between a view and its host.'),
      page('skills.md', 'Serve skills', 'Folders of instructions for models: serve, read and verify them.'),
      page('extensions.md', 'Add methods', 'Your own methods and notifications.'),
      page('generate.md', 'Generate a client', 'Typed client code from a live server.'),
      page('migration.md', 'Migrate', 'From the official SDK v1 and v2 and from FastMCP, side by side.'),
    ],
  },
  {
    title: 'Host',
    pages: [
      page('host.md', 'The host', 'Many servers, one policy: approval, consent, models, audit.'),
      page('policy.md', 'Policy', 'Rules, layers, presets, grants and labels.'),
      page('policy-cookbook.md', 'Policy cookbook', 'Ten rules that you will want, with tests.'),
      page('models.md', 'Models', 'Language models for chat and sampling.'),
      page('questions.md', 'Questions', 'What a host asks the person, and how to draw it in your own UI.'),
      page('console.md', 'The console', 'The page in the browser: servers, tools, questions, messages, policy, audit.'),
      page('cli.md', 'The command line', 'Every command of portico, its options and exit codes.'),
    ],
  },
  {
    title: 'Run it',
    pages: [
      page('deployment.md', 'Deployment', 'Container, nginx, Kubernetes, serverless platforms, replicas.'),
      page('runtimes.md', 'Runtimes', 'Node, Bun, Deno, Workers and browsers.'),
      page('frameworks.md', 'Frameworks', 'Express, Fastify, Hono, Next.js, NestJS and Elysia.'),
      page('redis.md', 'Several replicas', 'Sessions, tasks and limits in Redis or Valkey.'),
      page('observability.md', 'Observability', 'Records of requests, health, metrics and traces.'),
    ],
  },
  {
    title: 'Security',
    pages: [
      page('security-model.md', 'Security model', 'What is protected, from whom, and what is not.'),
      page('authorization.md', 'Authorization', 'Log in to servers, protect your own: OAuth, API keys, scopes.'),
      page('authorization-recipes.md', 'Authorization recipes', 'API keys, Auth0, Keycloak, Entra, Clerk, WorkOS.'),
    ],
  },
  {
    title: 'Reference',
    pages: [
      page('options.md', 'Options', 'Every option that no other page explains.'),
      page('troubleshooting.md', 'Troubleshooting', 'What to do, by the text of the error.'),
      page('errors.md', 'Errors', 'Every error code.'),
      page('limits.md', 'Limits', 'Every limit and its default.'),
      page('revisions.md', 'Protocol revisions', 'The revisions, and what happens to a feature that a revision lacks.'),
      page('console-api.md', 'API of the console', 'The HTTP API behind the page.'),
      page('glossary.md', 'Glossary', 'The words of this documentation.'),
    ],
  },
]

/** Pages that are being written. They join the sidebar with their file. Every other page must exist. */
export const PLANNED = ['runtimes.md', 'frameworks.md', 'authorization-recipes.md', 'examples.md', 'migration.md', 'generate.md']

/** @returns the sections with their pages. Fails if a file is missing. */
export function sections() {
  return SECTIONS.map(({ title, pages }) => ({
    title,
    pages: pages.filter(({ file }) => {
      if (existsSync(docs + file)) return true
      if (PLANNED.includes(file)) return false
      throw new Error(`site/pages.mjs names docs/${file}, which does not exist`)
    }),
  }))
}

const SUMMARY =
  'Portico is the Model Context Protocol (MCP) in TypeScript: servers, clients, a host that asks before it acts, a command line and a testing kit.'

const lines = (prefix) =>
  sections().flatMap(({ title, pages }) => [
    `## ${title}`,
    '',
    ...pages.map(({ file, name, description }) => `- [${name}](${prefix}${file}): ${description}`),
    '',
  ])

/** The text of docs/index.md. */
export const indexPage = () => ['# Documentation', '', SUMMARY, '', ...lines('')].join('\n')

/** The text of llms.txt, the list of pages for language models. */
export const llmsText = () =>
  [
    '# Portico',
    '',
    `> ${SUMMARY}`,
    '',
    'Install: `npm install portico zod`. Try it: `npx portico`. ESM only, Node 20.19 or newer.',
    '',
    ...lines('docs/'),
  ].join('\n')
