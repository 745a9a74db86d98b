import type { CollectionSettings } from '../qdrant-settings.ts'
import {
  MEANING,
  TERMS,
  TermsMark,
  termsCollection,
  termsMark,
  VectorsMark,
  vectorsCollection,
  vectorsMark,
} from './collection-layout.ts'
import type { Collections } from './collections.ts'
import { wordsIndex } from './payload-indexes.ts'

const REMEDY = 'npm run rebuild-index makes it anew beside the one that serves'

export interface ServedOptions {
  collections: Collections
  /** What the names of all of them begin with. */
  prefix: string
  settings: CollectionSettings
  fingerprint: string
  vectorFingerprint: string
  averageLength: () => Promise<number>
}

/** The collections that queries are sent to, made where there are none. */
export interface ServedCollections {
  /** What points are addressed by. */
  readonly termsName: string
  readonly vectorsName: string
  /** Throws where what is kept is of no use for this server. */
  terms(signal?: AbortSignal): Promise<TermsMark>
  /** Nothing before the first vectors. Throws as `terms`. */
  vectors(signal?: AbortSignal): Promise<VectorsMark | undefined>
  /** A collection for vectors of this dimension, in the place of the one there may be. */
  makeVectors(dimension: number): Promise<void>
  /** Throws where Qdrant does not answer, or lacks the collection of words. */
  check(signal: AbortSignal): Promise<void>
}

export function createServedCollections(options: ServedOptions): ServedCollections {
  const { collections, prefix, settings, fingerprint, vectorFingerprint } = options
  const termsAlias = `${prefix}-${TERMS}`
  const vectorsAlias = `${prefix}-${MEANING}`

  const makeTerms = async (signal?: AbortSignal) => {
    const name = nameAfter(termsAlias, undefined)
    const mark = termsMark({ analyser: fingerprint, averageLength: await options.averageLength() })
    await collections.create(name, termsCollection(mark, settings), signal)
    await collections.index(name, wordsIndex(settings.filtersMemory), signal)
    await collections.serve({ [termsAlias]: name }, signal)
    return name
  }

  return {
    termsName: termsAlias,
    vectorsName: vectorsAlias,

    async terms(signal) {
      const name = (await collections.behind(termsAlias, signal)) ?? (await makeTerms(signal))
      const mark = TermsMark.safeParse(await collections.markOf(name, signal)).data
      if (!mark) throw foreign(name)
      if (mark.analyser === fingerprint) return mark
      throw new Error(
        `The collection ${name} holds words as ${mark.analyser}, not ${fingerprint}: set SEARCH_LANGUAGE back, or ${REMEDY}`,
      )
    },

    async vectors(signal) {
      const name = await collections.behind(vectorsAlias, signal)
      if (name === undefined) return undefined
      const mark = VectorsMark.safeParse(await collections.markOf(name, signal)).data
      if (!mark) throw foreign(name)
      if (mark.fingerprint === vectorFingerprint) return mark
      throw new Error(
        `The collection ${name} holds vectors that have been made anew since: ${REMEDY}`,
      )
    },

    async makeVectors(dimension) {
      const former = await collections.behind(vectorsAlias)
      const name = nameAfter(vectorsAlias, former)
      const mark = vectorsMark({ fingerprint: vectorFingerprint, dimension })
      await collections.create(name, vectorsCollection(mark, settings))
      await collections.index(name, wordsIndex(settings.filtersMemory))
      await collections.serve({ [vectorsAlias]: name })
      if (former !== undefined) await collections.drop(former)
    },

    async check(signal) {
      await collections.markOf(termsAlias, signal)
    },
  }
}

/** Names count up, so that the next one is free while the former serves. */
export function nameAfter(alias: string, former: string | undefined): string {
  const number = Number(/-(\d+)$/.exec(former ?? '')?.[1] ?? 0)
  return `${alias}-${number + 1}`
}

function foreign(name: string): Error {
  return new Error(
    `The collection ${name} was not made by this server, or by another version of it: set QDRANT_COLLECTION to another name, or ${REMEDY}`,
  )
}
