/** All messages. The server and the selected message are in the address. */

import { useNavigate, useSearch } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { MessageList } from '../../traffic/message-list.tsx'

export function Messages(): ReactNode {
  const { server, message } = useSearch({ from: '/timeline' })
  const navigate = useNavigate({ from: '/timeline' })
  return (
    <MessageList
      server={server}
      onServer={(chosen) =>
        void navigate({ search: ({ server: _, ...rest }) => (chosen === undefined ? rest : { ...rest, server: chosen }) })
      }
      selected={message}
      onSelect={(seq) => void navigate({ search: ({ message: _, ...rest }) => (seq === undefined ? rest : { ...rest, message: seq }) })}
    />
  )
}
