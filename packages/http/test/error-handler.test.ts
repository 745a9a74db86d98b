import { AppError, ERRORS, type ErrorCode } from '@agent-server/lib/errors.ts'
import type { FastifyInstance } from 'fastify'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { ERROR_LEVEL, envelope, type OpenApp, open, openApp, readError } from './open-app.ts'

const Message = z.object({
  content: z.string().min(1, 'must not be empty'),
  count: z.int().optional(),
})
const Body = z.object({ messages: z.array(Message), title: z.string().max(5).optional() })

function takesBody(app: FastifyInstance): void {
  const schema = { body: Body, querystring: z.object({ limit: z.coerce.number().optional() }) }
  app.post('/take', { ...open, schema }, () => ({ taken: true }))
}

function post({ url }: OpenApp, body: unknown, path = '/take') {
  return fetch(`${url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
}

describe('input that does not fit its schema', () => {
  it.each<[string, unknown, string | null, RegExp]>([
    [
      'a field deep in a list',
      { messages: [{ content: 'a' }, { content: '' }] },
      'messages.1.content',
      /^messages\.1\.content: must not be empty$/,
    ],
    ['a missing field', {}, 'messages', /^messages: is required$/],
    ['a list in the place of the body', [], null, /^must be an object$/],
    ['null in the place of the body', null, null, /^must be an object$/],
  ])('is refused with 400 and the dotted path of %s', async (_case, body, param, message) => {
    const response = await post(await openApp(takesBody), body)
    expect(response.status).toBe(400)
    expect(await response.json()).toEqual(
      envelope('invalid_request', expect.stringMatching(message), param),
    )
  })

  it('reports several mistakes, with the first as param', async () => {
    const response = await post(await openApp(takesBody), { messages: 'none', title: 'too long' })
    expect(await response.json()).toEqual(
      envelope('invalid_request', expect.stringMatching(/^messages: .*; title: /), 'messages'),
    )
  })

  it('reports at most five mistakes', async () => {
    const messages = Array.from({ length: 50 }, () => ({ content: '' }))
    const { message } = await readError(await post(await openApp(takesBody), { messages }))
    expect(message.split('; ')).toHaveLength(5)
  })

  it('never repeats what was sent', async () => {
    const body = { messages: [{ content: 'a', count: 'my-secret' }], title: 'my-secret' }
    expect(await (await post(await openApp(takesBody), body)).text()).not.toContain('my-secret')
  })

  it('is refused in the query string, too', async () => {
    const body = { messages: [] }
    const response = await post(await openApp(takesBody), body, '/take?limit=many')
    expect(response.status).toBe(400)
    expect((await readError(response)).param).toBe('limit')
  })
})

describe('what a route throws', () => {
  const codes = Object.keys(ERRORS).filter((code): code is ErrorCode => code in ERRORS)

  it.each(codes)('%s travels with the status and the type of the table', async (code) => {
    const { url } = await openApp((app) => {
      app.get('/fail', open, () => {
        throw new AppError(code, 'What happened', { param: 'a.0.b' })
      })
    })
    const response = await fetch(`${url}/fail`)
    const { status, type } = ERRORS[code]
    expect(response.status).toBe(status)
    const error = await readError(response)
    expect(error).toMatchObject({ code, type, message: 'What happened', param: 'a.0.b' })
    expect(error.request_id).toBe(response.headers.get('x-request-id'))
  })

  it.each([
    ['an error', new Error('password is hunter2')],
    [
      'an error with a status that is no HTTP status',
      Object.assign(new Error('hunter2'), { statusCode: 7 }),
    ],
    ['an error with a status in words', Object.assign(new Error('hunter2'), { statusCode: '404' })],
    [
      'an error of an upstream, with its status',
      Object.assign(new Error('hunter2'), { status: 404 }),
    ],
    ['an error with status 500', Object.assign(new Error('hunter2'), { statusCode: 500 })],
    ['an object', { message: 'hunter2', statusCode: 400 }],
    ['a string', 'hunter2'],
    ['nothing', undefined],
  ])(
    '%s that nobody foresaw is a 500 that tells nothing, and is logged whole',
    async (_case, thrown) => {
      const { url, log } = await openApp((app) => {
        app.get('/fail', open, async () => {
          throw thrown
        })
      })
      const response = await fetch(`${url}/fail`)
      expect(response.status).toBe(500)
      expect(await response.json()).toEqual(envelope('internal', 'Internal error'))
      const line = log.find(({ level }) => level === ERROR_LEVEL)
      expect(line?.reqId).toBe(response.headers.get('x-request-id'))
      if (thrown) expect(JSON.stringify(line)).toContain('hunter2')
    },
  )

  it('is logged with its cause when it is a fault of the server', async () => {
    const { url, log } = await openApp((app) => {
      app.get('/fail', open, () => {
        const cause = new Error('disk sda1 is on fire')
        throw new AppError('store_unavailable', 'The store does not answer', { cause })
      })
    })
    const response = await fetch(`${url}/fail`)
    expect(await response.text()).not.toContain('sda1')
    expect(JSON.stringify(log.find(({ level }) => level === ERROR_LEVEL))).toContain('sda1')
  })

  it('is not logged as an error when it is a fault of the caller', async () => {
    const { url, log } = await openApp((app) => {
      app.get('/fail', open, () => {
        throw new AppError('document_not_found', 'There is no such document')
      })
    })
    await fetch(`${url}/fail`)
    expect(log.filter(({ level }) => level >= ERROR_LEVEL)).toEqual([])
  })

  it.each([
    [7, '7'],
    [1.2, '2'],
    [0, '0'],
  ])('asks to wait %s seconds as Retry-After %s', async (retryAfter, header) => {
    const { url } = await openApp((app) => {
      app.get('/fail', open, () => {
        throw new AppError('queue_full', 'Too much', { retryAfter })
      })
    })
    expect((await fetch(`${url}/fail`)).headers.get('retry-after')).toBe(header)
  })

  it('has no Retry-After if nothing is known about a later attempt', async () => {
    const { url } = await openApp((app) => {
      app.get('/fail', open, () => {
        throw new AppError('upstream_failed', 'No')
      })
    })
    expect((await fetch(`${url}/fail`)).headers.has('retry-after')).toBe(false)
  })

  it('is a 400 if a plugin refuses with an unknown status', async () => {
    const { url, log } = await openApp((app) => {
      app.get('/fail', open, async () => {
        throw Object.assign(new Error('Range Not Satisfiable'), { statusCode: 416 })
      })
    })
    const response = await fetch(`${url}/fail`)
    expect(response.status).toBe(400)
    expect(await response.json()).toEqual(envelope('invalid_request', 'Range Not Satisfiable'))
    expect(log.filter(({ level }) => level >= ERROR_LEVEL)).toEqual([])
  })

  it('is a 500 in the envelope if an answer violates its own schema', async () => {
    const { url } = await openApp((app) => {
      const schema = { response: { 200: z.object({ count: z.int() }) } }
      app.get('/fail', { ...open, schema }, () => ({ count: 'hunter2' }))
    })
    const response = await fetch(`${url}/fail`)
    expect(response.status).toBe(500)
    expect(await response.json()).toEqual(envelope('internal', 'Internal error'))
  })
})
