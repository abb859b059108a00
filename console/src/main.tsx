/** Starts the page: a session first, then everything else. */

import './styles/tokens.css'
import './styles/base.css'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { createRoot } from 'react-dom/client'
import { askOtherWindows } from './api/other-windows.ts'
import { codeIn, createSession } from './api/session.ts'
import { isOpenedElsewhere, OpenedElsewhere } from './frame/opened-elsewhere.tsx'
import { SignIn } from './frame/sign-in.tsx'
import { createPageConsole } from './hooks/console.ts'
import { keepPreferences } from './hooks/keep-preferences.ts'
import { ConsoleProvider } from './hooks/use-console.tsx'
import { followTheme } from './hooks/use-preferences.ts'
import { router } from './router.tsx'

followTheme()
const session = createSession({ storage: sessionStorage })
const page = createPageConsole(session)
const root = createRoot(document.getElementById('root') as HTMLElement)

function open(): void {
  page.start()
  void keepPreferences(page.api)
  root.render(
    <ConsoleProvider console={page}>
      <QueryClientProvider client={page.queries}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </ConsoleProvider>,
  )
}

const confirmed = (): Promise<void> => new Promise((resolve) => root.render(<OpenedElsewhere onOpen={resolve} />))

async function begin(): Promise<void> {
  const code = codeIn(location.hash)
  const isStrange = isOpenedElsewhere()
  // The code works once. It must not stay in the address, where it would be copied or bookmarked.
  if (code !== undefined) history.replaceState(null, '', location.pathname + location.search)
  const problem = code === undefined ? undefined : await exchanged(code)
  // A code that works shows that the person means it. Another site can write any other.
  if (isStrange && (code === undefined || problem !== undefined)) await confirmed()
  const other = code !== undefined || session.hasToken ? undefined : await askOtherWindows()
  const fault = other === undefined ? problem : await exchanged(other)
  if (session.hasToken) open()
  else root.render(<SignIn session={session} problem={fault} onDone={open} />)
}

/** Undefined: it worked. Otherwise the problem in words. */
const exchanged = (code: string): Promise<string | undefined> =>
  session.exchange(code).then(
    () => undefined,
    ({ message }: Error) => message,
  )

void begin()
