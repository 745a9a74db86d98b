import { describe, expect, it } from 'vitest'
import { StreamInterruptedError } from '../../packages/client/src/agent-server.ts'
import { planDeployment } from '../../packages/deploy/src/plan.ts'
import { aws } from '../../packages/deploy/src/targets/aws.ts'
import { azure } from '../../packages/deploy/src/targets/azure.ts'
import { cloudRun } from '../../packages/deploy/src/targets/cloud-run.ts'
import { fly } from '../../packages/deploy/src/targets/fly.ts'
import { railway } from '../../packages/deploy/src/targets/railway.ts'
import { agentOf, settingsOf } from '../../packages/deploy/test/deployments.ts'
import { clientOf } from '../support/client.ts'
import { onlyLong } from '../support/long.ts'
import { allRunsEnded } from '../support/metrics.ts'
import { startPlatformProxy } from '../support/platform-proxy.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'
import { modelAt, settledDocument, startServer, TEST_KEY } from '../support/server.ts'
import { startServerProcess } from '../support/server-process.ts'
import { temporaryDirectory } from '../support/temporary-files.ts'
import { chunk, DONE, textReply } from '../support/upstream-replies.ts'

const QUESTION = { messages: [{ role: 'user' as const, content: 'When do owls hunt?' }] }
const ANSWER = [chunk({ content: ' at night.' }), chunk({}, 'stop'), DONE]
/** Less than any platform has whose deployment is not refused. */
const SILENCE_MS = 16_000
/** What Cloud Run lets through, by its documentation in binary megabytes. */
const CLOUD_RUN_BYTES = 32 * 2 ** 20

/** With the real server behind an imitation of the platform. */
describe('Behind the proxy of a platform', () => {
  it(
    'a stream may be silent for longer than a connection, and an answer that is not streamed is cut, as the warning says',
    onlyLong,
    async () => {
      for (const { facts } of [aws, azure, fly, railway]) {
        expect((facts.silenceSeconds ?? 0) * 1_000).toBeGreaterThan(SILENCE_MS)
      }
      const upstream = await startScriptedUpstream()
      upstream.always({
        steps: [chunk({ content: 'Owls hunt' }), { pauseMs: SILENCE_MS + 2_000 }, ...ANSWER],
      })
      const server = await startServer(modelAt(upstream))
      const proxy = await startPlatformProxy(server, { silenceMs: SILENCE_MS })
      const whole = fetch(`${proxy.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'application/json' },
        body: JSON.stringify({ ...QUESTION, stream: false }),
      })
      const [streamed, cut] = await Promise.all([
        clientOf(proxy).chat(QUESTION).text(),
        whole.catch((error: unknown) => error),
      ])
      expect(streamed).toBe('Owls hunt at night.')
      expect(cut).toBeInstanceOf(TypeError)
    },
  )

  it('a request that outlives its time is interrupted with what there is, and holds nothing up', async () => {
    const upstream = await startScriptedUpstream()
    upstream.script({ steps: [chunk({ content: 'Owls hunt' }), { hang: true }] })
    upstream.script(textReply('At night.'))
    const server = await startServer(modelAt(upstream))
    const time = Promise.withResolvers<void>()
    const proxy = await startPlatformProxy(server, { timeUp: time.promise })
    const stream = clientOf(proxy).chat(QUESTION)
    stream.on('text', () => time.resolve())
    const failure = await stream.result().catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(StreamInterruptedError)
    expect(failure).toMatchObject({ text: 'Owls hunt' })
    await allRunsEnded(server)
    expect(await clientOf(server).chat(QUESTION).text()).toBe('At night.')
  })

  it(
    'files as large as FILE_LIMIT is made come through, and the server itself refuses larger ones',
    onlyLong,
    async () => {
      const settings = settingsOf({ DATABASE_URL: 'postgres://a:b@c.example.org/d' })
      const { plain, fileLimit } = planDeployment(agentOf(), settings, cloudRun)
      const server = await startServer({ FILE_LIMIT: plain.FILE_LIMIT ?? '' })
      const { documents } = clientOf(
        await startPlatformProxy(server, { bodyBytes: CLOUD_RUN_BYTES }),
        { maxRetries: 0 },
      )
      const fileOf = (bytes: number) => new File([new Uint8Array(bytes)], 'noise.dat')
      const { id } = await documents.upload(fileOf(fileLimit))
      expect((await documents.get(id)).file).toMatchObject({ size: fileLimit })
      await expect(documents.upload(fileOf(fileLimit + 1))).rejects.toMatchObject({
        status: 413,
        code: expect.stringMatching(/^\w+$/),
      })
    },
  )

  it(
    'a server that is told to stop has stopped before it is killed, with a stream open, and has lost nothing',
    onlyLong,
    async () => {
      const { killSeconds } = cloudRun.facts
      const { grace } = planDeployment(agentOf(), settingsOf(), cloudRun)
      const upstream = await startScriptedUpstream()
      upstream.script({ steps: [chunk({ content: 'Owls hunt' }), { hang: true }] })
      const directory = await temporaryDirectory()
      const environment = modelAt(upstream, { SHUTDOWN_GRACE: String(grace) })
      const server = await startServerProcess(environment, { directory })
      const stream = clientOf(server).chat(QUESTION)
      const outcome = stream.result().catch((error: unknown) => error)
      await upstream.nextRequest()
      const lines = Array.from({ length: 50 }, (_, index) => ({ id: `d${index}`, text: 'An owl.' }))
      await clientOf(server).documents.batch(lines)
      const began = performance.now()
      expect(await server.stop()).toEqual({ code: 0, signal: null })
      const seconds = (performance.now() - began) / 1_000
      expect(seconds).toBeGreaterThan(grace - 1)
      expect(seconds).toBeLessThan(killSeconds)
      expect(await outcome).toBeInstanceOf(Error)
      const { request } = await startServerProcess(environment, { directory })
      for (const { id } of lines) {
        expect(await settledDocument(request, id)).toMatchObject({ status: 'ready' })
      }
    },
  )
})
