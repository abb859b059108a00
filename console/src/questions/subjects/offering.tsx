/** What a server offers, new or changed: everything at once, or item by item. Changes are shown as a difference. */

import { memo, type ReactNode, useState } from 'react'
import type { QuestionView } from '../../../../src/console/api.ts'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { DiffRows } from '../../components/diff-view.tsx'
import { Checkbox } from '../../components/field.tsx'
import { Fold } from '../../components/fold.tsx'
import { JsonTree } from '../../components/json-tree.tsx'
import { foreignName, foreignText } from '../../state/foreign-text.ts'
import { counted, itemText, shortened } from '../../state/format.ts'
import type { ShownItem } from '../../state/question-room.ts'
import { skillFactsOf } from '../../state/skills.ts'
import { AnswerButton } from '../answer-button.tsx'
import css from '../question-card.module.css'
import { SkillFiles } from '../skill-files.tsx'

type Approve = Extract<QuestionView['question']['subject'], { kind: 'approve' }>
type Item = Approve['items'][number]

const keyOf = ({ kind, name }: Item): string => `${kind} ${name}`

const nameOf = ({ kind, name }: Item): string => foreignName(itemText({ kind, name }))

/** Items in the list to choose from that are drawn at first. */
const FIRST_ITEMS = 50

interface OfferingProps {
  subject: Approve
  onChoose(edited: unknown): void
  isBusy: boolean
}

/** The list in which the person chooses items. */
export function Choice({ subject, onChoose, isBusy }: OfferingProps): ReactNode {
  const [isChoosing, setChoosing] = useState(false)
  const [max, setMax] = useState(FIRST_ITEMS)
  const [chosen, setChosen] = useState<ReadonlySet<string>>(
    () => new Set(subject.items.filter(({ flags }) => flags.length === 0).map(keyOf)),
  )
  const toggle = (key: string, isOn: boolean): void =>
    setChosen(new Set(isOn ? [...chosen, key] : [...chosen].filter((each) => each !== key)))
  const left = subject.items.length - max
  return (
    <Fold label={`Choose among ${counted(subject.items.length, 'item')}`} isOpen={isChoosing} onToggle={setChoosing}>
      {isChoosing && (
        <div className={css.items}>
          {subject.items.slice(0, max).map((item) => (
            <div key={keyOf(item)} className={css.item}>
              <Checkbox
                label={nameOf(item)}
                checked={chosen.has(keyOf(item))}
                onChange={(event) => toggle(keyOf(item), event.target.checked)}
              />
              <Flags item={item} />
              <Definition item={item} />
            </div>
          ))}
          <div className={css.buttons}>
            {left > 0 ? (
              // What is not drawn could not be left out.
              <Button onClick={() => setMax(max * 2)}>Show more ({counted(left, 'item')} left)</Button>
            ) : (
              <AnswerButton isBusy={isBusy} disabled={chosen.size === 0} onClick={() => onChoose({ approved: [...chosen] })}>
                {subject.isFirst ? 'Enable' : 'Approve'} {counted(chosen.size, 'item')}
              </AnswerButton>
            )}
          </div>
        </div>
      )}
    </Fold>
  )
}

/** Skills that are shown with their files. */
const FIRST_SKILLS = 20

/** What the skills in a question say about themselves, with their files to read before the answer. */
export function SkillItems({ server, items }: { server: string; items: readonly Item[] }): ReactNode {
  const skills = items.flatMap(({ kind, definition }) => (kind === 'skill' ? (skillFactsOf(definition) ?? []) : []))
  return skills.slice(0, FIRST_SKILLS).map(({ uri, name, description, files }) => (
    <section key={uri} className={css.item} aria-label={`Skill ${foreignName(name)}`}>
      <div className={css.itemHead}>
        <strong>Skill {foreignName(name)}</strong>
        <span className={css.who}>{foreignName(uri)}</span>
      </div>
      <p className={css.theirs}>{foreignText(shortened(description, MAX_DESCRIPTION))}</p>
      <SkillFiles server={server} uri={uri} files={files} />
    </section>
  ))
}

/** The specification allows no more. */
const MAX_DESCRIPTION = 1_024

function Definition({ item: { name, definition } }: { item: Item }): ReactNode {
  const [isOpen, setOpen] = useState(false)
  return (
    <Fold label="Definition" isOpen={isOpen} onToggle={setOpen}>
      {isOpen && <JsonTree value={definition} label={`Definition of ${foreignName(name)}`} />}
    </Fold>
  )
}

export const ChangedItems = memo(function ChangedItems({ items }: { items: readonly ShownItem[] }): ReactNode {
  return items.map((shown) => <ChangedItem key={keyOf(shown.item)} shown={shown} />)
})

/** A changed item with its differences, or a new one with what it says about itself. */
function ChangedItem({ shown: { item, changes } }: { shown: ShownItem }): ReactNode {
  const { name, difference } = item
  return (
    <div className={css.item}>
      <div className={css.itemHead}>
        <strong>{nameOf(item)}</strong>
        <Badge tone="waiting">{difference ? 'changed' : 'new'}</Badge>
        {difference?.formerly !== undefined && <span className={css.who}>formerly {foreignName(difference.formerly)}</span>}
      </div>
      <Flags item={item} />
      {changes.map(({ title, lines }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the changes of an item do not change
        <div key={index} className={css.item}>
          {title !== undefined && <span className={css.who}>{foreignText(title)}</span>}
          {lines.length > 0 && <DiffRows lines={lines} label={`${difference ? 'Change' : 'Definition'} of ${foreignName(name)}`} />}
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
