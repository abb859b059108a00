import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { temporaryFolders } from '../support/folders.ts'
import { proves } from '../support/proves.ts'
import { CLI, portico } from './support/cli.ts'
import {
  answerQuestion,
  isAtPrompt,
  KEY,
  leave,
  openQuestion,
  readPages,
  startTerminal,
  type TerminalOptions,
  type TerminalProcess,
  typeLine,
} from './support/terminal.ts'

const newFolder = temporaryFolders()

function sit(options: TerminalOptions = {}): TerminalProcess & { home: string } {
  const home = newFolder()
  const env = { HOME: home, PORTICO_HOME: join(home, 'host'), ...options.env }
  return { ...startTerminal([CLI], { cwd: home, columns: 80, rows: 24, ...options, env }), home }
}

/** From the prompt that is open now; nothing when none is. */
const open = (terminal: TerminalProcess): string => {
  const lines = terminal.visible()
  const at = lines.findIndex((line) => line.startsWith('◆'))
  return at < 0 ? '' : lines.slice(at).join('\n')
}

/** Approves what the rogue offers, if it is a question of its own. */
async function enableOffering(terminal: TerminalProcess): Promise<void> {
  await expect.poll(() => openQuestion(terminal) !== '' || isAtPrompt(terminal), { timeout: 20_000 }).toBe(true)
  if (!isAtPrompt(terminal)) await answerQuestion(terminal, /rogue offers .* Enable them/, 'y')
}

test('the shell lists commands, tools, resources and prompts, and explains typing mistakes', async () => {
  proves('T-TOOL-004')
  const terminal = sit({ columns: 160, rows: 50 })
  await typeLine(terminal, 'help')
  await terminal.until('prompts, get PROMPT ...')
  await typeLine(terminal, 'tools')
  await terminal.until('notes__add')
  await typeLine(terminal, 'servers')
  await terminal.until(/notes +ready +7/)
  await typeLine(terminal, 'search previous version')
  await terminal.until(/deploy__rollback +Rolls back/)
  await typeLine(terminal, 'call notes__add title=Milk text="Two litres"')
  await terminal.until(/^excerpt +Two litres$/m)
  const [, id] = /^id +(\w+)$/m.exec(terminal.text()) as RegExpExecArray
  await typeLine(terminal, 'resources')
  await terminal.until('note://{id}')
  await typeLine(terminal, `read note://${id}`)
  await terminal.until(new RegExp(`note://${id} \\(text/markdown`))
  await typeLine(terminal, 'prompts')
  await terminal.until('notes__weekly-review')
  await typeLine(terminal, `get notes__summarise id=${id}`)
  await terminal.until(/^user$/m)
  await typeLine(terminal, 'call notes__ad')
  await terminal.until('Did you mean "notes__add"?')
  await typeLine(terminal, 'audit')
  await terminal.until(/✓ \d+ records intact/)
  await typeLine(terminal, 'q')
  expect(await terminal.exit).toBe(0)
}, 90_000)

describe('consent', () => {
  test('a call can be allowed, edited or denied with advice; forms and sampling work in the same session', async () => {
    proves('T-TOOL-003')
    const terminal = sit({ columns: 160, rows: 50 })
    await typeLine(terminal, 'add a note with title="Bread" text="Rye"')
    await answerQuestion(terminal, /call notes\/add/i, 'y')
    await terminal.until(/^ +title +Bread$/m)
    await typeLine(terminal, 'add a note with title="Eggs" text="Six"')
    await answerQuestion(terminal, /call notes\/add/i, 'e')
    await expect.poll(() => open(terminal), { timeout: 10_000 }).toContain('{"title":"Eggs","text":"Six"}')
    terminal.type(`\u007f\u007f\u007f\u007f\u007fTen"}${KEY.enter}`)
    await answerQuestion(terminal, 'Call it with these arguments?', 'y')
    await terminal.until(/^ +excerpt +Ten$/m)
    await typeLine(terminal, 'add a note with title="Salt" text="A lot"')
    await answerQuestion(terminal, /call notes\/add/i, 'w')
    await expect.poll(() => open(terminal), { timeout: 10_000 }).toContain('What should be done instead?')
    terminal.type(`Too much salt${KEY.enter}`)
    await terminal.until(/^✗ .*denied.*Too much salt\)?$/m)
    await expect.poll(() => isAtPrompt(terminal), { timeout: 10_000 }).toBe(true)
    // Once as it was typed, once in the refusal.
    expect(terminal.text().match(/Too much salt/g)).toHaveLength(2)
    await typeLine(terminal, 'deploy api 1.4.0 to staging')
    await answerQuestion(terminal, /call deploy\/deploy/i, 'y')
    await terminal.until(/deploy asks you/)
    await expect.poll(() => open(terminal), { timeout: 10_000 }).toContain('● staging')
    terminal.type(KEY.enter)
    await expect.poll(() => open(terminal), { timeout: 10_000 }).toContain('Reason')
    terminal.type(`It is time${KEY.enter}`)
    await terminal.until('[y] send')
    await terminal.press('y')
    await terminal.until(/^ +to +1\.4\.0$/m)
    await typeLine(terminal, 'call notes__summarise')
    await answerQuestion(terminal, /notes wants to ask your model/, 'y')
    await answerQuestion(terminal, /Send the model's answer to notes\?/, 'y')
    expect(await leave(terminal)).toBe(0)
    const folder = join(terminal.home, 'host', 'audit')
    const log = readdirSync(folder)
      .map((name) => readFileSync(join(folder, name), 'utf8'))
      .join('')
    for (const kind of ['tool.call', 'elicit.form', 'sampling.create', 'sampling.deliver']) expect(log).toContain(kind)
  }, 120_000)

  test('always holds for a sample after a restart of the shell', async () => {
    const first = sit({ columns: 160, rows: 50 })
    await typeLine(first, 'deploy api 1.4.0 to staging')
    await answerQuestion(first, /call deploy\/deploy/i, 'a')
    await first.until(/deploy asks you[\s\S]*◆/)
    first.type(KEY.escape)
    await first.until('[n] decline, and send nothing')
    await first.press('n')
    await typeLine(first, 'q')
    expect(await first.exit).toBe(0)
    const second = sit({ columns: 160, rows: 50, env: { HOME: first.home, PORTICO_HOME: join(first.home, 'host') } })
    await typeLine(second, 'deploy api 1.4.0 to staging')
    await second.until(/deploy asks you/)
    expect(second.text()).not.toMatch(/wants to call deploy/i)
  }, 90_000)

  test('arguments are edited in the editor of the person, if one is set', async () => {
    const editor = join(newFolder(), 'editor.mjs')
    writeFileSync(
      editor,
      "import { readdirSync, readFileSync, writeFileSync } from 'node:fs'\nconst file = process.argv.at(-1)\n" +
        "writeFileSync(file, readFileSync(file, 'utf8').replace('Rye', 'Wheat\\\\nand water'))\n",
    )
    const terminal = sit({ columns: 160, rows: 50, env: { EDITOR: `'${process.execPath}' '${editor}'` } })
    await typeLine(terminal, 'add a note with title="Bread" text="Rye"')
    await answerQuestion(terminal, /call notes\/add/i, 'e')
    await answerQuestion(terminal, 'Call it with these arguments?', 'y')
    await terminal.until(/^ +excerpt +Wheat/m)
  }, 60_000)

  test('a server that changes after its approval is shown with the change, which stays out of use', async () => {
    const terminal = sit({ columns: 160, rows: 50 })
    await typeLine(terminal, 'demo rogue')
    await answerQuestion(terminal, /Connect to rogue/, 'y')
    await enableOffering(terminal)
    await typeLine(terminal, 'call rogue__forecast city=Paris')
    await answerQuestion(terminal, /call rogue\/forecast/i, 'y')
    await terminal.until(/Approve what changed on rogue[\s\S]*\[n\] no[^>]*>$/)
    const short = terminal.text().slice(terminal.text().indexOf('Approve what changed'))
    expect(short.split('\n').length).toBeLessThanOrEqual(20)
    expect(short).toContain('The name contains a non-Latin letter that looks like o')
    expect(short).toMatch(/│ convert_units +renamed \(formerly convert\)/)
    expect(short).toMatch(/Tells the model to hide something from you/)
    await terminal.press('d')
    await readPages(terminal)
    const text = terminal.text()
    expect(text).toMatch(/│ - "The weather of a city/)
    expect(text).not.toMatch(/widened|renamed from/)
    await terminal.press('n')
    await terminal.until('What is new or changed on rogue stays out of use: you said no')
    await typeLine(terminal, 'pins diff rogue')
    await terminal.until(/≠ tool forecast accepts or says more, new texts[\s\S]*\+ "The weather of a city\. <IMPORTANT>/)
    await typeLine(terminal, 'servers')
    await terminal.until(/rogue +ready +2 +\d items? awaits? approval: approve rogue/)
    await typeLine(terminal, 'call rogue__forecast city=Paris')
    await terminal.until(/The tool "rogue__forecast" is new or changed[\s\S]*approve rogue/)
    await typeLine(terminal, 'q')
    expect(await terminal.exit).toBe(0)
    // The yes was for the demonstration.
    const { stderr } = await portico(['grants', 'list'], { env: { HOME: terminal.home, PORTICO_HOME: join(terminal.home, 'host') } })
    expect(stderr).toContain('No grants.')
  }, 90_000)
})

describe('Ctrl-C', () => {
  test('Ctrl-C stops only the call; at the prompt it clears the line, and twice it exits', async () => {
    const terminal = sit({ columns: 160, rows: 50 })
    await typeLine(terminal, 'call deploy__deploy service=api version=1.4.0 environment=development')
    await answerQuestion(terminal, /call deploy\/deploy/i, 'y')
    await terminal.until(/deploy asks you/)
    await expect.poll(() => open(terminal), { timeout: 10_000 }).toContain('● development')
    terminal.type(KEY.enter)
    await expect.poll(() => open(terminal), { timeout: 10_000 }).toContain('Reason')
    terminal.type(`It is time${KEY.enter}`)
    await terminal.until('[y] send')
    await terminal.press('y')
    await expect.poll(() => terminal.raw(), { timeout: 10_000 }).toMatch(/\d+%/)
    terminal.type(KEY.interrupt)
    await terminal.until('■')
    await typeLine(terminal, 'servers')
    await terminal.until(/deploy +ready/)
    await expect.poll(() => isAtPrompt(terminal), { timeout: 10_000 }).toBe(true)
    terminal.type(`half a line${KEY.interrupt}`)
    await terminal.until('press Ctrl-C again')
    expect(terminal.visible().join('\n')).not.toContain('half a line')
    terminal.type(KEY.interrupt)
    expect(await terminal.exit).toBe(0)
  }, 90_000)
})
