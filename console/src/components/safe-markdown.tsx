/**
 * Markdown of others. Only the lexer of the library is used: its tokens become React elements here, so raw HTML stays text and no
 * HTML is ever parsed. Pictures stay text as well, because loading one would tell its server that it was read.
 */

import type { Token, Tokens } from 'marked'
import { type ReactNode, useMemo } from 'react'
import { CodeBlock } from './code-block.tsx'
import { markdownTokens } from './markdown-tokens.ts'
import { SafeLink } from './safe-link.tsx'
import css from './safe-markdown.module.css'

const MAX_DEPTH = 12

/** What cannot be read in a short time is shown as it was written. @param text made visible already (state/foreign-text.ts) */
export function SafeMarkdown({ text }: { text: string }): ReactNode {
  const { tokens, rest } = useMemo(() => markdownTokens(text), [text])
  return (
    <>
      {tokens.length > 0 && <div className={css.markdown}>{blocks(tokens, 0)}</div>}
      {rest !== '' && <pre className={css.plain}>{rest}</pre>}
    </>
  )
}

const blocks = (tokens: readonly Token[], depth: number): ReactNode[] =>
  tokens.map((token, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: tokens of one text do not move
    <Piece key={index} token={token} depth={depth} />
  ))

const inside = (token: Token, depth: number): ReactNode =>
  depth >= MAX_DEPTH || !('tokens' in token) || !token.tokens
    ? 'text' in token
      ? String(token.text)
      : token.raw
    : blocks(token.tokens, depth + 1)

function Piece({ token, depth }: { token: Token; depth: number }): ReactNode {
  switch (token.type) {
    case 'space':
    case 'def':
      return null
    case 'heading':
      return <p className={css.heading}>{inside(token, depth)}</p>
    case 'paragraph':
      return <p>{inside(token, depth)}</p>
    case 'blockquote':
      return <blockquote className={css.quote}>{inside(token, depth)}</blockquote>
    case 'hr':
      return <hr className={css.rule} />
    case 'code':
      return <CodeBlock text={(token as Tokens.Code).text} label={(token as Tokens.Code).lang || 'Code'} />
    case 'list':
      return <List token={token as Tokens.List} depth={depth} />
    case 'table':
      return <MarkdownTable token={token as Tokens.Table} depth={depth} />
    case 'strong':
      return <strong>{inside(token, depth)}</strong>
    case 'em':
      return <em>{inside(token, depth)}</em>
    case 'del':
      return <del>{inside(token, depth)}</del>
    case 'codespan':
      return <code className={css.code}>{(token as Tokens.Codespan).text}</code>
    case 'br':
      return <br />
    case 'link':
      return <SafeLink href={(token as Tokens.Link).href}>{inside(token, depth)}</SafeLink>
    case 'image':
      return (
        <span className={css.picture}>
          picture: <SafeLink href={(token as Tokens.Image).href}>{(token as Tokens.Image).text || 'without a name'}</SafeLink>
        </span>
      )
    case 'text':
    case 'escape':
      return inside(token, depth)
    // `html` and everything unknown: the text as it was written.
    default:
      return token.raw
  }
}

function List({ token, depth }: { token: Tokens.List; depth: number }): ReactNode {
  const items = token.items.map((item, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: items of one text do not move
    <li key={index}>
      {item.task && <span>{item.checked ? '☑ ' : '☐ '}</span>}
      {depth >= MAX_DEPTH ? item.text : blocks(item.tokens, depth + 1)}
    </li>
  ))
  return token.ordered ? (
    <ol className={css.numbers} start={typeof token.start === 'number' ? token.start : 1}>
      {items}
    </ol>
  ) : (
    <ul className={css.bullets}>{items}</ul>
  )
}

function MarkdownTable({ token, depth }: { token: Tokens.Table; depth: number }): ReactNode {
  const cell = ({ tokens, text }: Tokens.TableCell): ReactNode => (depth >= MAX_DEPTH ? text : blocks(tokens, depth + 1))
  return (
    <div className={css.tableBox}>
      <table className={css.table}>
        <thead>
          <tr>
            {token.header.map((each, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: cells of one text do not move
              <th key={index} scope="col">
                {cell(each)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {token.rows.map((row, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: cells of one text do not move
            <tr key={index}>
              {row.map((each, column) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: cells of one text do not move
                <td key={column}>{cell(each)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
