/** Reads and changes what this browser remembers. */

import { useSyncExternalStore } from 'react'
import { createPreferences, type Preferences } from '../state/preferences.ts'

export const preferences = createPreferences(localStorage)

export function usePreferences(): [Preferences, (change: Partial<Preferences>) => void] {
  const value = useSyncExternalStore(preferences.subscribe, preferences.get)
  return [value, changePreferences]
}

export const changePreferences = (change: Partial<Preferences>): void => preferences.update((state) => ({ ...state, ...change }))

/** Sets the theme on the page now, and whenever it changes. */
export function followTheme(): void {
  const apply = (): void => {
    const { theme } = preferences.get()
    if (theme === 'system') delete document.documentElement.dataset.theme
    else document.documentElement.dataset.theme = theme
  }
  apply()
  preferences.subscribe(apply)
}
