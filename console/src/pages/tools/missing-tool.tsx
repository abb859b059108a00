/** A tool that is not in use: the state of its server says why, with the way to it. */

import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { buttonClass } from '../../components/button.tsx'
import { EmptyState } from '../../components/states.tsx'
import { useRoute } from '../../hooks/use-console.tsx'
import { foreignName } from '../../state/foreign-text.ts'
import { isToReview, serverState } from '../../state/servers.ts'

/** @param name `server/tool`, or the unique name */
export function MissingTool({ name }: { name: string }): ReactNode {
  const servers = useRoute('GET /api/servers').data?.servers ?? []
  const server = servers.find(({ id }) => name.startsWith(`${id}/`) || name.startsWith(`${id}__`))
  if (!server) {
    return <EmptyState title={`There is no tool ${foreignName(name)}`}>Its server is not on your list. Pick another tool.</EmptyState>
  }
  const { word, reason } = serverState(server)
  const id = foreignName(server.id)
  return (
    <EmptyState
      title={`${foreignName(name)} is not in use`}
      action={
        <Link
          to="/servers"
          search={{ server: server.id, tab: isToReview(word) ? 'offering' : 'overview' }}
          className={buttonClass({ kind: 'main' })}
        >
          Open {id}
        </Link>
      }
    >
      {word === 'ready'
        ? `${id} does not offer it, or you have not enabled it.`
        : `State of ${id}: ${word}${reason === undefined ? '' : `. ${foreignName(reason)}`}.`}
    </EmptyState>
  )
}
