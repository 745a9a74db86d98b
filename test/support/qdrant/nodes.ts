import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { vi } from 'vitest'
import { z } from 'zod'
import { freePort, type Launched, launch } from '../server-process.ts'
import { temporaryDirectory } from '../temporary-files.ts'
import { startFakeQdrant } from './fake-qdrant.ts'

/** Qdrant's own program, of which nodes can be started. */
export const PROGRAM = process.env.TEST_QDRANT_PROGRAM ?? ''

/** How many times longer than with the fake a test may take: real nodes write to disk, and may be a debug build. */
export const PATIENCE = PROGRAM === '' ? 1 : 6
const START_MS = 120_000
const POLL_MS = 100

export interface QdrantNode {
  url: string
  /** Where the others reach it. */
  uri: string
  /** Takes connections and answers none, as on a machine that swaps. */
  hang(): void
  resume(): void
  kill(): Promise<void>
  /** Starts it again on the storage that it has left, or on none. */
  start(): Promise<void>
  /** Removes the storage of a killed node. */
  wipe(): Promise<void>
}

/** Nodes of one cluster on the loopback, or one that stands alone; they end with the test or the file. */
export async function startNodes(count: number): Promise<QdrantNode[]> {
  const peers = await Promise.all(
    Array.from({ length: count }, async () => ({
      directory: await temporaryDirectory(),
      http: await freePort(),
      grpc: await freePort(),
      p2p: await freePort(),
    })),
  )
  const nodes = peers.map((peer, place) => {
    const other = peers[place === 0 ? 1 : 0]
    const own = count > 1 ? ['--uri', uriOf(peer)] : []
    return nodeOf(peer, count > 1, (isFirst) =>
      isFirst || !other ? own : [...own, '--bootstrap', uriOf(other)],
    )
  })
  for (const [place, node] of nodes.entries()) await node.start(place === 0)
  return nodes
}

/** What servers share: a cluster where Qdrant's program is given, and the fake elsewhere, which notes misuse. */
export async function startQdrant(
  nodes = 1,
): Promise<{ url: string; mistakes: readonly string[] }> {
  if (PROGRAM === '') return startFakeQdrant()
  const started = await startNodes(nodes)
  return { url: started.map(({ url }) => url).join(','), mistakes: [] }
}

const Points = z.object({
  result: z.object({
    points: z.array(z.object({ id: z.int(), payload: z.unknown(), vector: z.unknown() })),
    next_page_offset: z.int().nullish(),
  }),
})
const PAGE = 1_000

/** Every point of a collection, with the vectors of these names; none where there is no collection. */
export async function readPoints(url: string, collection: string, ...with_vector: string[]) {
  const points: z.output<typeof Points>['result']['points'] = []
  let offset: number | null | undefined
  do {
    const body = { limit: PAGE, with_payload: true, with_vector, ...(offset && { offset }) }
    const response = await fetch(`${url.split(',')[0]}/collections/${collection}/points/scroll`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    if (response.status === 404) return []
    const { result } = Points.parse(await response.json())
    points.push(...result.points)
    offset = result.next_page_offset
  } while (offset != null)
  return points
}

const uriOf = ({ p2p }: Peer) => `http://127.0.0.1:${p2p}`

interface Peer {
  directory: string
  http: string
  grpc: string
  p2p: string
}

function nodeOf(peer: Peer, inCluster: boolean, parameters: (isFirst: boolean) => string[]) {
  const { directory, http, grpc, p2p } = peer
  const storage = join(directory, 'storage')
  const url = `http://127.0.0.1:${http}`
  let running: Launched | undefined

  return {
    url,
    uri: uriOf(peer),
    hang: () => running?.send('SIGSTOP'),
    resume: () => running?.send('SIGCONT'),
    async kill() {
      running?.send('SIGKILL')
      await running?.exited
    },
    async start(isFirst = false) {
      await mkdir(storage, { recursive: true })
      const environment = {
        QDRANT__SERVICE__HOST: '127.0.0.1',
        QDRANT__SERVICE__HTTP_PORT: http,
        QDRANT__SERVICE__GRPC_PORT: grpc,
        QDRANT__STORAGE__STORAGE_PATH: storage,
        QDRANT__STORAGE__SNAPSHOTS_PATH: join(storage, 'snapshots'),
        QDRANT__TELEMETRY_DISABLED: 'true',
        QDRANT__LOG_LEVEL: 'WARN',
        ...(inCluster && { QDRANT__CLUSTER__ENABLED: 'true', QDRANT__CLUSTER__P2P__PORT: p2p }),
      }
      running = launch({ directory, environment, command: [PROGRAM, ...parameters(isFirst)] })
      const look = async () => {
        const response = await fetch(`${url}/readyz`)
        if (!response.ok) throw new Error(`Qdrant is not ready: ${response.status}`)
      }
      await vi.waitFor(look, { timeout: START_MS, interval: POLL_MS })
    },
    wipe: () => rm(storage, { recursive: true, force: true }),
  }
}
