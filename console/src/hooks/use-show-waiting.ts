/** Shows what waits for the person: the tray beside the page, or its own page in a narrow window. */

import { useNavigate } from '@tanstack/react-router'
import { useIsWide } from './use-is-wide.ts'
import { changePreferences } from './use-preferences.ts'

export function useShowWaiting(): () => void {
  const isWide = useIsWide()
  const navigate = useNavigate()
  return () => (isWide ? changePreferences({ isTrayOpen: true }) : void navigate({ to: '/waiting' }))
}
