/** Programs that run files which their arguments do not name: project files, packages, modules. */

/** Programs that run a package by name, and fetch it if it is not installed. */
const PACKAGE_RUNNER = /^(?:npx|bunx|pnpx|uvx)$/

/** Programs that do so with a subcommand. */
const PACKAGE_RUNNING: readonly (readonly [RegExp, RegExp])[] = [
  [/^npm$/, /^(?:exec|x)$/],
  [/^(?:pnpm|yarn)$/, /^dlx$/],
  [/^bun$/, /^x$/],
  [/^pipx$/, /^run$/],
]

/** Programs that run installed packages from the working folder or a parent. */
export const NODE_RUNNER = /^(?:npx|bunx|pnpx|npm|pnpm|yarn|bun)$/

const NODE_FILES = ['package.json', '.npmrc', '.yarnrc', '.yarnrc.yml', '.pnpmfile.cjs', 'pnpm-workspace.yaml', 'bunfig.toml']
const PYTHON_FILES = ['pyproject.toml', 'uv.toml', 'uv.lock', 'poetry.lock', 'Pipfile', 'Pipfile.lock', '.python-version']

/** Files from which these programs look up a name. They are also searched in parent folders. */
const MANIFESTS: readonly (readonly [RegExp, readonly string[]])[] = [
  [NODE_RUNNER, NODE_FILES],
  [/^(?:uv|uvx|poetry|pipenv|hatch|pdm|rye)$/, PYTHON_FILES],
  [/^deno$/, ['deno.json', 'deno.jsonc', 'deno.lock', 'package.json', 'import_map.json']],
  [/^(?:make|gmake)$/, ['GNUmakefile', 'makefile', 'Makefile']],
  [/^just$/, ['justfile', 'Justfile', '.justfile']],
  [/^cargo$/, ['Cargo.toml', 'Cargo.lock', 'build.rs', '.cargo/config.toml', '.cargo/config', 'src/main.rs']],
  [/^go$/, ['go.mod', 'go.sum', 'go.work', 'main.go']],
  [/^dotnet$/, ['global.json', 'Directory.Build.props', 'Directory.Build.targets', 'Program.cs']],
  [/^(?:mvn|mvnw|mvnd)$/, ['pom.xml', '.mvn/jvm.config', '.mvn/maven.config', '.mvn/extensions.xml']],
  [/^(?:gradle|gradlew)$/, ['build.gradle', 'build.gradle.kts', 'settings.gradle', 'settings.gradle.kts', 'gradle.properties']],
  [/^rake$/, ['Rakefile', 'rakefile', 'Rakefile.rb']],
  [/^bundle$/, ['Gemfile', 'Gemfile.lock', '.bundle/config']],
  [/^task$/, ['Taskfile.yml', 'Taskfile.yaml', 'taskfile.yml', 'taskfile.yaml']],
  [/^(?:mise|asdf)$/, ['mise.toml', '.mise.toml', '.tool-versions']],
  [/^(?:nix|nix-shell)$/, ['flake.nix', 'flake.lock', 'shell.nix', 'default.nix']],
  [/^direnv$/, ['.envrc']],
  [/^(?:docker|podman|docker-compose)$/, ['compose.yaml', 'compose.yml', 'docker-compose.yaml', 'docker-compose.yml', 'Dockerfile']],
]

/** Build tools, task runners and containers: files and images decide what they run. */
const RUNS_A_PROJECT =
  /^(?:npm|pnpm|yarn|make|gmake|cmake|ninja|just|task|rake|bundle|cargo|go|dotnet|mvn|mvnw|mvnd|gradle|gradlew|ant|sbt|lein|bazel|mix|stack|cabal|composer|uv|pipx|poetry|pipenv|hatch|pdm|rye|tox|nox|conda|mise|asdf|nix|nix-shell|direnv|docker|podman|docker-compose|kubectl|ssh|turbo|nx|lerna|nodemon|concurrently)$/

/** Subcommands that run another program in nearly every tool. */
const RUNS_ANOTHER = /^(?:run|exec|x|dlx|task|run-script)$/

/** Interpreters, each with the arguments that make it run a project script or remote code instead of a named file. */
const RUNS_UNNAMED_WITH: readonly (readonly [RegExp, RegExp])[] = [
  [/^(?:node|nodejs)$/, /^--(?:run|test)(?:=|$)/],
  [/^deno$/, /^(?:task$|npm:|jsr:|https?:)/],
  [/^bun$/, /^(?:start|test)$/],
  [/^php[\d.]*$/, /^-S/],
  [/^ruby[\d.]*$/, /^-S/],
]

/** The names of the manifest files that these programs read. */
export const manifestsOf = (programs: readonly string[]): string[] => [
  ...new Set(MANIFESTS.flatMap(([pattern, files]) => (programs.some((name) => pattern.test(name)) ? files : []))),
]

/** Each package runner among these words, with the words after it. */
export function packageRuns(words: readonly string[], nameOf: (word: string) => string): { runner: string; args: string[] }[] {
  return words.flatMap((word, at) => {
    const runner = nameOf(word)
    if (PACKAGE_RUNNER.test(runner)) return [{ runner, args: words.slice(at + 1) }]
    const running = PACKAGE_RUNNING.find(([pattern]) => pattern.test(runner))?.[1]
    const after = running ? words.findIndex((each, i) => i > at && running.test(each)) : -1
    if (after !== -1) return [{ runner, args: words.slice(after + 1) }]
    if (runner === 'uv' && words[at + 1] === 'tool' && words[at + 2] === 'run') return [{ runner: 'uvx', args: words.slice(at + 3) }]
    return []
  })
}

/**
 * Whether one of these programs runs code that no word names. An unknown program counts as the server itself, unless a subcommand such
 * as `run` follows.
 *
 * @param first the words that may be the subcommand of an unknown program. Undefined: the program is known
 */
export const runsUnnamed = (programs: readonly string[], words: readonly string[], first: readonly string[] | undefined): boolean =>
  programs.some((name) => RUNS_A_PROJECT.test(name)) ||
  RUNS_UNNAMED_WITH.some(([program, word]) => programs.some((name) => program.test(name)) && words.some((each) => word.test(each))) ||
  // `bun run server.ts` names a file; `bun run serve` runs a script of package.json.
  (programs.includes('bun') && words.includes('run') && !words.some((word) => /\.[cm]?[jt]sx?$/.test(word))) ||
  (first?.some((word) => RUNS_ANOTHER.test(word)) ?? false)
