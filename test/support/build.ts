/** Builds and links the package before any test, because the processes that tests start import it. */

export async function setup(): Promise<void> {
  const { buildIfStale, linkPackages } = await import(new URL('../../scripts/setup.mjs', import.meta.url).href)
  linkPackages()
  await buildIfStale({ types: false })
}
