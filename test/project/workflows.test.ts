import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
// @ts-expect-error a plain script without types
import { root } from '../../scripts/setup.mjs'

const FOLDER = `${root}.github/workflows`

interface Step {
  uses?: string
  run?: string
  with?: Record<string, unknown>
  env?: Record<string, string>
}
interface Job {
  'runs-on': string
  'timeout-minutes': number
  permissions?: Record<string, string>
  strategy?: { matrix: { os: string[]; include: { image: string; program: string }[] } }
  steps: Step[]
}
interface Workflow {
  on: Record<string, unknown>
  permissions: Record<string, string>
  jobs: Record<string, Job>
}

const textOf = (name: string): string => readFileSync(`${FOLDER}/${name}`, 'utf8')
const read = (name: string): Workflow => parse(textOf(name)) as Workflow
const runsOf = (job: Job | undefined): string[] => job?.steps.flatMap((step) => step.run ?? []) ?? []
const { scripts } = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as { scripts: Record<string, string> }

describe.each(readdirSync(FOLDER))('the workflow %s', (name) => {
  const workflow = read(name)
  const jobs = Object.values(workflow.jobs)

  test('every action is pinned to a commit, with its version as a comment', () => {
    const lines = textOf(name)
      .split('\n')
      .filter((line) => /\buses:/.test(line))
    expect(lines.length).toBeGreaterThan(0)
    for (const line of lines) expect(line).toMatch(/uses: [\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/)
  })

  test('it may only read by default, and every job ends after a time', () => {
    expect(workflow.permissions).toEqual({ contents: 'read' })
    for (const job of jobs) expect(job['timeout-minutes']).toBeLessThanOrEqual(60)
  })

  test('no line for a shell contains an expression, because its value could contain a command', () => {
    for (const step of jobs.flatMap((job) => job.steps)) expect(step.run ?? '').not.toContain('${{')
  })

  test('its npm commands exist', () => {
    for (const step of jobs.flatMap((job) => job.steps))
      for (const [, script = ''] of (step.run ?? '').matchAll(/npm run ([\w:-]+)/g)) expect(Object.keys(scripts)).toContain(script)
  })
})

test('the portable tests run on Linux, macOS and Windows, and all tests on Linux', () => {
  const { on, jobs } = read('test.yml')
  expect(Object.keys(on)).toEqual(['push', 'pull_request'])
  expect(jobs.portable?.strategy?.matrix.os.map((os) => os.split('-')[0])).toEqual(['ubuntu', 'macos', 'windows'])
  expect(runsOf(jobs.portable)).toContain('npm run test:portable')
  expect(jobs.whole?.['runs-on']).toMatch(/^ubuntu-/)
  expect(runsOf(jobs.whole)).toContain('npm test')
})

test('the tests of Redis run with each version that the documentation names', () => {
  const { redis } = read('test.yml').jobs
  const versions = redis?.strategy?.matrix.include.map(({ image }) => /(\w+:.*)$/.exec(image)?.[1])
  const guide = readFileSync(`${root}docs/redis.md`, 'utf8')
  const [, named = ''] = /The tests of Redis also run with (.*)\./.exec(guide) ?? []
  expect(versions).toEqual([...named.matchAll(/(\w+) ([\d.]+\d)/g)].map(([, name, version]) => `${name?.toLowerCase()}:${version}`))
  expect(runsOf(redis).at(-1)).toBe('npm test -- test/redis')
  expect(redis?.steps.at(-1)?.env).toHaveProperty('PORTICO_REDIS_SERVER')
})

test('a tag is tested, then published with provenance by the only job with an identity', () => {
  const { on, jobs } = read('release.yml')
  expect(on).toEqual({ push: { tags: ['v*'] } })
  expect(Object.entries(jobs).filter(([, { permissions }]) => permissions?.['id-token'] === 'write')).toMatchObject([
    ['publish', { needs: 'test' }],
  ])
  expect(jobs.test?.steps.map(({ run }) => run)).toContain('npm test')
  const steps = jobs.publish?.steps.filter((step) => step.run) ?? []
  expect(steps.map(({ run }) => run)).toEqual([
    'node scripts/release.mjs --check-tag "$GITHUB_REF_NAME"',
    'npm publish --provenance --access public',
    'npm publish --provenance --access public',
  ])
  expect(steps.at(-1)).toMatchObject({ 'working-directory': 'create-portico' })
  expect(textOf('release.yml')).not.toMatch(/secrets\.|TOKEN/)
})
