import { describe, expect, it } from 'vitest'
import { verifies } from '../requirements.ts'
import { sendFile } from '../support/forms.ts'
import { startServer } from '../support/server.ts'

const server = await startServer()

describe('GET /reference', () => {
  it(
    'is a page whose every part comes from this server, without a key',
    verifies('reference.served', 'reference.offline', 'endpoint.reference'),
    async () => {
      const page = await fetch(`${server.url}/reference`)
      expect(page.headers.get('content-type')).toMatch(/^text\/html/)
      const parts = [...(await page.text()).matchAll(/(?:src|href)="([^"]+)"/g)].map(([, to]) => to)
      expect(parts.length).toBeGreaterThan(4)
      for (const part of parts) {
        expect(part).toMatch(/^\/reference\/static\//)
        const response = await fetch(server.url + part)
        expect([part, response.status]).toEqual([part, 200])
        expect((await response.text()).length).toBeGreaterThan(0)
      }
    },
  )

  it('fills its form for files in with what the server takes', async () => {
    const { components } = Object(await (await fetch(`${server.url}/openapi.json`)).json())
    const { file, ...fields } = components.schemas.CreateDocumentFile.properties
    expect(file.format).toBe('binary')
    const before = Object.fromEntries(
      Object.entries<{ examples?: string[] }>(fields).map(([name, { examples }]) => {
        // What has no example is filled in with the word itself.
        return [name, examples?.[0] ?? 'string']
      }),
    )
    const response = await sendFile(server, { name: 'a.txt', bytes: 'Owls.', before })
    expect([response.status, await response.json()]).toMatchObject([200, { status: 'ready' }])
  })

  it(
    'allows the browser nothing from elsewhere, and works without TLS',
    verifies('reference.offline'),
    async () => {
      const policy = (await fetch(`${server.url}/reference`)).headers.get('content-security-policy')
      expect(policy).toMatch(/default-src 'self'/)
      expect(policy).not.toMatch(/https:|upgrade-insecure-requests|swagger\.io/)
    },
  )

  it(
    'reads the contract that the server serves, and keeps the key that is tried',
    verifies('reference.offline', 'contract.served'),
    async () => {
      const start = await fetch(`${server.url}/reference/static/swagger-initializer.js`)
      const script = await start.text()
      expect(script).toContain("resolveUrl('./json')")
      expect(script).toContain('"persistAuthorization":true')
      const shown = await fetch(`${server.url}/reference/json`)
      const served = await fetch(`${server.url}/openapi.json`)
      expect(await shown.json()).toEqual(await served.json())
    },
  )
})
