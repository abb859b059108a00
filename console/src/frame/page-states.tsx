/** What stands in the place of a page that is loading, failed or not there. */

import { type ErrorComponentProps, Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { EmptyState, ErrorState, Skeleton } from '../components/states.tsx'

export const PageLoading = (): ReactNode => <Skeleton lines={6} label="Loading the page" />

export const PageFailed = ({ error, reset }: ErrorComponentProps): ReactNode => (
  <ErrorState
    title="This page failed"
    error={error as Error}
    advice="The other pages work. If it happens again, reload the window."
    onRetry={reset}
  />
)

export const NotFound = (): ReactNode => (
  <EmptyState title="There is no page at this address" action={<Link to="/">Go to Home</Link>}>
    The address may be from another version of Portico.
  </EmptyState>
)
