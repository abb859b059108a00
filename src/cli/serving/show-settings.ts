/** Shows the settings in use, and where each came from. Secrets stay hidden. */

import { DEFAULT_HTTP_LIMITS } from '../../http/index.ts'
import { readTarget, shownTarget } from '../../redis/target.ts'
import { safe } from '../output/safe-text.ts'
import type { Screen } from '../output/screen.ts'
import { printTable } from '../output/table.ts'
import { problemOf, type SettingInUse, type Settings } from './read-settings.ts'

export function showSettings(screen: Screen, settings: Settings): void {
  const rows = settings.all.map((each) => ({ name: each.setting.name, value: shownValue(each), source: each.source }))
  if (screen.isJson) {
    return screen.printJson(Object.fromEntries(rows.map(({ name, value, source }) => [name, { value: value ?? null, source }])))
  }
  printTable(
    screen,
    [{ title: 'setting', style: 'bold' }, { title: 'from' }, { title: 'value' }],
    rows.map(({ name, value, source }) => [
      name,
      source,
      value === undefined ? safe`-` : typeof value === 'string' ? value : JSON.stringify(value),
    ]),
  )
}

function shownValue({ setting: { name, isSecret }, value, source }: SettingInUse): unknown {
  if (value === undefined && name.startsWith('limits.'))
    // The server may have limits of its own, so those of its code are not known here.
    return DEFAULT_HTTP_LIMITS[name.slice('limits.'.length) as keyof typeof DEFAULT_HTTP_LIMITS]
  if (!isSecret || source === 'default') return value
  return name === 'store' ? withoutPassword(String(value), source) : '(hidden)'
}

/** A URL that is not understood is the error that it also is without `--show-config`. */
function withoutPassword(url: string, source: string): string {
  try {
    return shownTarget(readTarget(url))
  } catch (error) {
    throw problemOf([`${source}: ${(error as Error).message}`], error)
  }
}
