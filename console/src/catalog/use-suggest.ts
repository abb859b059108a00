/** Suggestions of a server for the arguments of a prompt or the variables of a template. */

import { useCallback, useEffect, useRef } from 'react'
import type { CompleteParams } from '../../../src/client/index.ts'
import type { Suggest } from '../forms/fields/context.ts'
import { useConsole } from '../hooks/use-console.tsx'
import { textArguments } from '../state/arguments.ts'

/** @param values what the form has now: the server may use the other arguments */
export function useSuggest(server: string, ref: CompleteParams['ref'], values: unknown): Suggest {
  const { api } = useConsole()
  const latest = useRef(values)
  useEffect(() => {
    latest.current = values
  })
  // Arguments that the server cannot complete are not asked for again.
  const without = useRef(new Set<string>())
  const key = JSON.stringify(ref)
  return useCallback(
    async (path, text, signal) => {
      const name = path[0]
      if (path.length !== 1 || typeof name !== 'string' || without.current.has(name)) return []
      const { [name]: _, ...others } = textArguments(latest.current)
      const body = {
        server,
        ref: JSON.parse(key) as CompleteParams['ref'],
        argument: { name, value: text },
        context: { arguments: others },
      }
      try {
        const { completion } = await api.call('POST /api/complete', { body, signal })
        return completion.values
      } catch {
        if (!signal.aborted) without.current.add(name)
        return []
      }
    },
    [api, server, key],
  )
}
