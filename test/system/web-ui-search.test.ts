import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { JudgedQuestion, JudgedQuestionList } from '@agent-server/evaluation'
import { strToU8, zipSync } from 'fflate'
import type { Page, Route } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import {
  expectAccessible,
  goTo,
  hasBrowser,
  openWebUi,
  press,
  useBrowser,
} from '../support/browser.ts'
import { endedEvaluation } from '../support/evaluations.ts'
import { startServer, TEST_KEY, type TestServer } from '../support/server.ts'
import { ROOT } from '../support/source-tree.ts'
import { temporaryDirectory } from '../support/temporary-files.ts'

const browser = useBrowser()

const NOTES = ['Owls hoot at night.', 'Larks sing in the morning.', 'Owls and larks are birds.']

const QUERIES = '{"_id":"1","text":"Who sings?"}\n'
const QRELS = 'query-id\tcorpus-id\tscore\n1\tlarks\t1\n1\tbirds\t2\n'

async function addQuestion(server: TestServer, body: object): Promise<JudgedQuestion> {
  const added = await server.request('/evaluation/questions', { body })
  return JudgedQuestion.parse(await added.json())
}

async function questionsOf(server: TestServer): Promise<JudgedQuestion[]> {
  const listed = await server.request('/evaluation/questions')
  return JudgedQuestionList.parse(await listed.json()).questions
}

async function judge(page: Page, question: string, hit: number): Promise<void> {
  await page.getByRole('searchbox', { name: 'Question' }).fill(question)
  await page.getByRole('button', { name: 'Search', exact: true }).click()
  await page.getByRole('button', { name: `Right document at hit ${hit}` }).click()
}

/** What the command or the code says that a button of the page copies. */
async function runCopied(page: Page, button: string): Promise<string> {
  await page.evaluate('navigator.clipboard.writeText("")')
  await page.getByRole('button', { name: button }).last().click()
  const copied = () => page.evaluate<string>('navigator.clipboard.readText()')
  await expect.poll(copied).not.toBe('')
  const text = await copied()
  const client = new URL('packages/client/src/agent-server.ts', ROOT).href
  const code = text.replace('agent-server-client', client)
  const command: [string, string[]] = text.startsWith('curl')
    ? ['sh', ['-c', text]]
    : [process.execPath, ['--input-type=module', '--eval', code]]
  const env = { ...process.env, AGENT_SERVER_KEY: TEST_KEY, KEY: TEST_KEY }
  return (await promisify(execFile)(...command, { env })).stdout
}

describe.skipIf(!hasBrowser)('The Search page (needs Chromium)', () => {
  it('has a judged set collected by clicking, kept, evaluated for two settings as npm run eval does, exported and taken again', async () => {
    const server = await startServer()
    for (const text of NOTES) await server.ingest({ title: text.slice(0, 4), text })
    const { page, complaints } = await openWebUi(browser, server.url, 'search')
    await judge(page, 'Who hoots at night?', 1)
    await judge(page, 'birds such as owls', 2)
    await page.reload()
    await page.getByRole('link', { name: '2 judged questions' }).click()
    await page.getByRole('button', { name: 'Remove birds such as owls' }).waitFor()
    await page.getByText('Nothing measured yet').waitFor()
    const evaluations = page.getByRole('region', { name: 'Evaluations' })
    const done = evaluations.getByRole('listitem').filter({ hasText: 'Done' })
    await press(page, 'Evaluate 2 questions')
    await done.first().waitFor()
    await evaluations.getByText('Settings').click()
    await evaluations.getByLabel('Mode').selectOption('lexical')
    await press(page, 'Evaluate 2 questions')
    await done.nth(1).waitFor()
    const scores = page.getByRole('region', { name: /^lexical, / })
    await scores.getByRole('listitem').filter({ hasText: 'Found100 %as before' }).waitFor()
    await expectAccessible(page)
    await page.emulateMedia({ colorScheme: 'dark' })
    await expectAccessible(page)
    const shown = await done.getByText(/^nDCG@10/).allInnerTexts()
    for (const box of await page.getByLabel(/^Compare .*,/).all()) await box.check()
    const compared = page.getByRole('region', { name: 'Comparison: search' })
    await compared.getByText('MRR: no difference beyond chance').waitFor()
    await compared.getByText('Every question came out the same.').waitFor()
    await page.getByText('Mode: default → lexical').waitFor()
    await page
      .getByRole('button', { name: /^Results of/ })
      .first()
      .click()
    await page.getByRole('button', { name: 'Search for Who hoots at night?' }).click()
    await page.getByText(/found in/).waitFor()
    expect(await page.getByLabel('Question', { exact: true }).inputValue()).toMatch(/^Who hoots/)
    expect(await page.getByLabel('Mode').inputValue()).toBe('lexical')
    await goTo(page, 'Evaluation')
    const mrr = compared
      .getByRole('row', { name: /^MRR@10/ })
      .getByRole('cell')
      .nth(1)
    await expectAccessible(page)

    const download = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Export' }).click()
    const lines = await readFile(await (await download).path())
    const exported = join(await temporaryDirectory(), 'judged-questions.jsonl')
    await writeFile(exported, lines)
    const command = ['scripts/eval.ts', exported, '--json', '--url', server.url, '--key', TEST_KEY]
    const { stdout } = await promisify(execFile)(process.execPath, command, { cwd: new URL(ROOT) })
    expect(JSON.parse(stdout)).toMatchObject({ queries: 2, documents: 0 })
    const ndcg = `nDCG@10 ${Number(JSON.parse(stdout).ndcg.toFixed(4))}`
    expect(shown).toEqual([expect.stringContaining(ndcg), expect.stringContaining(ndcg)])
    expect(Number(await mrr.innerText())).toBeCloseTo(JSON.parse(stdout).mrr, 3)

    await page.getByRole('button', { name: 'Remove birds such as owls' }).click()
    await page.getByRole('button', { name: 'Evaluate 1 question', exact: true }).waitFor()
    const take = (name: string, bytes: Uint8Array) =>
      page
        .locator('input[type=file]')
        .setInputFiles({ name, mimeType: '', buffer: Buffer.from(bytes) })
    await take('wrong.zip', Buffer.from('x'))
    await page.getByText('This is not a zip file.').waitFor()
    await take('wrong.jsonl', Buffer.from('{"question":"Without document"}'))
    await page.getByText('0.relevant: must name a document, unless there are facts').waitFor()
    await take('judged-questions.jsonl', lines)
    await page.getByRole('button', { name: 'Evaluate 2 questions' }).waitFor()
    await take(
      'beir.zip',
      zipSync({ 'queries.jsonl': strToU8(QUERIES), 'qrels.tsv': strToU8(QRELS) }),
    )
    await page.getByRole('button', { name: 'Evaluate 3 questions' }).waitFor()
    // Of the lines that were refused.
    expect(complaints).toEqual([expect.stringContaining('400')])

    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('Server key').waitFor()
    expect(await page.evaluate(() => JSON.stringify(localStorage))).not.toContain('birds')
  })

  it('takes facts of judged questions, asks the agent, and shows what differs between two evaluations', async () => {
    const server = await startServer()
    const owls = await server.ingest({ title: 'Owls', text: NOTES[0] ?? '' })
    await addQuestion(server, { question: 'Who hoots at night?', relevant: [{ documentId: owls }] })
    const { page, complaints } = await openWebUi(browser, server.url, 'evaluation', {
      viewport: { width: 390, height: 844 },
    })
    await page.getByRole('button', { name: 'Add the fact of Who hoots at night?' }).click()
    const wordings = page.getByLabel('Wordings of the fact, one per line, of Who hoots at night?')
    await wordings.fill(' Larks \n\nlarks of the night')
    await press(page, 'Save')
    await page.getByRole('button', { name: '2 wordings' }).waitFor()
    await page.getByLabel('Question that no document answers').fill('Who counts quaggas?')
    await press(page, 'Add')
    await page.getByText('No document has the answer').waitFor()
    expect(await questionsOf(server)).toMatchObject([
      { facts: ['Larks', 'larks of the night'], relevant: [{ documentId: owls }] },
      { question: 'Who counts quaggas?', facts: [], relevant: [] },
    ])

    const evaluations = page.getByRole('region', { name: 'Evaluations' })
    const done = evaluations.getByRole('listitem').filter({ hasText: 'Done' })
    await page.getByLabel('Name of the evaluation').fill('Wrong fact')
    await page.getByLabel('Also ask the agent the questions that have a fact').check()
    await press(page, 'Evaluate 2 questions')
    await done.first().waitFor()
    await page.getByRole('button', { name: '2 wordings' }).click()
    await wordings.fill('owls')
    await press(page, 'Save')
    await page.getByRole('button', { name: '1 wording' }).waitFor()
    await page.getByLabel('Name of the evaluation').fill('Right fact')
    await press(page, 'Evaluate 2 questions')
    await done.nth(1).waitFor()
    expect(await endedEvaluation(server)).toMatchObject({ name: 'Right fact', answers: true })

    await page.getByRole('button', { name: 'Results of Wrong fact' }).click()
    const results = page.getByRole('region', { name: 'Results: answers' })
    await results.getByText('Owls hoot at night').waitFor()
    await results.getByText('Right 0 · Right document cited 1').waitFor()
    for (const box of await page.getByLabel(/^Compare .*,/).all()) await box.check()
    const compared = page.getByRole('region', { name: 'Comparison: answers' })
    await compared.getByRole('row', { name: 'Right 0 1 +1' }).waitFor()
    await compared.getByText('1 question came out differently:').waitFor()
    const better = compared.getByRole('listitem').filter({ hasText: 'Right 0 → 1' })
    await better.getByText('Better').waitFor()
    await better.getByText(/^Before: [\s\S]*Owls hoot at night/).waitFor()
    await page.getByText(/^Both ran with the same mode, filter and models/).waitFor()
    await expectAccessible(page)
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390)
    expect(complaints).toEqual([])
  })

  it('gives the server the questions that an earlier version kept in the browser, and loses none', async () => {
    const server = await startServer()
    const { id } = await addQuestion(server, { question: 'Who sings?', facts: ['larks'] })
    const { page, complaints } = await openWebUi(browser, server.url, 'evaluation')
    await page.evaluate(
      (kept) => localStorage.setItem('agent-server.judged', kept),
      JSON.stringify({ queries: QUERIES, qrels: QRELS }),
    )
    const stopped = (route: Route) => route.fulfill({ status: 500 })
    await page.route('**/evaluation/questions/import', stopped)
    await page.reload()
    await page.getByText('are not on the server yet').waitFor()
    expect(await page.evaluate(() => localStorage.getItem('agent-server.judged'))).toContain('Who')
    // Refused at signing in, and on the page.
    await expect.poll(() => complaints.length).toBe(2)
    await page.unroute('**/evaluation/questions/import', stopped)
    await page.getByRole('button', { name: 'Retry' }).click()
    await page.getByRole('button', { name: 'Remove Who sings?' }).waitFor()
    await expect
      .poll(() => page.evaluate(() => localStorage.getItem('agent-server.judged')))
      .toBeNull()
    const relevant = [
      { documentId: 'larks', grade: 1 },
      { documentId: 'birds', grade: 2 },
    ]
    expect(await questionsOf(server)).toMatchObject([
      { id, question: 'Who sings?', relevant, facts: ['larks'] },
    ])
    expect(complaints).toHaveLength(2)
  })

  it('searches by both settings where the second was asked for during the search', async () => {
    const server = await startServer()
    await server.ingest({ title: 'Owls', text: NOTES[0] ?? '' })
    const { page } = await openWebUi(browser, server.url, 'search')
    const held = Promise.withResolvers<void>()
    await page.route('**/query', async (route) => {
      await held.promise
      await route.continue()
    })
    await page.getByRole('searchbox', { name: 'Question' }).fill('owls')
    await page.keyboard.press('Enter')
    await page.getByLabel('Compare two settings').check()
    held.resolve()
    await page.getByRole('region', { name: 'Second setting' }).getByText('Owls hoot').waitFor()
  })

  it('says that meaning is not there, and copies search and chat as code and commands that run', async () => {
    const server = await startServer()
    await server.ingest({ title: 'Owls', text: NOTES[0] ?? '' })
    const { page, context } = await openWebUi(browser, server.url, 'chat')
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.getByLabel('Question', { exact: true }).fill("Who hoots at night? It's dark.")
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Source 1' }).waitFor()
    await page.locator('summary', { hasText: 'More' }).click()
    expect(await runCopied(page, 'Copy as code')).toMatch(
      /Owls hoot at night.*\[1\][\s\S]*\[1\] Owls/,
    )
    expect(await runCopied(page, 'Copy as curl')).toMatch(/event: done[\s\S]*Owls hoot at night/)

    await goTo(page, 'Search')
    await page.getByRole('searchbox', { name: 'Question' }).fill("owls that don't sleep")
    await page.keyboard.press('Enter')
    expect(await runCopied(page, 'Copy as code')).toContain('Owls hoot at night.')
    expect(await runCopied(page, 'Copy as curl')).toContain('Owls hoot at night.')

    await page.getByText('Settings', { exact: true }).last().click()
    await page.getByLabel('Mode').selectOption('dense')
    await page.getByRole('button', { name: 'Search', exact: true }).click()
    await page.getByRole('alert').filter({ hasText: /mode/ }).waitFor()
  })
})
