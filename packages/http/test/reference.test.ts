import { installReference } from '@agent-server/http/reference.ts'
import { expect, it } from 'vitest'
import { open, openApp } from './open-app.ts'

it('/openapi.json is made anew where making it failed', async () => {
  let isBroken = false
  const { url } = await openApp((app) => {
    installReference(app, { version: '1.0.0', description: 'For a test' })
    app.addHook('onRoute', (route) => {
      const { schema } = route
      if (route.url !== '/echo' || !schema) return
      Object.defineProperty(route, 'schema', {
        get() {
          if (isBroken) throw new Error('the disk is away')
          return schema
        },
      })
    })
    app.get('/echo', { ...open, schema: { summary: 'Echo' } }, async () => 'echo')
  })
  const ask = async () => {
    const response = await fetch(`${url}/openapi.json`)
    return { status: response.status, body: await response.text() }
  }
  isBroken = true
  expect((await ask()).status).toBe(500)
  isBroken = false
  const { status, body } = await ask()
  expect([status, Object.keys(JSON.parse(body).paths)]).toEqual([200, ['/echo']])
})
