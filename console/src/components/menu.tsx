/** A button that opens a short list of actions. */

import { Menu as Base, MenuButton, MenuItem, MenuProvider, useMenuStore } from '@ariakit/react'
import type { KeyboardEvent, ReactNode } from 'react'
import { buttonClass } from './button.tsx'
import { classes } from './classes.ts'
import css from './menu.module.css'

export interface MenuAction {
  label: ReactNode
  /** A second line: what it covers. */
  help?: ReactNode
  onSelect(): void
  isDanger?: boolean
  isDisabled?: boolean
}

export function Menu({
  label,
  actions,
  kind = 'plain',
  isSmall = false,
  accessibleLabel,
  disabled = false,
}: {
  label: ReactNode
  actions: readonly MenuAction[]
  kind?: 'plain' | 'quiet' | 'main'
  isSmall?: boolean
  accessibleLabel?: string
  disabled?: boolean
}): ReactNode {
  const menu = useMenuStore()
  // It is drawn at the end of the document, so the next control of the page is not the next one there.
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== 'Tab') return
    event.preventDefault()
    menu.hide()
  }
  return (
    <MenuProvider store={menu}>
      <MenuButton className={buttonClass({ kind, isSmall })} aria-label={accessibleLabel} disabled={disabled}>
        {label}
      </MenuButton>
      <Base gutter={4} className={css.menu} portal preserveTabOrder={false} unmountOnHide onKeyDown={onKeyDown}>
        {actions.map(({ label: text, help, onSelect, isDanger, isDisabled }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the actions of a menu do not change their order
          <MenuItem key={index} className={classes(css.item, isDanger && css.danger)} onClick={onSelect} disabled={isDisabled === true}>
            {text}
            {help && <span className={css.help}>{help}</span>}
          </MenuItem>
        ))}
      </Base>
    </MenuProvider>
  )
}
