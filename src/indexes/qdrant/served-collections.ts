import type { CollectionSettings } from '../qdrant-settings.ts'
import {
  type Collections,
  DENSE,
  TERMS,
  TermsMetadata,
  termsCollection,
  VectorsMetadata,
  vectorsCollection,
} from './collections.ts'

const REMEDY = 'npm run rebuild-index makes it anew beside the one that serves'

interface Options {
  collections: Collections
  /** What the names of all of them begin with. */
  prefix: string
  settings: CollectionSettings
  fingerprint: string
  vectorFingerprint: string
  averageLength: () => Promise<number>
}

export type ServedCollections = ReturnType<typeof createServedCollections>

/** The collections that queries are sent to, made where there are none. */
export function createServedCollections(options: Options) {
  const { collections, prefix, settings, fingerprint, vectorFingerprint } = options
  const [termsName, vectorsName] = [`${prefix}-${TERMS}`, `${prefix}-${DENSE}`]

  const makeTerms = async (signal?: AbortSignal) => {
    const name = nameAfter(termsName, undefined)
    const about = { analyser: fingerprint, averageLength: await options.averageLength() }
    const body = termsCollection(about, settings)
    await collections.create(name, body, settings.filtersMemory, signal)
    await collections.serve({ [termsName]: name }, signal)
    return name
  }

  return {
    /** What points are addressed by. */
    termsName,
    vectorsName,

    /** Throws where what is kept is of no use for this server. */
    async terms(signal?: AbortSignal): Promise<TermsMetadata> {
      const name = (await collections.behind(termsName, signal)) ?? (await makeTerms(signal))
      const about = TermsMetadata.safeParse(await collections.metadata(name, signal)).data
      if (!about) throw foreign(name)
      if (about.analyser === fingerprint) return about
      throw new Error(
        `The collection ${name} holds words as ${about.analyser}, not ${fingerprint}: set SEARCH_LANGUAGE back, or ${REMEDY}`,
      )
    },

    /** Nothing before the first vectors. Throws as `terms`. */
    async vectors(signal?: AbortSignal): Promise<VectorsMetadata | undefined> {
      const name = await collections.behind(vectorsName, signal)
      if (name === undefined) return undefined
      const about = VectorsMetadata.safeParse(await collections.metadata(name, signal)).data
      if (!about) throw foreign(name)
      if (about.fingerprint === vectorFingerprint) return about
      throw new Error(
        `The collection ${name} holds vectors that have been made anew since: ${REMEDY}`,
      )
    },

    /** A collection for vectors of this dimension, in the place of the one there may be. */
    async makeVectors(dimension: number) {
      const former = await collections.behind(vectorsName)
      const name = nameAfter(vectorsName, former)
      const body = vectorsCollection({ fingerprint: vectorFingerprint, dimension }, settings)
      await collections.create(name, body, settings.filtersMemory)
      await collections.serve({ [vectorsName]: name })
      if (former !== undefined) await collections.drop(former)
    },
  }
}

/** Names count up, so that the next one is free while the former serves. */
function nameAfter(alias: string, former: string | undefined): string {
  const number = Number(/-(\d+)$/.exec(former ?? '')?.[1] ?? 0)
  return `${alias}-${number + 1}`
}

function foreign(name: string): Error {
  return new Error(
    `The collection ${name} was not made by this server, or by another version of it: set QDRANT_COLLECTION to another name, or ${REMEDY}`,
  )
}

interface NextCollections extends ServedCollections {
  /** Moves the aliases to these collections, all in one step, and removes those that served before. */
  serve(): Promise<void>
}

/** Collections beside those that serve: what an interrupted run has left of the same kind is gone on with. */
export async function createNextCollections(
  options: Options,
  signal?: AbortSignal,
): Promise<NextCollections> {
  const { collections, prefix, settings, fingerprint, vectorFingerprint } = options
  const [termsAlias, vectorsAlias] = [`${prefix}-${TERMS}`, `${prefix}-${DENSE}`]
  const formerTerms = await collections.behind(termsAlias, signal)
  const formerVectors = await collections.behind(vectorsAlias, signal)
  const termsName = nameAfter(termsAlias, formerTerms)
  const vectorsName = nameAfter(vectorsAlias, formerVectors)
  let hasVectors = false

  const heldTerms = async () =>
    TermsMetadata.safeParse(await collections.metadata(termsName, signal)).data
  const heldVectors = async (inTime = signal) =>
    VectorsMetadata.safeParse(await collections.metadata(vectorsName, inTime)).data

  return {
    termsName,
    vectorsName,

    async terms() {
      const about = { analyser: fingerprint, averageLength: await options.averageLength() }
      const body = termsCollection(about, settings)
      const create = () => collections.create(termsName, body, settings.filtersMemory, signal)
      await create()
      if ((await heldTerms())?.analyser !== fingerprint) {
        await collections.drop(termsName, signal)
        await create()
      }
      return TermsMetadata.parse(await collections.metadata(termsName, signal))
    },

    async vectors(inTime) {
      if (!(await collections.exists(vectorsName, inTime))) return undefined
      const held = await heldVectors(inTime)
      hasVectors = held?.fingerprint === vectorFingerprint
      return hasVectors ? held : undefined
    },

    async makeVectors(dimension) {
      const body = vectorsCollection({ fingerprint: vectorFingerprint, dimension }, settings)
      const create = () => collections.create(vectorsName, body, settings.filtersMemory, signal)
      await create()
      const held = await heldVectors()
      if (held?.fingerprint !== vectorFingerprint || held.dimension !== dimension) {
        await collections.drop(vectorsName, signal)
        await create()
      }
      hasVectors = true
    },

    async serve() {
      // Without vectors there is no collection of them, rather than a former one that no server could use.
      await collections.serve({
        [termsAlias]: termsName,
        [vectorsAlias]: hasVectors ? vectorsName : undefined,
      })
      if (formerTerms !== undefined) await collections.drop(formerTerms)
      if (formerVectors !== undefined) await collections.drop(formerVectors)
    },
  }
}
