import { describe, expect, it } from 'vitest'
import { Activity } from '../../../src/operator/ops/activity.ts'

const line = (message: string, more: object = {}) =>
  `${JSON.stringify({ level: 30, time: Date.now(), pid: 1, hostname: 'h', ...more, msg: message })}\n`

const kept = async (activity: Activity, after = 0) =>
  (
    await Array.fromAsync(
      activity.events({ after, follow: false }, undefined, AbortSignal.timeout(1_000)),
    )
  ).flat()

describe('The activity', () => {
  it('separates requests and runs from other lines, in order', async () => {
    const activity = new Activity()
    activity.write(
      line('query', {
        reqId: 'r',
        address: '::1',
        method: 'POST',
        path: '/query',
        status: 200,
        milliseconds: 3,
      }),
    )
    activity.write(line('run', { outcome: 'stop', milliseconds: 9, tools: { run_python: 2 } }))
    activity.write(line('careful', { level: 40, disk: 'full' }))
    const events = await kept(activity)
    expect(events).toMatchObject([
      { type: 'request', operation: 'query', status: 200, requestId: 'r', address: '::1' },
      { type: 'run', outcome: 'stop', tools: { run_python: 2 } },
      { type: 'log', level: 'warn', message: 'careful', details: { disk: 'full' } },
    ])
    expect(await kept(activity, events[1]?.id)).toMatchObject([{ message: 'careful' }])
    // Of another process, whose clock was ahead.
    expect(await kept(activity, Number.MAX_SAFE_INTEGER)).toHaveLength(3)
  })

  it('keeps the last thousand lines, and of a very long one what it says', async () => {
    const activity = new Activity()
    for (let n = 0; n < 1_500; n += 1) activity.write(line(`line ${n}`))
    activity.write(line('long', { text: 'x'.repeat(1e6) }))
    const events = await kept(activity)
    expect(events).toHaveLength(1_000)
    expect(events.at(0)).toMatchObject({ message: 'line 501' })
    expect(events.at(-1)).toMatchObject({ message: 'long', details: { cut: true } })
  })

  it('keeps failures, however many requests succeed later', async () => {
    const activity = new Activity()
    const request = { method: 'GET', path: '/documents', milliseconds: 1 }
    activity.write(line('run', { outcome: 'upstream_failed', milliseconds: 9, tools: {} }))
    const write = (status: number) => {
      const { milliseconds, ...first } = request
      activity.write(line('listDocuments', { ...first, status, milliseconds }))
    }
    write(502)
    for (let n = 0; n < 1_500; n += 1) write(200)
    const events = await kept(activity)
    expect(events).toHaveLength(1_002)
    expect(events.slice(0, 2)).toMatchObject([{ outcome: 'upstream_failed' }, { status: 502 }])
    expect(events.map(({ id }) => id)).toEqual(events.map(({ id }) => id).toSorted((a, b) => a - b))
  })

  it('streams events to at most sixteen followers', async () => {
    const activity = new Activity()
    const over = new AbortController()
    activity.write(line('before'))
    const follow = () => activity.events({ after: 0, follow: true }, undefined, over.signal)
    const followers = Array.from({ length: 16 }, follow)
    const first = await Promise.all(followers.map((events) => events.next()))
    expect(first[15]?.value).toMatchObject([{ message: 'before' }])
    await expect(follow().next()).rejects.toMatchObject({ code: 'too_many_requests' })

    const next = followers[0]?.next()
    activity.write(line('after'))
    expect(await next).toMatchObject({ value: [{ type: 'log', message: 'after' }] })
    over.abort(new Error('left'))
    await Promise.allSettled(followers.map((events) => events.next()))
    expect(await kept(activity)).toHaveLength(2)
  })
})
