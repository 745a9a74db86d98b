import { z } from 'zod'
import { requester, type TestServer } from './server.ts'

/** Sent at once, to each server in turn. */
const AT_ONCE = 60
/** What is there before, so many at a time. */
const BEFORE_AT_ONCE = 20

const Secret = z.looseObject({ secret: z.string() })
const Id = z.looseObject({ id: z.string() })
const Keys = z.looseObject({ keys: z.array(z.unknown()) })
const Failed = z.looseObject({ error: z.looseObject({ code: z.string() }) })

type Servers = readonly [TestServer, ...TestServer[]]
/** A request of one key, to the server at this place. */
type Send = (place: number, path: string, body?: unknown, form?: FormData) => Promise<Response>

/** What is counted, how much of it there is room for, and a request that takes one of it. */
export interface Counted {
  what: string
  most: number
  refusal: string
  prepare(send: Send): Promise<(place: number) => Promise<Response>>
}

const conversationOf = async (send: Send) =>
  Id.parse(await (await send(0, '/v1/conversations', {})).json()).id

/** Takes so many of what is counted before. */
async function fill(count: number, take: (place: number) => Promise<Response>): Promise<void> {
  for (let from = 0; from < count; from += BEFORE_AT_ONCE) {
    const some = Array.from(
      { length: Math.min(BEFORE_AT_ONCE, count - from) },
      (_, at) => from + at,
    )
    for (const answer of await Promise.all(some.map(take))) {
      if (!answer.ok) throw new Error(await answer.text())
    }
  }
}

const relevant = [{ documentId: 'owls' }]

/** The last one leaves no room for further keys. */
export const COUNTED: readonly Counted[] = [
  {
    what: 'documents of a conversation',
    most: 20,
    refusal: 'conversation_full',
    async prepare(send) {
      const conversation = await conversationOf(send)
      return (place) => send(place, '/documents', { text: `Owl ${place}.`, conversation })
    },
  },
  {
    what: 'bytes of documents of a conversation',
    most: 3,
    refusal: 'conversation_full',
    async prepare(send) {
      const conversation = await conversationOf(send)
      const upload = (place: number, bytes: number) => {
        const form = new FormData()
        form.append('conversation', conversation)
        form.append('file', new Blob([Buffer.alloc(bytes, 'Owls hoot. ')]), `${place}.txt`)
        return send(place, '/documents', undefined, form)
      }
      await fill(3, (place) => upload(place, 30_000_000))
      return (place) =>
        send(place, '/documents', { text: `Owl ${place}. `.padEnd(3_000_000, 'a '), conversation })
    },
  },
  {
    what: 'items of a conversation',
    most: 10,
    refusal: 'conversation_full',
    async prepare(send) {
      const path = `/v1/conversations/${await conversationOf(send)}/items`
      const item = { type: 'message', role: 'user', content: 'Owls.' }
      const add = (place: number, count: number) =>
        send(place, path, { items: Array.from({ length: count }, () => item) })
      await fill(199, (place) => add(place, 20))
      await fill(1, (place) => add(place, 10))
      return (place) => add(place, 1)
    },
  },
  {
    what: 'judged questions',
    most: 10,
    refusal: 'too_many_questions',
    async prepare(send) {
      await fill(9, (place) => {
        const questions = Array.from({ length: 110 }, (_, at) => `Owl ${place} and ${at}?`)
        const body = questions.map((question) => ({ question, relevant }))
        return send(place, '/evaluation/questions/import', body)
      })
      return (place) =>
        send(place, '/evaluation/questions', { question: `Who is ${place}?`, relevant })
    },
  },
  {
    what: 'evaluations that run',
    most: 1,
    refusal: 'evaluation_running',
    prepare: async (send) => (place) => send(place, '/evaluation/runs', {}),
  },
  {
    what: 'names of vector stores of a key',
    most: 9,
    refusal: 'invalid_request',
    async prepare(send) {
      const name = (place: number) => send(place, '/v1/vector_stores', { name: `Store ${place}` })
      await fill(460, name)
      return (place) => name(1_000 + place)
    },
  },
  {
    what: 'keys',
    most: 10,
    refusal: 'too_many_keys',
    async prepare(send) {
      const create = (place: number) =>
        send(place, '/admin/keys', { name: 'One of many', scopes: ['query'] })
      const { keys } = Keys.parse(await (await send(0, '/admin/keys')).json())
      await fill(190 - keys.length, create)
      return create
    },
  },
]

/** How many of the requests of a new key that were sent at once were accepted, and the codes of the others. */
export async function acceptedOf(servers: Servers, { prepare }: Counted) {
  const scopes = ['query', 'chat', 'ingest', 'admin']
  const key = await servers[0].request('/admin/keys', { body: { name: 'A key', scopes } })
  const { secret } = Secret.parse(await key.json())
  const send: Send = (place, path, body, form) => {
    const { url } = servers[place % servers.length] ?? servers[0]
    if (!form) return requester(url, secret)(path, { body })
    const headers = { authorization: `Bearer ${secret}` }
    return fetch(`${url}${path}`, { method: 'POST', body: form, headers })
  }
  const take = await prepare(send)
  const answers = await Promise.all(Array.from({ length: AT_ONCE }, (_, place) => take(place)))
  const refused = await Promise.all(
    answers
      .filter(({ ok }) => !ok)
      .map(async (answer) => Failed.parse(await answer.json()).error.code),
  )
  return { accepted: answers.length - refused.length, refused: [...new Set(refused)] }
}
