/** Keeps the preferences at the host as well: the port may differ at each start, and the storage of a browser belongs to a port. */

import type { Api } from '../api/client.ts'
import { type Preferences, preferencesIn } from '../state/preferences.ts'
import { preferences } from './use-preferences.ts'

/** Changes in quick succession are stored once. */
const QUIET_MS = 400

export async function keepPreferences(api: Api): Promise<void> {
  // A change that comes before the answer is newer.
  const before = preferences.get()
  const stored = await api.call('GET /api/preferences').catch(() => undefined)
  if (stored && preferences.get() === before) preferences.update((state) => ({ ...state, ...shared(preferencesIn(stored.preferences)) }))
  let last = JSON.stringify(shared(preferences.get()))
  let timer: ReturnType<typeof setTimeout> | undefined
  preferences.subscribe(() => {
    const next = JSON.stringify(shared(preferences.get()))
    if (next === last) return
    last = next
    clearTimeout(timer)
    timer = setTimeout(() => {
      void api.call('PUT /api/preferences', { body: { preferences: shared(preferences.get()) } }).catch(() => {})
    }, QUIET_MS)
  })
}

/** Whether the tray is open belongs to one window. */
const shared = ({ isTrayOpen: _, ...rest }: Preferences): Omit<Preferences, 'isTrayOpen'> => rest
