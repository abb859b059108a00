/** One server: overview, offering, log, messages, settings, doctor. */

import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import type { ServerDetails } from '../../../../src/console/api.ts'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { ErrorState, Skeleton } from '../../components/states.tsx'
import { Tabs } from '../../components/tabs.tsx'
import { useRoute } from '../../hooks/use-console.tsx'
import { useShowWaiting } from '../../hooks/use-show-waiting.ts'
import { foreignName, foreignText } from '../../state/foreign-text.ts'
import { itemText, shortened } from '../../state/format.ts'
import { hasToken, reviewText, serverState } from '../../state/servers.ts'
import { MessageList } from '../../traffic/message-list.tsx'
import { Doctor } from './doctor.tsx'
import { OfferingTab } from './offering-tab.tsx'
import { Overview } from './overview.tsx'
import { ServerLogTab } from './server-log.tsx'
import { SettingsTab } from './settings-tab.tsx'
import { useElapsed } from './use-elapsed.ts'
import { useServerActions } from './use-server-actions.ts'
import { WritingSwitch } from './writing-switch.tsx'

export function ServerPage({ id, onLeave }: { id: string; onLeave(): void }): ReactNode {
  const { tab = 'overview', message } = useSearch({ from: '/servers' })
  const navigate = useNavigate({ from: '/servers' })
  const found = useRoute('GET /api/servers/:id', { params: { id } })
  const actions = useServerActions(id)
  const [isRemoving, setRemoving] = useState(false)
  const server = found.data?.server
  const elapsed = useElapsed(found.dataUpdatedAt, server?.health.retryInMs !== undefined)
  const state = server && serverState(server, elapsed)
  const showWaiting = useShowWaiting()
  const name = foreignName(server?.title ?? id)
  return (
    <>
      <p>
        <Link to="/servers">← All servers</Link>
      </p>
      <PageHeader
        title={name}
        about={
          state && (
            <>
              <Badge tone={state.tone}>{state.word}</Badge> {state.reason !== undefined && foreignText(state.reason)}
              {server?.review && `: ${foreignName(shortened(itemsText(server.review), 300))}`}
            </>
          )
        }
        actions={
          server && (
            <>
              {state?.word === 'asks you' && (
                <Button kind="main" onClick={showWaiting}>
                  Answer
                </Button>
              )}
              {server.isEnabled && state?.word !== 'not enabled' ? (
                <>
                  <Button {...actions.busy('restart')} onClick={actions.restart}>
                    Restart
                  </Button>
                  <Button {...actions.busy('disable')} onClick={actions.disable}>
                    Disable
                  </Button>
                </>
              ) : (
                <>
                  <Button kind="main" {...actions.busy('enable')} onClick={actions.enable}>
                    Enable
                  </Button>
                  <Button {...actions.busy('enableChosen')} onClick={actions.enableChosen}>
                    Start, let me choose
                  </Button>
                </>
              )}
              {server.waiting > 0 && (
                <Button kind="main" {...actions.busy('approve')} onClick={actions.approve}>
                  {reviewText(server)}
                </Button>
              )}
              {state?.word === 'needs login' && (
                <Button kind="main" {...actions.busy('login')} onClick={actions.login}>
                  Log in
                </Button>
              )}
              {server.isLoggedIn && state?.word !== 'needs login' && (
                <Button {...actions.busy('logout')} onClick={actions.logout}>
                  Log out
                </Button>
              )}
              <Button kind="danger" onClick={() => setRemoving(true)}>
                Remove
              </Button>
            </>
          )
        }
      />
      {/* The reason beside the state says the same. */}
      {actions.error && actions.error.message !== state?.reason && <ErrorState title="That did not work" error={actions.error} />}
      {found.isPending && <Skeleton lines={6} />}
      {found.isError && <ErrorState title={`${name} could not be fetched`} error={found.error} onRetry={() => void found.refetch()} />}
      {server && (
        <Tabs
          label={name}
          selected={tab}
          onSelect={(chosen) => void navigate({ search: { server: id, tab: chosen } })}
          tabs={[
            { id: 'overview', label: 'Overview', content: <Overview server={server} /> },
            { id: 'offering', label: 'Offering', content: <OfferingTab server={server} onReview={actions.approve} /> },
            { id: 'log', label: 'Log', content: <ServerLogTab id={id} facts={server.facts} /> },
            {
              id: 'messages',
              label: 'Messages',
              content: (
                <MessageList
                  server={id}
                  selected={message}
                  onSelect={(seq) => void navigate({ search: { server: id, tab: 'messages', ...(seq !== undefined && { message: seq }) } })}
                />
              ),
            },
            {
              id: 'settings',
              label: 'Settings',
              content: (
                <>
                  {server.isStored && <WritingSwitch server={server} />}
                  <SettingsTab server={server} onSaved={actions.resume} key={JSON.stringify(server.settings)} />
                </>
              ),
            },
            {
              id: 'doctor',
              label: 'Doctor',
              content: <Doctor id={id} hasToken={hasToken(server.settings.headers)} onLogin={actions.login} />,
            },
          ]}
        />
      )}
      <Dialog
        title={`Remove ${name}?`}
        isOpen={isRemoving}
        onClose={() => setRemoving(false)}
        actions={
          <>
            <Button onClick={() => setRemoving(false)}>Keep it</Button>
            <Button
              kind="danger"
              isBusy={actions.isBusy}
              onClick={() => {
                actions.remove()
                setRemoving(false)
                onLeave()
              }}
            >
              Remove
            </Button>
          </>
        }
      >
        <p>It is stopped and taken off the list. The program itself stays on this computer.</p>
      </Dialog>
    </>
  )
}

/** `tool add, prompt review`. */
const itemsText = ({ items }: NonNullable<ServerDetails['review']>): string => items.map(itemText).join(', ')
