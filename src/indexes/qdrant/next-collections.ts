import { isDeepStrictEqual } from 'node:util'
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
import { wordsIndex } from './payload-indexes.ts'
import { nameAfter, type ServedCollections, type ServedOptions } from './served-collections.ts'

export interface NextCollections extends ServedCollections {
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
