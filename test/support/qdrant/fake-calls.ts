import { z } from 'zod'
import { createFakeCollection, type FakeCollection, Point, Query } from './fake-collection.ts'
import { readFilter } from './fake-filter.ts'

export type Answer = { body: unknown } | { status: number; error: string }

const Aliases = z.object({
  actions: z.array(
    z.union([
      z.strictObject({ delete_alias: z.object({ alias_name: z.string() }) }),
      z.strictObject({
        create_alias: z.object({ alias_name: z.string(), collection_name: z.string() }),
      }),
    ]),
  ),
})
const Puts = z.object({ points: z.array(Point) })
const Payloads = z.strictObject({ payload: z.record(z.string(), z.unknown()), filter: z.unknown() })
const Removals = z.object({ points: z.array(z.number()) })
const Scroll = z.object({
  limit: z.int(),
  offset: z.number().optional(),
  with_payload: z.boolean().default(true),
  with_vector: z.array(z.string()).default([]),
})
const Retrieval = z.strictObject({
  ids: z.array(z.number()),
  with_vector: z.array(z.string()),
  with_payload: z.literal(false),
})
const Index = z.object({ field_name: z.string(), field_schema: z.object({ type: z.string() }) })
const Changed = z.object({ params: z.object({ write_consistency_factor: z.int() }) })
const Created = z.looseObject({ metadata: z.unknown().optional() })

/** What strict mode allows at most. */
export interface Strict {
  limit?: number
  /** Payload indexes of a collection. */
  indexes?: number
}

interface Conditions {
  version: string
  /** The status that changes are answered with. */
  change: string
  deadCopies?: number
  strict?: Strict | undefined
}

type Call = (collection: FakeCollection, body: unknown, conditions: Conditions) => Answer

export interface FakeCalls {
  readonly collections: Map<string, FakeCollection>
  readonly aliases: Map<string, string>
  /** `name` is the collection's, where the call has one. */
  perform(call: string, name: string, body: unknown, conditions: Conditions): Answer
}

/** What each call does to collections in memory. */
export function createFakeCalls(): FakeCalls {
  const collections = new Map<string, FakeCollection>()
  const aliases = new Map<string, string>()

  const perform: FakeCalls['perform'] = (call, name, body, conditions) => {
    if (call === 'GET /')
      return { body: { title: 'qdrant - vector search engine', version: conditions.version } }
    if (call === 'GET /aliases') return ok({ aliases: [...aliases].map(toAlias) })
    if (call === 'GET /collections') {
      return ok({ collections: [...collections.keys()].map((each) => ({ name: each })) })
    }
    if (call === 'POST /collections/aliases') return changeAliases(collections, aliases, body)
    return performOn(name, call.replace(COLLECTION, ''), body, conditions)
  }

  const performOn = (name: string, part: string, body: unknown, conditions: Conditions): Answer => {
    const collection = collections.get(aliases.get(name) ?? name)
    if (part === 'PUT ') return create(collections, name, body)
    if (part === 'DELETE ') return drop(collections, aliases, name)
    if (!collection) {
      return { status: 404, error: `Not found: Collection \`${name}\` doesn't exist!` }
    }
    return CALLS[part]?.(collection, body, conditions) ?? { status: 404, error: `no ${part}` }
  }

  return { collections, aliases, perform }
}

const COLLECTION = '/collections/{collection_name}'
const ALL = ['GET /', 'GET /collections', 'GET /aliases', 'POST /collections/aliases']
const OF_NAMES = ['PUT ', 'DELETE ']

/** The call that a request makes, and the collection that it names; nothing where the fake knows no such call. */
export function findCall(method: string, path: string): { call: string; name: string } | undefined {
  const whole = `${method} ${path}`
  if (ALL.includes(whole)) return { call: whole, name: '' }
  const [, name, rest] = /^\/collections\/([^/]+)(.*)$/.exec(path) ?? []
  const part = `${method} ${rest}`
  if (name === undefined || !(OF_NAMES.includes(part) || CALLS[part])) return undefined
  return { call: `${method} ${COLLECTION}${rest}`, name: decodeURIComponent(name) }
}

const CALLS: Record<string, Call> = {
  'GET ': describe,
  'PATCH ': ({ description }, body) => {
    Object.assign(Object(description), Changed.parse(body).params)
    return ok(true)
  },
  'PUT /index': index,
  'PUT /points': put,
  'POST /points': ({ points }, body) => {
    const { ids, with_vector: names } = Retrieval.parse(body)
    const held = ids.flatMap((id) => points.get(id) ?? [])
    return ok(held.map(({ id, vector }) => ({ id, vector: pickFrom(vector, names) })))
  },
  'PUT /points/payload': setPayload,
  'POST /points/delete': remove,
  'POST /points/scroll': scroll,
  'POST /points/count': ({ points }) => ok({ count: points.size }),
  'POST /points/query': (collection, body, { strict }) => {
    const query = Query.parse(body)
    const beyond = beyondLimit('limit', query.limit, strict?.limit)
    if (beyond) return beyond
    const points = collection.query(query)
    if (typeof points === 'string') return refuse(points)
    return ok({ points: points.map(withVersion) })
  },
}

function create(collections: Map<string, FakeCollection>, name: string, body: unknown): Answer {
  if (collections.has(name)) {
    return { status: 409, error: `Wrong input: Collection \`${name}\` already exists!` }
  }
  collections.set(name, createFakeCollection(body))
  return ok(true)
}

/** With the aliases that name it. */
function drop(collections: FakeCalls['collections'], aliases: FakeCalls['aliases'], name: string) {
  for (const [alias, named] of aliases) if (named === name) aliases.delete(alias)
  return ok(collections.delete(name))
}

function describe(
  { description, points, indexes }: FakeCollection,
  _body: unknown,
  { strict }: Conditions,
): Answer {
  const { metadata, vectors, sparse_vectors, ...others } = Created.parse(description)
  const { shard_number, replication_factor, write_consistency_factor } = others
  const params = { vectors, sparse_vectors, shard_number, replication_factor }
  return ok({
    status: 'green',
    optimizer_status: 'ok',
    segments_count: 1,
    points_count: points.size,
    payload_schema: Object.fromEntries([...indexes].map(toSchema)),
    config: {
      params: { ...params, write_consistency_factor, on_disk_payload: true },
      hnsw_config: { m: 16, ef_construct: 100, full_scan_threshold: 10_000 },
      optimizer_config: OPTIMISER,
      ...(strict && {
        strict_mode_config: { enabled: true, max_payload_index_count: strict.indexes },
      }),
      metadata,
    },
  })
}

const OPTIMISER = {
  deleted_threshold: 0.2,
  vacuum_min_vector_number: 1_000,
  default_segment_number: 0,
  flush_interval_sec: 5,
}

function toSchema([key, data_type]: [string, string]) {
  return [key, { data_type, points: 0 }]
}

/** Where there may be no more, even one that exists is refused. */
function index({ indexes }: FakeCollection, body: unknown, { change, strict }: Conditions): Answer {
  const { field_name, field_schema } = Index.parse(body)
  const { indexes: most = Number.POSITIVE_INFINITY } = strict ?? {}
  if (indexes.size >= most) {
    return badRequest(
      `Collection already has the maximum number of payload indices (${most}). Help: Please delete an existing index before creating a new one.`,
    )
  }
  indexes.set(field_name, field_schema.type)
  return changed(change)
}

function changeAliases(
  collections: ReadonlyMap<string, FakeCollection>,
  aliases: Map<string, string>,
  body: unknown,
): Answer {
  for (const action of Aliases.parse(body).actions) {
    if ('delete_alias' in action) aliases.delete(action.delete_alias.alias_name)
    else {
      const { alias_name, collection_name } = action.create_alias
      if (!collections.has(collection_name)) {
        return { status: 404, error: `Collection \`${collection_name}\` doesn't exist!` }
      }
      aliases.set(alias_name, collection_name)
    }
  }
  return ok(true)
}

function put(collection: FakeCollection, body: unknown, conditions: Conditions): Answer {
  const mistake = collection.put(Puts.parse(body).points)
  return mistake === undefined ? onCopies(collection, conditions) : refuse(mistake)
}

function setPayload({ points }: FakeCollection, body: unknown, { change }: Conditions): Answer {
  const { payload, filter } = Payloads.parse(body)
  const takes = readFilter(filter)
  for (const point of points.values()) if (takes(point)) point.payload = payload
  return changed(change)
}

function remove(collection: FakeCollection, body: unknown, conditions: Conditions): Answer {
  collection.remove(Removals.parse(body).points)
  return onCopies(collection, conditions)
}

const Copies = z.object({
  replication_factor: z.int().default(1),
  write_consistency_factor: z.int().default(1),
})

/** Done on the copies that live, and yet refused where they are fewer than the collection asks for. */
function onCopies({ description }: FakeCollection, { change, deadCopies = 0 }: Conditions): Answer {
  const { replication_factor: copies, write_consistency_factor: asked } = Copies.parse(description)
  const living = copies - deadCopies
  if (living >= asked) return changed(change)
  const error = `Service internal error: ${living} out of ${copies} shards succeeded, ${asked} are required`
  return { status: 500, error }
}

/** As strict mode words it in 1.19 (`lib/collection/src/operations/verification/mod.rs`). */
function beyondLimit(name: string, value: number, most = Number.POSITIVE_INFINITY) {
  if (value <= most) return undefined
  return badRequest(
    `Limit exceeded ${value} > ${most} for "${name}". Help: Reduce the "${name}" parameter to or below ${most}.`,
  )
}

function scroll({ points }: FakeCollection, body: unknown, { strict }: Conditions): Answer {
  const { limit, offset = 0, ...parts } = Scroll.parse(body)
  const beyond = beyondLimit('limit', limit, strict?.limit)
  if (beyond) return beyond
  const after = [...points.values()].filter(({ id }) => id >= offset).sort((a, b) => a.id - b.id)
  const page = after.slice(0, limit).map(({ id, payload, vector }) => ({
    id,
    payload: parts.with_payload ? (payload ?? {}) : null,
    vector: pickFrom(vector, parts.with_vector),
  }))
  return ok({ points: page, next_page_offset: after[limit]?.id ?? null })
}

function pickFrom(vector: Point['vector'], names: readonly string[]) {
  return Object.fromEntries(names.map((name) => [name, vector[name]]))
}

function withVersion({ id, score }: { id: number; score: number }) {
  return { id, score, version: 1 }
}

function toAlias([alias_name, collection_name]: [string, string]) {
  return { alias_name, collection_name }
}

function changed(status: string): Answer {
  return ok({ operation_id: 1, status })
}

function badRequest(error: string): Answer {
  return { status: 400, error: `Bad request: ${error}` }
}

function refuse(error: string): Answer {
  return { status: 400, error: `Wrong input: ${error}` }
}

function ok(result: unknown): Answer {
  return { body: { usage: null, time: 0.001, status: 'ok', result } }
}
