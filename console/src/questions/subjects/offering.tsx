/** What a server offers, new or changed: everything at once, or item by item. Changes are shown as a difference. */

import { type ReactNode, useState } from 'react'
import type { QuestionView } from '../../../../src/console/api.ts'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { DiffView } from '../../components/diff-view.tsx'
import { Checkbox } from '../../components/field.tsx'
import { Fold } from '../../components/fold.tsx'
import { JsonTree } from '../../components/json-tree.tsx'
import { foreignName, foreignText } from '../../state/foreign-text.ts'
import { counted } from '../../state/format.ts'
import css from '../question-card.module.css'

type Approve = Extract<QuestionView['question']['subject'], { kind: 'approve' }>
type Item = Approve['items'][number]

const keyOf = ({ kind, name }: Item): string => `${kind} ${name}`

export function Offering({ subject, onChoose, isBusy }: { subject: Approve; onChoose(edited: unknown): void; isBusy: boolean }): ReactNode {
  const [isChoosing, setChoosing] = useState(false)
  const [chosen, setChosen] = useState<ReadonlySet<string>>(
    () => new Set(subject.items.filter(({ flags }) => flags.length === 0).map(keyOf)),
  )
  const toggle = (key: string, isOn: boolean): void =>
    setChosen(new Set(isOn ? [...chosen, key] : [...chosen].filter((each) => each !== key)))
  return (
    <div className={css.part}>
      {!subject.isFirst && worstFirst(subject.items).map((item) => <ChangedItem key={keyOf(item)} item={item} />)}
      <Fold label={`Choose among ${counted(subject.items.length, 'item')}`} isOpen={isChoosing} onToggle={setChoosing}>
        {isChoosing && (
          <div className={css.items}>
            {subject.items.map((item) => (
              <div key={keyOf(item)} className={css.item}>
                <Checkbox
                  label={foreignName(keyOf(item))}
                  checked={chosen.has(keyOf(item))}
                  onChange={(event) => toggle(keyOf(item), event.target.checked)}
                />
                <Flags item={item} />
                <Fold label="Definition">
                  <JsonTree value={item.definition} label={`Definition of ${foreignName(item.name)}`} />
                </Fold>
              </div>
            ))}
            <div className={css.buttons}>
              <Button isBusy={isBusy} disabled={chosen.size === 0} onClick={() => onChoose({ approved: [...chosen] })}>
                {subject.isFirst ? 'Enable' : 'Approve'} {counted(chosen.size, 'item')}
              </Button>
            </div>
          </div>
        )}
      </Fold>
    </div>
  )
}

/** Items with the most warnings first. */
export const worstFirst = (items: readonly Item[]): Item[] => [...items].sort((a, b) => b.flags.length - a.flags.length)

/** A changed item with its differences, or a new one with what it says about itself. */
export function ChangedItem({ item }: { item: Item }): ReactNode {
  const { kind, name, difference, definition } = item
  return (
    <div className={css.item}>
      <div className={css.itemHead}>
        <strong>{foreignName(`${kind} ${name}`)}</strong>
        <Badge tone="waiting">{difference ? 'changed' : 'new'}</Badge>
        {difference?.formerly !== undefined && <span className={css.who}>formerly {foreignName(difference.formerly)}</span>}
      </div>
      <Flags item={item} />
      {!difference && <DiffView before="" after={readable(definition)} label={`Definition of ${foreignName(name)}`} />}
      {difference?.changes.map(({ pointer, text, before, after }) => (
        <div key={pointer} className={css.item}>
          <span className={css.who}>{foreignText(`${pointer}: ${text}`)}</span>
          {(before !== undefined || after !== undefined) && (
            <DiffView before={readable(before)} after={readable(after)} label={`Change of ${foreignName(name)}`} />
          )}
        </div>
      ))}
    </div>
  )
}

const Flags = ({ item }: { item: Item }): ReactNode =>
  item.flags.map((flag) => (
    <p key={flag} className={css.warning}>
      <span aria-hidden="true">▲ </span>
      {foreignText(flag)}
    </p>
  ))

const readable = (value: unknown): string =>
  value === undefined ? '' : foreignText(typeof value === 'string' ? value : JSON.stringify(value, undefined, 2))
