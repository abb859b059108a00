/**
 * Dead code. `knip` counts the tests as users; `knip --production` does not, and so finds what only tests keep alive.
 * There an export that its own file uses is not dead: a test may look at it.
 */

const isProduction = process.argv.includes('--production')

export default {
  workspaces: {
    '.': {
      entry: [
        'src/index.ts!',
        'src/{server,client,stdio,http,auth,host,console,testing,extensions,tasks,skills,apps,observability,opentelemetry,store,redis,compose,openapi}/index.ts!',
        'src/host/policy-tools/index.ts!',
        'src/adapters/*/index.ts!',
        'src/cli/index.ts!',
        // What `imports` of package.json gives to bundles for browsers and Workers (scripts/node-imports.mjs).
        'src/http/client/dispatcher/fetch.ts!',
        'src/auth/fetch/plain-connect.ts!',
        'src/protocol/needs-node.ts!',
        'scripts/*.mjs',
        'examples/**/*.{mjs,ts}',
      ],
      project: ['src/**/*.ts!', 'scripts/**/*.mjs', 'examples/**/*.{mjs,ts}'],
      // Development tools are in the workspace of the tests. The AI SDK's providers and what src/adapters adapts to are optional peers.
      ignoreDependencies: [
        'esbuild',
        'vite',
        '@ai-sdk/anthropic',
        '@ai-sdk/openai-compatible',
        'ai',
        '@langchain/core',
        '@openai/agents',
        '@opentelemetry/api',
        'ioredis',
        // What the examples use is in the workspace of the tests.
        '@hono/node-server',
        '@sqlite.org/sqlite-wasm',
        'express',
        'oidc-provider',
      ],
      ignoreBinaries: ['biome', 'vite'],
    },
    test: {
      entry: [
        '**/*.test.ts',
        '**/fixtures/*.{mjs,ts}',
        'cli/{migrate/corpus,generate/expected}/*.ts',
        'support/{build,order,property-settings}.ts',
        'conformance/set-up.ts',
      ],
      project: ['**/*.{ts,mjs}'],
      // The types of React are for console/, which is installed without them when it is only built.
      // ioredis-v6 is linked as ioredis (scripts/setup.mjs).
      // SQLite is for examples/, and NestJS and Elysia are for docs/frameworks.md, whose code the tests of the documentation run.
      // tsx is loaded by `portico serve` and by the templates, from folders that link it.
      ignoreDependencies: [
        '@arethetypeswrong/cli',
        'publint',
        '@biomejs/biome',
        'tsx',
        'axe-core',
        'ioredis-v6',
        '@sqlite.org/sqlite-wasm',
        /^@nestjs\//,
        'elysia',
        'reflect-metadata',
        'rxjs',
      ],
    },
    console: { project: ['src/**/*.{ts,tsx}!'] },
    site: { entry: ['build.mjs'], project: ['**/*.mjs', '.vitepress/**/*.mjs'], ignoreDependencies: ['typedoc-plugin-markdown'] },
    bench: { entry: ['run.mjs', '{calls,streams}.mjs', 'contestants/*/*.mjs'], project: ['**/*.mjs'] },
  },
  ignoreExportsUsedInFile: isProduction ? true : { interface: true, type: true },
  ignoreBinaries: ['apt-get', 'unshare', 'mkfifo', 'fish', 'openssl', 'nginx', 'redis-server', 'systemd-analyze'],
}
