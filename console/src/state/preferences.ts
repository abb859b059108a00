/** What this browser remembers for the person: theme, keys, an open tray. */

import { createStore, type Store } from './store.ts'

export interface Preferences {
  theme: 'system' | 'light' | 'dark'
  /** Keys without Ctrl: `?`, `w`, `g h`. */
  hasSingleKeys: boolean
  isTrayOpen: boolean
  /** The step of the tour, from 1. Undefined: not begun, or finished. */
  tourStep?: number | undefined
  isTourDone: boolean
  /** The model of the last chat. */
  model?: string
}

export const DEFAULT_PREFERENCES: Preferences = { theme: 'system', hasSingleKeys: true, isTrayOpen: false, isTourDone: false }

const KEY = 'portico-preferences'

export interface PreferenceStorage {
  getItem(key: string): string | null
  setItem(key: string, value: string): void
}

/** Storage can be switched off or hold anything: then the defaults apply. */
export function createPreferences(storage: PreferenceStorage): Store<Preferences> {
  const store = createStore(read(storage))
  store.subscribe(() => {
    try {
      storage.setItem(KEY, JSON.stringify(store.get()))
    } catch {
      // The page works without it.
    }
  })
  return store
}

function read(storage: PreferenceStorage): Preferences {
  try {
    return preferencesIn(JSON.parse(storage.getItem(KEY) ?? '{}'))
  } catch {
    return DEFAULT_PREFERENCES
  }
}

/** Takes what is valid of stored preferences. */
export function preferencesIn(value: unknown): Preferences {
  const stored = (typeof value === 'object' && value !== null ? value : {}) as Partial<Preferences>
  const theme = stored.theme === 'light' || stored.theme === 'dark' ? stored.theme : 'system'
  return {
    theme,
    hasSingleKeys: stored.hasSingleKeys !== false,
    isTrayOpen: stored.isTrayOpen === true,
    isTourDone: stored.isTourDone === true,
    ...(typeof stored.tourStep === 'number' && { tourStep: stored.tourStep }),
    ...(typeof stored.model === 'string' && { model: stored.model }),
  }
}
