import { hash, randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { expectAccessible, hasBrowser, openPage, useBrowser } from '../support/browser.ts'
import { startServer, TEST_KEY } from '../support/server.ts'

const browser = useBrowser()
const Registered = z.object({ client_id: z.string() })
const Tokens = z.object({ access_token: z.string() })

/** A program that waits on this machine for the browser to come back. */
async function startProgram() {
  const server = createServer((_request, response) => response.end('You can close this window.'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  return `http://127.0.0.1:${port}/callback`
}

describe.skipIf(!hasBrowser)('The page that allows a program (needs Chromium)', () => {
  it.each(['light', 'dark'] as const)(
    'takes a key and leads back with a code, %s',
    async (colorScheme) => {
      const { url } = await startServer()
      const redirect = await startProgram()
      const registered = await fetch(`${url}/oauth/register`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ client_name: 'Editor', redirect_uris: [redirect] }),
      })
      const { client_id } = Registered.parse(await registered.json())
      const verifier = randomBytes(32).toString('base64url')
      const asked = {
        response_type: 'code',
        client_id,
        redirect_uri: redirect,
        code_challenge: hash('sha256', verifier, 'base64url'),
        code_challenge_method: 'S256',
        state: 'kept',
      }
      const viewport = { width: 390, height: 740 }
      const { page } = await openPage(browser, url, { colorScheme, viewport })
      await page.goto(`${url}/oauth/authorize?${new URLSearchParams(asked)}`)
      await page.getByText('Editor').waitFor()
      await expectAccessible(page)
      await page.getByLabel('Key').fill('a key that is wrong')
      await page.getByRole('button', { name: 'Allow' }).click()
      await page.getByRole('alert').getByText('The key is invalid.').waitFor()
      await page.getByLabel('Key').fill(TEST_KEY)
      await page.getByRole('button', { name: 'Allow' }).click()
      await page.getByText('You can close this window.').waitFor()
      const { searchParams } = new URL(page.url())
      expect(searchParams.get('state')).toBe('kept')
      const exchanged = await fetch(`${url}/oauth/token`, {
        method: 'POST',
        body: new URLSearchParams({
          grant_type: 'authorization_code',
          code: searchParams.get('code') ?? '',
          redirect_uri: redirect,
          client_id,
          code_verifier: verifier,
        }),
      })
      expect(Tokens.parse(await exchanged.json()).access_token).toMatch(/^ask_oauth/)
    },
  )
})
