/**
 * The client for the official conformance suite: `npm run -s fixture:client -- URL`, with the name of a scenario in
 * MCP_CONFORMANCE_SCENARIO. Each scenario uses the library as an ordinary program would.
 */

import { refuse } from './fixture-options.mjs'
import { setUp } from './setup.mjs'

const USAGE = 'Usage: npm run -s fixture:client -- URL (the scenario in MCP_CONFORMANCE_SCENARIO; default: initialize)'
const url = process.argv.slice(2).at(-1)
if (url === '--help' || url === '-h') {
  console.log(USAGE)
  process.exit(0)
}
if (url === undefined) refuse(`Missing URL. ${USAGE}`)
if (!URL.canParse(url) || !/^https?:/.test(url)) refuse(`Expected an http or https URL, got ${JSON.stringify(url)}. ${USAGE}`)

await setUp({ isForTests: false })
const { connect } = await import('portico')
const { SkillError, skillsOf } = await import('portico/skills')
const { clientCredentials, enterprise, oauth, workloadIdentity } = await import('portico/auth')

const scenario = process.env.MCP_CONFORMANCE_SCENARIO ?? 'initialize'
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}')

/** For a session version, the client speaks only session versions. For the newest version, it detects what the server speaks. */
const SESSION_VERSIONS = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25']
const version = process.env.MCP_CONFORMANCE_PROTOCOL_VERSION
const revisions = version !== undefined && SESSION_VERSIONS.includes(version) ? SESSION_VERSIONS : undefined

/** Connects, runs, and always closes the client. */
async function withClient(run, options = {}) {
  const client = await connect(url, {
    info: { name: 'portico-conformance', version: '0.1.0' },
    onWarning: (message) => console.error(message),
    ...(revisions === undefined ? {} : { revisions }),
    ...options,
  })
  try {
    return await run(client)
  } finally {
    await client.close()
  }
}

/** A person who agrees to everything. */
const agreeable = {
  elicit: () => ({ action: 'accept', content: { confirmed: true } }),
  sample: () => ({ role: 'assistant', content: { type: 'text', text: 'Yes.' }, model: 'none' }),
  roots: ['file:///work'],
}

/** Lists the tools if the server has any; otherwise sends a ping. */
const look = (client) => (client.server.capabilities.tools ? client.tools().all() : client.ping())

const scenarios = {
  initialize: () => withClient(look),

  tools_call: () =>
    withClient(async (client) => {
      await client.tools().all()
      await client.call('add_numbers', { a: 5, b: 3 })
    }),

  // Accepts the form without changes: the library fills in the defaults.
  'elicitation-sep1034-client-defaults': () =>
    withClient(
      async (client) => {
        await client.tools().all()
        await client.call('test_client_elicitation_defaults')
      },
      { answer: { elicit: () => ({ action: 'accept' }) } },
    ),

  'sse-retry': () =>
    withClient(async (client) => {
      await client.tools().all()
      await client.call('test_reconnection')
    }),

  'json-schema-2020-12-preservation': () =>
    withClient(async (client) => {
      const tools = await client.tools().all()
      const { inputSchema } = tools.find(({ name }) => name === 'json_schema_2020_12_tool')
      await client.call('json_schema_echo', { schema: inputSchema })
    }),

  'json-schema-ref-no-deref': () => withClient(look),

  'request-metadata': () => withClient(look, { answer: agreeable }),

  'http-standard-headers': () =>
    withClient(async (client) => {
      const [tool] = await client.tools().all()
      await client.call(tool.name, {})
      const [resource] = await client.resources().all()
      await client.read(resource.uri)
      const [prompt] = await client.prompts().all()
      await client.prompt(prompt.name)
    }),

  'http-custom-headers': () =>
    withClient(async (client) => {
      await client.tools().all()
      for (const { name, arguments: args } of context.toolCalls) await client.call(name, args)
    }),

  'http-invalid-tool-headers': () =>
    withClient(async (client) => {
      for (const { name } of await client.tools().all()) await client.call(name, { region: 'us-west1' })
    }),

  'sep-2322-client-request-state': () =>
    withClient(
      async (client) => {
        for (const name of ['test_mrtr_echo_state', 'test_mrtr_no_state', 'test_mrtr_unrelated', 'test_mrtr_no_result_type']) {
          await client.call(name, {})
        }
      },
      { answer: agreeable },
    ),
}

/** Loads every skill, and reads its files. A skill that is not what its server says is not used. */
const useSkills = () =>
  withClient(async (client) => {
    const skills = skillsOf(client)
    for (const entry of await skills.list().all()) {
      try {
        const skill = await skills.load(entry)
        for (const file of skill.files) await skill.read(file)
      } catch (error) {
        if (!(error instanceof SkillError)) throw error
        console.error(error.message)
      }
    }
  })

scenarios['sep-2640-client-no-prefetch'] = () => withClient((client) => skillsOf(client).list().all())
for (const what of ['digest', 'size', 'frontmatter']) scenarios[`sep-2640-client-verify-${what}`] = useSkills

/** Logs in without a person: the authorization server of the suite redirects back at once. */
const redirect = {
  uri: 'http://localhost:3000/callback',
  visit: async (page) => (await fetch(page, { redirect: 'manual' })).headers.get('location'),
}

/** Makes calls that need authorization. The client logs in on the way. */
const withPermission = (options) =>
  withClient(
    async (client) => {
      await client.tools().all()
      await client.call('test-tool', {})
    },
    {
      auth: oauth({
        redirect,
        clientDocument: 'https://conformance-test.local/client-metadata.json',
        onWarning: console.error,
        ...options,
      }),
    },
  )

const { client_id: id, client_secret: secret } = context

const permissions = {
  'auth/pre-registration': () => withPermission({ client: { id, secret } }),
  'auth/client-credentials-basic': () => withPermission({ client: { id, secret }, grant: clientCredentials() }),
  'auth/client-credentials-jwt': () =>
    withPermission({
      client: { id, privateKey: { pem: context.private_key_pem, algorithm: context.signing_algorithm } },
      grant: clientCredentials(),
    }),
  'auth/enterprise-managed-authorization': () =>
    withPermission({
      client: { id, secret },
      grant: enterprise({
        issuer: context.idp_issuer,
        tokenEndpoint: context.idp_token_endpoint,
        clientId: context.idp_client_id,
        idToken: context.idp_id_token,
      }),
    }),
  'auth/wif-jwt-bearer': () => withPermission({ client: { id }, grant: workloadIdentity(context.valid_jwt) }),
}

const run = scenarios[scenario] ?? permissions[scenario] ?? (scenario.startsWith('auth/') ? () => withPermission({}) : undefined)
if (!run) {
  console.error(`Unknown scenario: ${scenario}`)
  process.exit(2)
}
await run().catch((error) => {
  // The suite shows what a failed client wrote.
  console.error(error)
  process.exit(1)
})
