/** The servers as choices of a list. */

import { foreignName } from '../state/foreign-text.ts'
import { useRoute } from './use-console.tsx'

interface Choice {
  value: string
  label: string
}

export function useServerChoices(): readonly Choice[] {
  const { data } = useRoute('GET /api/servers')
  return (data?.servers ?? []).map(({ id, title }) => ({ value: id, label: foreignName(title ?? id) }))
}

/** With a first choice for all of them. */
export const withAllServers = (choices: readonly Choice[]): readonly Choice[] => [{ value: '', label: 'All servers' }, ...choices]
