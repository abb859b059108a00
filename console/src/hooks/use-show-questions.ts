/** Shows the questions that wait: in the tray beside the page, or on their own page where there is no room. */

import { useNavigate } from '@tanstack/react-router'
import { useIsWide } from './use-is-wide.ts'
import { changePreferences } from './use-preferences.ts'

export function useShowQuestions(): () => void {
  const isWide = useIsWide()
  const navigate = useNavigate()
  return () => {
    if (isWide) changePreferences({ isTrayOpen: true })
    else void navigate({ to: '/waiting' })
  }
}
