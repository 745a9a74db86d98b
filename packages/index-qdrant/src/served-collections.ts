import { SetupError } from '@agent-server/lib/errors.ts'
import {
  type Collections,
  DENSE,
  identityOf,
  TERMS,
  TermsMetadata,
  termsCollection,
  VectorsMetadata,
  vectorsCollection,
} from './collections.ts'
import type { CollectionSettings } from './settings.ts'

const REMEDY = 'npm run rebuild-index builds a new one beside the one in use'

interface Options {
  collections: Collections
  /** Prefix of all their names. */
  prefix: string
  settings: CollectionSettings
  fingerprint: string
  vectorFingerprint: string
}

/** Reads and creates collections of terms and of vectors, under any names. */
function collectionsOf(options: Options) {
  const { collections, prefix, settings, fingerprint, vectorFingerprint: vectors } = options
  const memory = settings.filtersMemory
  return {
    termsAlias: `${prefix}-${TERMS}`,
    vectorsAlias: `${prefix}-${DENSE}`,

    /** The metadata of a collection; undefined if it is not a term collection. */
    termsIn: async (name: string, signal?: AbortSignal) =>
      TermsMetadata.safeParse(await collections.metadata(name, signal)).data,
    vectorsIn: async (name: string, signal?: AbortSignal) =>
      VectorsMetadata.safeParse(await collections.metadata(name, signal)).data,

    async createTerms(name: string, signal?: AbortSignal) {
      const body = termsCollection({ analyser: fingerprint }, settings)
      await collections.create(name, body, memory, signal)
    },
    async createVectors(name: string, dimension: number, signal?: AbortSignal) {
      const body = vectorsCollection({ fingerprint: vectors, dimension }, settings)
      await collections.create(name, body, memory, signal)
    },
  }
}

export type ServedCollections = ReturnType<typeof createServedCollections>

/** The collections in use, which are created if they do not exist. */
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
    /** The names by which points are addressed. */
    termsName: termsAlias,
    vectorsName: vectorsAlias,

    /** `isNew` means that it was just created. Throws a SetupError if this server cannot use the existing collection. */
    async terms(signal?: AbortSignal): Promise<TermsMetadata & { isNew: boolean }> {
      const former = await collections.behind(termsAlias, signal)
      const name = former ?? (await makeTerms(signal))
      const about = await kinds.termsIn(name, signal)
      if (!about) throw foreign(name)
      if (about.analyser === fingerprint) return { ...about, isNew: former === undefined }
      throw new SetupError(
        `The collection ${name} holds words as ${about.analyser}, not ${fingerprint}: set SEARCH_LANGUAGE back, or ${REMEDY}`,
      )
    },

    /** Undefined before the first vectors are added. Throws as `terms`. */
    async vectors(signal?: AbortSignal): Promise<VectorsMetadata | undefined> {
      const name = await collections.behind(vectorsAlias, signal)
      if (name === undefined) return undefined
      const about = await kinds.vectorsIn(name, signal)
      if (!about) throw foreign(name)
      if (about.fingerprint === vectorFingerprint) return about
      throw new SetupError(
        `The collection ${name} holds vectors that have been made anew since: ${REMEDY}`,
      )
    },

    /**
     * Replaces the vector collection last seen by a new one of this dimension. If another server was faster, its
     * collection stays.
     */
    async makeVectors(dimension: number, previous: Pick<VectorsMetadata, 'made'> | undefined) {
      const former = await collections.behind(vectorsAlias)
      const made = former === undefined ? undefined : await identityOf(collections, former)
      if (made !== previous?.made) return
      const name = nameAfter(vectorsAlias, former)
      await kinds.createVectors(name, dimension)
      await collections.serve({ [vectorsAlias]: name })
      if (former !== undefined) await collections.drop(former)
    },
  }
}

/** Names are numbered, so that the next one is free while the former is in use. */
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
  return new SetupError(
    `The collection ${name} was not made by this server, or by another version of it: set QDRANT_COLLECTION to another name, or ${REMEDY}`,
  )
}

interface NextCollections extends ServedCollections {
  /** Atomically moves the aliases to these collections. */
  serve(): Promise<void>
  /** Drops the collections used before, and those left over by interrupted runs. */
  drop(): Promise<void>
}

/** Collections next to those in use; continues with compatible ones that an interrupted run has left over. */
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
      const terms = await kinds.termsIn(termsName, signal)
      if (terms?.analyser !== fingerprint) {
        await collections.drop(termsName, signal)
        await kinds.createTerms(termsName, signal)
      }
      const about = TermsMetadata.parse(await collections.metadata(termsName, signal))
      return { ...about, isNew: false }
    },

    async vectors(inTime) {
      if (!(await collections.names(inTime)).includes(vectorsName)) return undefined
      const metadata = await kinds.vectorsIn(vectorsName, inTime)
      hasVectors = metadata?.fingerprint === vectorFingerprint
      return hasVectors ? metadata : undefined
    },

    async makeVectors(dimension) {
      await kinds.createVectors(vectorsName, dimension, signal)
      const metadata = await kinds.vectorsIn(vectorsName, signal)
      if (metadata?.fingerprint !== vectorFingerprint || metadata.dimension !== dimension) {
        await collections.drop(vectorsName, signal)
        await kinds.createVectors(vectorsName, dimension, signal)
      }
      hasVectors = true
    },

    async serve() {
      // Without vectors the alias is deleted, since no server could use the former collection.
      await collections.serve({
        [termsAlias]: termsName,
        [vectorsAlias]: hasVectors ? vectorsName : undefined,
      })
      // Frees the name for the collection that the first vectors will create.
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
