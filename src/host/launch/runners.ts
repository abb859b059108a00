/** Programs that run what their words do not name: files of a project, packages, what a module path finds. */

/** They fetch a package, or run one that is installed, by its name. */
const PACKAGE_RUNNER = /^(?:npx|bunx|pnpx|uvx)$/

/** The same, by a word of its own that follows. */
const PACKAGE_RUNNING: readonly (readonly [RegExp, RegExp])[] = [
  [/^npm$/, /^(?:exec|x)$/],
  [/^(?:pnpm|yarn)$/, /^dlx$/],
  [/^bun$/, /^x$/],
  [/^pipx$/, /^run$/],
]

/** Their programs can be those of packages that are installed in a folder, or above it. */
export const NODE_RUNNER = /^(?:npx|bunx|pnpx|npm|pnpm|yarn|bun)$/

const NODE_FILES = ['package.json', '.npmrc', '.yarnrc', '.yarnrc.yml', '.pnpmfile.cjs', 'pnpm-workspace.yaml', 'bunfig.toml']
const PYTHON_FILES = ['pyproject.toml', 'uv.toml', 'uv.lock', 'poetry.lock', 'Pipfile', 'Pipfile.lock', '.python-version']

/** Files that say what a name means to these, beside those that are named. They are looked for in the folders above as well. */
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

/** Build tools, runners of tasks, and containers: what they run is decided by files and images that no word names. */
const RUNS_A_PROJECT =
  /^(?:npm|pnpm|yarn|make|gmake|cmake|ninja|just|task|rake|bundle|cargo|go|dotnet|mvn|mvnw|mvnd|gradle|gradlew|ant|sbt|lein|bazel|mix|stack|cabal|composer|uv|pipx|poetry|pipenv|hatch|pdm|rye|tox|nox|conda|mise|asdf|nix|nix-shell|direnv|docker|podman|docker-compose|kubectl|ssh|turbo|nx|lerna|nodemon|concurrently)$/

/** A word after which nearly every program runs something else. */
const RUNS_ANOTHER = /^(?:run|exec|x|dlx|task|run-script)$/

/** Interpreters that run what no word names where one of these words is there: scripts of a project, code from elsewhere. */
const BY_A_WORD: readonly (readonly [RegExp, RegExp])[] = [
  [/^(?:node|nodejs)$/, /^--(?:run|test)(?:=|$)/],
  [/^deno$/, /^(?:task$|npm:|jsr:|https?:)/],
  [/^bun$/, /^(?:start|test)$/],
  [/^php[\d.]*$/, /^-S/],
  [/^ruby[\d.]*$/, /^-S/],
]

export const manifestsOf = (programs: readonly string[]): string[] => [
  ...new Set(MANIFESTS.flatMap(([pattern, files]) => (programs.some((name) => pattern.test(name)) ? files : []))),
]

/** The words after each runner of packages among these words. */
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
 * Whether one of these programs runs what no word names. A program that nobody knows is taken to be the server itself,
 * unless a word says that it runs something else.
 *
 * @param first the words that a program nobody knows may take for its command; undefined where it is known
 */
export const runsUnnamed = (programs: readonly string[], words: readonly string[], first: readonly string[] | undefined): boolean =>
  programs.some((name) => RUNS_A_PROJECT.test(name)) ||
  BY_A_WORD.some(([program, word]) => programs.some((name) => program.test(name)) && words.some((each) => word.test(each))) ||
  // `bun run server.ts` names a file, `bun run serve` a script of package.json.
  (programs.includes('bun') && words.includes('run') && !words.some((word) => /\.[cm]?[jt]sx?$/.test(word))) ||
  (first?.some((word) => RUNS_ANOTHER.test(word)) ?? false)
