/** Buttons, and links that look like buttons. */

import type { ButtonHTMLAttributes, ReactNode } from 'react'
import css from './button.module.css'
import { classes } from './classes.ts'

export interface ButtonProps extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'style'> {
  /** `main`: the one thing to do here. `danger`: removes or refuses. `quiet`: without a border. Default: `plain`. */
  kind?: 'main' | 'plain' | 'danger' | 'quiet'
  isSmall?: boolean
  /** It works on something: clicks do nothing, and it says so. It keeps the focus, which a disabled button would lose. */
  isBusy?: boolean
  /** Clicks do not count for a moment: it looks so and says so. It keeps the focus and its place. */
  isQuiet?: boolean
  icon?: ReactNode
  /** Marks the control that the tour asks for. */
  'data-highlight'?: string
  /** `allow` or `deny`: the answer to a question. */
  'data-answer'?: string
}

export function Button({
  kind = 'plain',
  isSmall = false,
  isBusy = false,
  isQuiet = false,
  icon,
  className,
  children,
  onClick,
  ...rest
}: ButtonProps): ReactNode {
  return (
    <button
      type="button"
      {...rest}
      className={buttonClass({ kind, isSmall, className })}
      onClick={isBusy || isQuiet ? (event) => event.preventDefault() : onClick}
      aria-disabled={isBusy || isQuiet || undefined}
      aria-busy={isBusy || undefined}
    >
      {isBusy ? <span className={css.spinner} aria-hidden="true" /> : icon}
      {children}
    </button>
  )
}

/** The classes of a button, for links: `<Link className={buttonClass({ kind: 'main' })}>`. */
export const buttonClass = ({
  kind = 'plain',
  isSmall,
  className,
}: {
  kind?: ButtonProps['kind']
  isSmall?: boolean
  className?: string | undefined
}): string => classes(css.button, css[kind], isSmall && css.small, className)

/** A button that shows only an icon. `label` is its name for screen readers and its tooltip. */
export function IconButton({ label, children, ...rest }: Omit<ButtonProps, 'icon'> & { label: string }): ReactNode {
  return (
    <Button kind="quiet" {...rest} aria-label={label} title={label} className={classes(css.icon, rest.className)}>
      {children}
    </Button>
  )
}
