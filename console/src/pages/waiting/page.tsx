/** The tray as a page, for narrow windows. */

import type { ReactNode } from 'react'
import { PageHeader } from '../../components/page-header.tsx'
import { Tray } from '../../questions/tray.tsx'

export const WaitingPage = (): ReactNode => (
  <>
    <PageHeader title="Waiting for you" about="Nothing of this happens until you answer." />
    <Tray />
  </>
)
