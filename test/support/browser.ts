import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest'
import { TEST_KEY } from './server.ts'

const EXECUTABLE = process.env.CHROMIUM ?? '/usr/bin/chromium'
/** A name that is no name of the loopback, for which browsers make exceptions; it leads to the loopback all the same. */
export const NAMED_HOST = 'agent.test'
const FLAGS = [
  // A browser that root starts has no sandbox; it sees the servers of its test only.
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  `--host-resolver-rules=MAP ${NAMED_HOST} 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost`,
]

export const hasBrowser = existsSync(EXECUTABLE)

/** What a test needs of a browser. */
export type Profiles = Pick<Browser, 'newContext'>

/** One browser for all tests of the file that calls this at its top; none is started where there is none. */
export function useBrowser(): Profiles {
  let browser: Browser | undefined
  beforeAll(async () => {
    if (hasBrowser) browser = await chromium.launch({ executablePath: EXECUTABLE, args: FLAGS })
  })
  afterAll(() => browser?.close())
  return {
    async newContext(options) {
      if (!browser) throw new Error(`There is no browser at ${EXECUTABLE}`)
      return browser.newContext(options)
    },
  }
}

/** The paths of the web UI, the chat last, where tests go on. */
export const PAGES = [
  'overview',
  'documents',
  'collections',
  'search',
  'agent',
  'models',
  'keys',
  'feedback',
  'usage',
  'evaluation',
  'activity',
  'deploy',
  'settings',
  'chat',
]

/** A page of its own profile, and what it said in its console or asked of other hosts than `url`. */
export async function openPage(
  browser: Profiles,
  url: string,
  options: BrowserContextOptions = {},
) {
  const context = await browser.newContext({ reducedMotion: 'reduce', ...options })
  // On a busy machine, too.
  context.setDefaultTimeout(60_000)
  const page = await context.newPage()
  onTestFinished(async ({ task }) => {
    const hasFailed = task.result?.state === 'fail'
    const shown = hasFailed && (await page.locator('body').innerText().catch(String))
    await context.close()
    if (hasFailed) throw new Error(`${page.url()} showed:\n${shown}`)
  })
  const complaints: string[] = []
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text())
  })
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('dialog', (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  page.on('request', (request) => {
    const address = request.url()
    if (!address.startsWith(`${url}/`) && !/^(?:data|blob):/.test(address)) {
      complaints.push(`left for ${address}`)
    }
  })
  return { page, context, complaints }
}

/** The web UI after signing in with the key. */
export async function openWebUi(
  browser: Profiles,
  url: string,
  path = 'overview',
  options: BrowserContextOptions = {},
) {
  const opened = await openPage(browser, url, options)
  const { page } = opened
  await page.goto(`${url}/#/${path}`)
  await page.getByLabel('Server key').fill(TEST_KEY)
  const signIn = page.getByRole('button', { name: 'Sign in' })
  await signIn.click()
  await signIn.waitFor({ state: 'detached' })
  await page.getByRole('heading', { level: 1 }).waitFor()
  return opened
}

/** By the navigation, as people do. */
export const goTo = (page: Page, name: string) =>
  page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name }).click()

/** With an account of the test’s issuer. */
export async function signInAs(page: Page, login: string) {
  await page.getByRole('link', { name: 'Sign in with your account' }).click()
  await page.locator('input[name=login]').fill(login)
  await page.locator('input[name=password]').fill('any')
  await page.getByRole('button', { name: 'Sign-in' }).click()
  await page.getByRole('button', { name: 'Continue' }).click()
}

/** Opens a card of the page Agent, unless it is open. */
export async function openCard(page: Page, title: string): Promise<void> {
  const heading = page.getByRole('heading', { name: title, exact: true, level: 2 })
  const card = page.locator('details').filter({ has: heading })
  await heading.waitFor()
  if ((await card.getAttribute('open')) === null) await heading.click()
}

/** Shows a variable on the page Settings, which otherwise shows a section at a time. */
export const findSetting = (page: Page, name: string) =>
  page.getByLabel('Find a setting').fill(name)

export const press = (page: Page, name: string) =>
  page.getByRole('button', { name, exact: true }).click()

/** Asks on the page of the chat. */
export async function askOn(page: Page, question: string): Promise<void> {
  await page.getByLabel('Question', { exact: true }).last().fill(question)
  await page.keyboard.press('Enter')
}

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

interface AxeResults {
  violations: { id: string; nodes: { html: string; failureSummary: string }[] }[]
}

/** Fails with what axe finds wrong on the page as it is. With a name, a picture goes into the folder TEST_PICTURES. */
export async function expectAccessible(page: Page, name?: string): Promise<void> {
  const folder = process.env.TEST_PICTURES
  if (folder && name) await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true })
  await page.evaluate(AXE)
  const { violations } = await page.evaluate<AxeResults>('axe.run({ resultTypes: ["violations"] })')
  const described = violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 200)} ${failureSummary}`),
  )
  expect(described).toEqual([])
}
