/** Before any test: the package is built, because the processes that tests start import it. */

export async function setup(): Promise<void> {
  const { buildIfStale } = await import(new URL('../../scripts/setup.mjs', import.meta.url).href)
  await buildIfStale({ types: false })
}
