import type { CollectionSettings } from '../qdrant-settings.ts'
import {
  type Collections,
  DENSE,
  identityOf,
  isWeighedHere,
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
  averageLength: (signal?: AbortSignal) => Promise<number>
}

/** The collections of words and of vectors, under whatever names. */
function collectionsOf({ collections, prefix, settings, ...options }: Options) {
  const { fingerprint, vectorFingerprint: vectors } = options
  const memory = settings.filtersMemory
  return {
    termsAlias: `${prefix}-${TERMS}`,
    vectorsAlias: `${prefix}-${DENSE}`,

    /** What a collection says about itself; nothing where it is none of words. */
    termsIn: async (name: string, signal?: AbortSignal) =>
      TermsMetadata.safeParse(await collections.metadata(name, signal)).data,
    vectorsIn: async (name: string, signal?: AbortSignal) =>
      VectorsMetadata.safeParse(await collections.metadata(name, signal)).data,

    async createTerms(name: string, signal?: AbortSignal) {
      const about = { analyser: fingerprint, averageLength: await options.averageLength(signal) }
      await collections.create(name, termsCollection(about, settings), memory, signal)
    },
    async createVectors(name: string, dimension: number, signal?: AbortSignal) {
      const body = vectorsCollection({ fingerprint: vectors, dimension }, settings)
      await collections.create(name, body, memory, signal)
    },
  }
}

export type ServedCollections = ReturnType<typeof createServedCollections>

/** The collections that queries are sent to, made where there are none. */
export function createServedCollections(options: Options) {
  const { collections, fingerprint, vectorFingerprint } = options
  const { termsAlias, vectorsAlias, ...kinds } = collectionsOf(options)

  const makeTerms = async (signal?: AbortSignal) => {
    const name = nameAfter(termsAlias, undefined)
    await kinds.createTerms(name, signal)
    await collections.serve({ [termsAlias]: name }, signal)
    return name
  }

  return {
    /** What points are addressed by. */
    termsName: termsAlias,
    vectorsName: vectorsAlias,

    /** `isNew`: there was none. Throws where what is kept is of no use for this server. */
    async terms(signal?: AbortSignal): Promise<TermsMetadata & { isNew: boolean }> {
      const former = await collections.behind(termsAlias, signal)
      const name = former ?? (await makeTerms(signal))
      const about = await kinds.termsIn(name, signal)
      if (!about) throw foreign(name)
      if (about.analyser === fingerprint) return { ...about, isNew: former === undefined }
      throw new Error(
        `The collection ${name} holds words as ${about.analyser}, not ${fingerprint}: set SEARCH_LANGUAGE back, or ${REMEDY}`,
      )
    },

    /** Nothing before the first vectors. Throws as `terms`. */
    async vectors(signal?: AbortSignal): Promise<VectorsMetadata | undefined> {
      const name = await collections.behind(vectorsAlias, signal)
      if (name === undefined) return undefined
      const about = await kinds.vectorsIn(name, signal)
      if (!about) throw foreign(name)
      if (about.fingerprint === vectorFingerprint) return about
      throw new Error(
        `The collection ${name} holds vectors that have been made anew since: ${REMEDY}`,
      )
    },

    /** A collection for vectors of this dimension, in the place of the one last seen; where another server was faster, its own stays. */
    async makeVectors(dimension: number, seen: Pick<VectorsMetadata, 'made'> | undefined) {
      const former = await collections.behind(vectorsAlias)
      const made = former === undefined ? undefined : await identityOf(collections, former)
      if (made !== seen?.made) return
      const name = nameAfter(vectorsAlias, former)
      await kinds.createVectors(name, dimension)
      await collections.serve({ [vectorsAlias]: name })
      if (former !== undefined) await collections.drop(former)
    },
  }
}

/** Names count up, so that the next one is free while the former serves. */
function nameAfter(alias: string, former: string | undefined): string {
  const number = Number(/-(\d+)$/.exec(former ?? '')?.[1] ?? 0)
  return `${alias}-${number + 1}`
}

function isBefore(name: string, other: string): boolean {
  const [, alias, number] = /^(.*)-(\d+)$/.exec(name) ?? []
  const [, otherAlias, otherNumber] = /^(.*)-(\d+)$/.exec(other) ?? []
  return alias === otherAlias && Number(number) < Number(otherNumber)
}

function foreign(name: string): Error {
  return new Error(
    `The collection ${name} was not made by this server, or by another version of it: set QDRANT_COLLECTION to another name, or ${REMEDY}`,
  )
}

interface NextCollections extends ServedCollections {
  /** Moves the aliases to these collections, all in one step. */
  serve(): Promise<void>
  /** Removes those that served before, and what interrupted runs have left of such. */
  drop(): Promise<void>
}

/** Collections beside those that serve: what an interrupted run has left of the same kind is gone on with. */
export async function createNextCollections(
  options: Options,
  signal?: AbortSignal,
): Promise<NextCollections> {
  const { collections, fingerprint, vectorFingerprint } = options
  const { termsAlias, vectorsAlias, ...kinds } = collectionsOf(options)
  const formerTerms = await collections.behind(termsAlias, signal)
  const formerVectors = await collections.behind(vectorsAlias, signal)
  const termsName = nameAfter(termsAlias, formerTerms)
  const vectorsName = nameAfter(vectorsAlias, formerVectors)
  let hasVectors = false

  return {
    termsName,
    vectorsName,

    async terms() {
      await kinds.createTerms(termsName, signal)
      const begun = await kinds.termsIn(termsName, signal)
      if (begun?.analyser !== fingerprint || !isWeighedHere(begun)) {
        await collections.drop(termsName, signal)
        await kinds.createTerms(termsName, signal)
      }
      const about = TermsMetadata.parse(await collections.metadata(termsName, signal))
      return { ...about, isNew: false }
    },

    async vectors(inTime) {
      if (!(await collections.names(inTime)).includes(vectorsName)) return undefined
      const held = await kinds.vectorsIn(vectorsName, inTime)
      hasVectors = held?.fingerprint === vectorFingerprint
      return hasVectors ? held : undefined
    },

    async makeVectors(dimension) {
      await kinds.createVectors(vectorsName, dimension, signal)
      const held = await kinds.vectorsIn(vectorsName, signal)
      if (held?.fingerprint !== vectorFingerprint || held.dimension !== dimension) {
        await collections.drop(vectorsName, signal)
        await kinds.createVectors(vectorsName, dimension, signal)
      }
      hasVectors = true
    },

    async serve() {
      // Without vectors there is no collection of them, rather than a former one that no server could use.
      await collections.serve({
        [termsAlias]: termsName,
        [vectorsAlias]: hasVectors ? vectorsName : undefined,
      })
      // The first vectors to come make one of this name.
      if (!hasVectors && formerVectors !== undefined) await collections.drop(formerVectors, signal)
    },

    async drop() {
      for (const name of await collections.names(signal)) {
        const isFormer = isBefore(name, termsName) || (hasVectors && isBefore(name, vectorsName))
        if (isFormer) await collections.drop(name, signal)
      }
    },
  }
}
