import Fastify from 'fastify'
import { describe, expect, it } from 'vitest'
import { formRouting, MULTIPART } from '../../src/http/multipart.ts'

const FORM = 'multipart/form-data; boundary=b'

async function openApp() {
  const app = Fastify({ routerOptions: { constraints: formRouting } })
  app.post('/both', async () => 'json')
  app.register(async (forms) => {
    forms.addContentTypeParser('multipart/form-data', (_request, _payload, done) => done(null))
    forms.post('/both', { constraints: MULTIPART }, async () => 'form')
    forms.post('/forms', { constraints: MULTIPART }, async () => 'form')
  })
  app.post('/json', async () => 'json')
  await app.ready()
  return async (url: string, type: string | undefined, payload = '{}') => {
    const headers = type === undefined ? {} : { 'content-type': type }
    const { statusCode, body } = await app.inject({ method: 'POST', url, headers, payload })
    return statusCode === 200 ? body : statusCode
  }
}

describe('A path for JSON and forms', () => {
  it.each([
    ['a form', FORM, 'form'],
    ['a form in capitals', FORM.toUpperCase(), 'form'],
    ['JSON', 'application/json', 'json'],
    ['a type that only begins like one', 'multipart/form-database', 415],
    ['another kind of parts', 'multipart/mixed; boundary=b', 415],
  ])('takes %s to where it belongs', async (_what, type, answer) => {
    const post = await openApp()
    expect(await post('/both', type)).toBe(answer)
  })

  it('takes nothing to the route that asks for no more', async () => {
    const post = await openApp()
    expect(await post('/both', undefined, '')).toBe('json')
  })
})

describe('A path for one of them', () => {
  it.each([
    ['/json', 'application/json', 'json'],
    ['/json', FORM, 415],
    ['/forms', FORM, 'form'],
    ['/forms', 'application/json', 404],
  ])('%s answers %s with %s', async (path, type, answer) => {
    const post = await openApp()
    expect(await post(path, type)).toBe(answer)
  })
})
