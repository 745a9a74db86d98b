import { isDeepStrictEqual } from 'node:util'
import type { CollectionSettings } from '../qdrant-settings.ts'
import {
  type Collections,
  MEANING,
  TERMS,
  TermsMark,
  termsCollection,
  termsMark,
  VectorsMark,
  vectorsCollection,
  vectorsMark,
} from './collections.ts'
import { wordsIndex } from './filters.ts'

const REMEDY = 'npm run rebuild-index makes it anew beside the one that serves'

interface ServedOptions {
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
  options: ServedOptions,
  signal?: AbortSignal,
): Promise<NextCollections> {
  const { collections, prefix, settings, fingerprint, vectorFingerprint } = options
  const termsAlias = `${prefix}-${TERMS}`
  const vectorsAlias = `${prefix}-${MEANING}`
  const formerTerms = await collections.behind(termsAlias, signal)
  const formerVectors = await collections.behind(vectorsAlias, signal)
  const termsName = nameAfter(termsAlias, formerTerms)
  const vectorsName = nameAfter(vectorsAlias, formerVectors)
  let hasVectors = false

  /** Leaves a collection of this name that says `isSame` of itself, and makes it anew where another has the name. */
  const createAnew = async (name: string, body: object, isSame: (mark: unknown) => boolean) => {
    const index = () => collections.index(name, wordsIndex(settings.filtersMemory), signal)
    await collections.create(name, body, signal)
    const mark = await collections.markOf(name, signal)
    if (isSame(mark)) return index().then(() => mark)
    await collections.drop(name, signal)
    await collections.create(name, body, signal)
    await index()
    return collections.markOf(name, signal)
  }

  return {
    termsName,
    vectorsName,

    async terms() {
      const averageLength = await options.averageLength()
      const mark = termsMark({ analyser: fingerprint, averageLength })
      const isSame = (held: unknown) => TermsMark.safeParse(held).data?.analyser === fingerprint
      return TermsMark.parse(await createAnew(termsName, termsCollection(mark, settings), isSame))
    },
    async vectors(inTime) {
      if (!(await collections.exists(vectorsName, inTime))) return undefined
      const mark = VectorsMark.safeParse(await collections.markOf(vectorsName, inTime)).data
      hasVectors = mark?.fingerprint === vectorFingerprint
      return hasVectors ? mark : undefined
    },
    async makeVectors(dimension) {
      const mark = vectorsMark({ fingerprint: vectorFingerprint, dimension })
      const isSame = (held: unknown) => isDeepStrictEqual(VectorsMark.safeParse(held).data, mark)
      await createAnew(vectorsName, vectorsCollection(mark, settings), isSame)
      hasVectors = true
    },
    async check(inTime) {
      await collections.markOf(termsName, inTime)
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
