/** Starts the page: a session first, then everything else. */

import './styles/tokens.css'
import './styles/base.css'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { createRoot } from 'react-dom/client'
import { askOtherWindows } from './api/other-windows.ts'
import { codeIn, createSession } from './api/session.ts'
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

async function begin(): Promise<void> {
  const code = codeIn(location.hash)
  // The code works once. It must not stay in the address, where it would be copied or bookmarked.
  if (code !== undefined) history.replaceState(null, '', location.pathname + location.search)
  let problem: string | undefined
  const usable = code ?? (session.hasToken ? undefined : await askOtherWindows())
  try {
    if (usable !== undefined) await session.exchange(usable)
  } catch (error) {
    problem = (error as Error).message
  }
  if (session.hasToken) open()
  else root.render(<SignIn session={session} problem={problem} onDone={open} />)
}

void begin()
