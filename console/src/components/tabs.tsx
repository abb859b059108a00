/** Tabs. The page keeps the selected one, usually in its address. */

import { Tab, TabList, TabPanel, TabProvider } from '@ariakit/react'
import type { ReactNode } from 'react'
import css from './tabs.module.css'

export interface TabItem<Id extends string = string> {
  id: Id
  label: ReactNode
  content: ReactNode
}

export function Tabs<Id extends string>({
  label,
  tabs,
  selected,
  onSelect,
}: {
  label: string
  tabs: readonly TabItem<Id>[]
  selected: Id
  onSelect(id: Id): void
}): ReactNode {
  return (
    <TabProvider selectedId={selected} setSelectedId={(id) => id && onSelect(id as Id)}>
      <TabList aria-label={label} className={css.list}>
        {tabs.map(({ id, label: text }) => (
          <Tab key={id} id={id} className={css.tab}>
            {text}
          </Tab>
        ))}
      </TabList>
      {tabs.map(({ id, content }) => (
        <TabPanel key={id} tabId={id} className={css.panel} unmountOnHide>
          {content}
        </TabPanel>
      ))}
    </TabProvider>
  )
}
