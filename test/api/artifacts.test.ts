import { describe, expect, it } from 'vitest'
import { openDirectory } from '../../packages/stores/test/sqlite/store-data.ts'
import { createArtifactLinks } from '../../src/agent/tools/artifacts.ts'
import { verifies } from '../requirements.ts'
import { failureOf } from '../support/failure.ts'
import { startServer, TEST_KEY } from '../support/server.ts'
import { temporaryDirectory } from '../support/temporary-files.ts'

const PAGE = '<script>alert(1)</script>'

/** A server that was started on artifacts which a former process left. */
async function startWith(name: string, mediaType: string, bytes: Uint8Array) {
  const directory = await temporaryDirectory()
  const { artifacts, close } = await openDirectory(directory)
  const { id } = await artifacts.add({ name, mediaType, bytes })
  await close()
  return { server: await startServer({ DATA_DIR: directory }), path: `/artifacts/${id}` }
}

describe('GET /artifacts/{id}', () => {
  it(
    'gives the file, byte for byte, in its own media type',
    verifies('artifacts.read'),
    async () => {
      const bytes = Uint8Array.from({ length: 300 }, (_, byte) => byte % 256)
      const { server, path } = await startWith('a.png', 'image/png', bytes)
      const response = await server.request(path)
      expect(response.status).toBe(200)
      expect(response.headers.get('content-type')).toBe('image/png')
      expect(response.headers.get('content-length')).toBe('300')
      expect(new Uint8Array(await response.arrayBuffer())).toEqual(bytes)
    },
  )

  it(
    'is given without a key by its link, and by no other',
    verifies('artifacts.linked'),
    async () => {
      const directory = await temporaryDirectory()
      const { artifacts: store, close } = await openDirectory(directory)
      const file = { name: 'a.png', mediaType: 'image/png', bytes: Buffer.from('a picture') }
      const { link = '' } = await createArtifactLinks(TEST_KEY).withLinks(store).add(file)
      const hourAgo = () => Date.now() - 601_000
      const { link: old = '' } = await createArtifactLinks(TEST_KEY, hourAgo)
        .withLinks(store)
        .add(file)
      await close()
      const server = await startServer({ DATA_DIR: directory })
      const response = await fetch(server.url + link)
      expect(await response.text()).toBe('a picture')
      expect(response.headers.get('cross-origin-resource-policy')).toBe('cross-origin')
      const [, id = '', until = '', signature = ''] =
        /s\/(.+)\?until=(\d+)&signature=(.+)/.exec(link) ?? []
      const wrong = [
        old,
        link.replace(id, /s\/(.+)\?/.exec(old)?.[1] ?? ''),
        link.replace(until, String(Number(until) + 1)),
        link.slice(0, -1),
        `/artifacts/${id}?signature=${signature}`,
        `/artifacts/${id}?signature=`,
        `/artifacts/${id}?until=${until}`,
      ]
      const statuses = await Promise.all(
        wrong.map(async (path) => (await fetch(server.url + path)).status),
      )
      expect(statuses).toEqual(wrong.map(() => 401))
      expect((await server.request(link.replace(signature, ''))).status).toBe(401)
    },
  )

  it(
    'has a browser keep it as a file, without rights, under its name in any script',
    verifies('artifacts.harmless'),
    async () => {
      const name = 'Über "uns" \'日本\'.html'
      const { server, path } = await startWith(name, 'text/html', Buffer.from(PAGE))
      const { headers } = await server.request(path)
      expect(headers.get('content-disposition')).toBe(
        `attachment; filename="?ber _uns_ '??'.html"; filename*=UTF-8''%C3%9Cber%20_uns_%20%27%E6%97%A5%E6%9C%AC%27.html`,
      )
      expect(headers.get('content-security-policy')).toBe("sandbox; default-src 'none'")
      expect(headers.get('x-content-type-options')).toBe('nosniff')
      expect(headers.get('cache-control')).toBe('private, no-store')
    },
  )

  it(
    'gives no rights to a drawing that brings scripts, pages or addresses',
    verifies('artifacts.harmless'),
    async () => {
      const drawing = `<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"><script>alert(1)</script>
        <foreignObject><iframe src="http://127.0.0.1/"/></foreignObject><image href="http://127.0.0.1/x.png"/></svg>`
      const { server, path } = await startWith('a.svg', 'image/svg+xml', Buffer.from(drawing))
      const response = await server.request(path)
      expect(await response.text()).toBe(drawing)
      const { headers } = response
      expect(headers.get('content-type')).toBe('image/svg+xml')
      expect(headers.get('content-disposition')).toMatch(/^attachment; /)
      expect(headers.get('content-security-policy')).toBe("sandbox; default-src 'none'")
      expect(headers.get('x-content-type-options')).toBe('nosniff')
    },
  )

  it('asks for the key', verifies('authentication.bearer'), async () => {
    const { server, path } = await startWith('a.html', 'text/html', Buffer.from(PAGE))
    const response = await fetch(server.url + path)
    expect(await failureOf(response)).toMatchObject({ status: 401, code: 'unauthorized' })
  })

  it('answers 404 where there is none', verifies('artifacts.unknown'), async () => {
    const server = await startServer()
    const none = 'art_00000000000000000000000000000000'
    for (const id of ['unknown', none, '..%2F..%2Fagent-server.lock']) {
      const failure = await failureOf(await server.request(`/artifacts/${id}`))
      expect(failure).toMatchObject({ status: 404, code: 'artifact_not_found' })
    }
  })
})
