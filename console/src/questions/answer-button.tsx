/** A button that answers a question. In the quiet time of its card it looks disabled and says so, because a click would not count. */

import { createContext, type ReactNode, useContext } from 'react'
import { Button, type ButtonProps } from '../components/button.tsx'

/** Whether answers to the card around it do not count for a moment. */
export const QuietCard = createContext(false)

export const useIsQuietCard = (): boolean => useContext(QuietCard)

export const AnswerButton = (props: ButtonProps): ReactNode => <Button {...props} isQuiet={useIsQuietCard()} />
