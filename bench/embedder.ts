import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { createClusteredVectors } from './support/clustered-vectors.ts'

/**
 * An embeddings server in a separate process that returns seeded vectors instead of a model's: the vectors of one
 * document, identified by the title in the first line, are close to each other.
 */
const vectors = createClusteredVectors()
const DOCUMENTS = 100_000
const CHUNKS_OF_A_DOCUMENT = 8

process.on('disconnect', () => process.exit(0))

const server = createServer((request, response) => void answer(request, response))
server.listen(0, '127.0.0.1', () => process.send?.(server.address()))

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  // Such as the list of models.
  if (request.method === 'GET') {
    response.writeHead(404).end()
    return
  }
  const { input } = JSON.parse(await text(request))
  const data = input.map((each: string, index: number) => ({
    index,
    embedding: Array.from(vectors.chunk(chunkOf(each)), (value) => Math.round(value * 1e5) / 1e5),
  }))
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ data }))
}

function chunkOf(chunk: string): number {
  const [title = ''] = chunk.split('\n', 1)
  const document = hash(title) % DOCUMENTS
  return document * CHUNKS_OF_A_DOCUMENT + (hash(chunk) % CHUNKS_OF_A_DOCUMENT)
}

function hash(words: string): number {
  let value = 0x811c9dc5
  for (let i = 0; i < words.length; i++) {
    value = Math.imul(value ^ words.charCodeAt(i), 0x01000193)
  }
  return value >>> 0
}
