/** Text of servers for display: invisible characters and characters that reorder letters become visible. */

import { groundedMarks, visibleText } from '../../../src/base/text/visible-text.ts'

/** Text that may have several lines. Use it for everything that a server, a file or a model wrote. */
export const foreignText = (text: string): string => groundedMarks(visibleText(text, { multiline: true }))

/** A name or a title: one line. */
export const foreignName = (text: string): string => groundedMarks(visibleText(text))
