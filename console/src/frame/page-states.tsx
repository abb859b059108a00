/** What stands in the place of a page that is loading, failed or not there. */

import { type ErrorComponentProps, Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { PageHeader } from '../components/page-header.tsx'
import { EmptyState, ErrorState, Skeleton } from '../components/states.tsx'

export const PageLoading = (): ReactNode => <Skeleton lines={6} label="Loading the page" />

export const PageFailed = ({ error, reset }: ErrorComponentProps): ReactNode => (
  <>
    <PageHeader title="This page failed" />
    <ErrorState
      title="Something unexpected happened"
      error={error as Error}
      advice="The other pages work. If it happens again, reload the window."
      onRetry={reset}
    />
  </>
)

export const NotFound = (): ReactNode => (
  <>
    <PageHeader title="Not found" />
    <EmptyState title="There is no page at this address" action={<Link to="/">Go to Home</Link>}>
      The address may be from another version of Portico.
    </EmptyState>
  </>
)
