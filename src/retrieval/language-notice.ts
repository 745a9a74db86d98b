import { setImmediate } from 'node:timers/promises'
import { repeat } from '@agent-server/lib/abort.ts'
import type { Log } from '@agent-server/lib/log.ts'
import { everything } from '@agent-server/lib/visibility.ts'
import type { Readiness } from '@agent-server/schemas/operator/ops.ts'
import { ANALYSER_LANGUAGES, type AnalyserLanguage, detectLanguage } from '@agent-server/search'
import type { DocumentStore } from '@agent-server/stores'

/** How often the number of chunks is checked; texts are read only once it has grown by a fifth. */
const EVERY_MS = 2_000
const GROWTH = 1.2
const MAX_CHUNKS = 200
const MAX_QUESTIONS = 50
/** A language counts from this number of texts and this share of them on. */
const MIN_TEXTS = 5
const MIN_SHARE = 0.2
/** What most texts are in is what `SEARCH_LANGUAGE` should be. */
const MAJORITY = 0.5

type Warning = NonNullable<Readiness['warnings']>[number]

interface Dependencies {
  store: Pick<DocumentStore, 'counts' | 'chunkKeys' | 'readChunks'>
  searchLanguage: AnalyserLanguage
  /** The languages of the embedding model: `other` is a server's, of which nothing is known. */
  embeddings: 'english' | 'other' | 'none'
  log: Pick<Log, 'warn'>
}

/**
 * Says which step mends it when many documents, or many of the latest questions, are in a language that search is not
 * set up for. Keeps the languages of questions, not their words.
 */
export class LanguageNotice {
  readonly #dependencies: Dependencies
  readonly #expected: AnalyserLanguage
  readonly #logged = new Set<string>()
  #documents: readonly string[] = []
  #questions: readonly string[] = []
  /** The number of chunks when texts were last read. */
  #looked = 0

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
    const { searchLanguage } = dependencies
    this.#expected = searchLanguage === 'none' ? 'english' : searchLanguage
  }

  /** Looks at the documents until `signal` is aborted. */
  run(signal: AbortSignal): Promise<void> {
    return repeat(() => this.#look(), { firstMs: EVERY_MS, everyMs: EVERY_MS }, signal)
  }

  readonly noteQuestion = (question: string): void => {
    const language = detectLanguage(question, this.#expected)
    if (language) this.#questions = [...this.#questions, language].slice(-MAX_QUESTIONS)
  }

  readonly warnings = (): Warning[] => {
    const documents = shares(this.#documents)
    const unserved = [...documents].filter(([language]) => language !== this.#expected)
    const foreign = [...shares(this.#questions)].filter(([language]) => !documents.has(language))
    const messages = [
      ...unserved.map(([language, share]) => this.#ofDocuments(language, share)),
      ...(documents.size === 0 ? [] : foreign.map(([language]) => this.#ofQuestions(language))),
    ]
    return messages.flatMap((message) =>
      message === undefined ? [] : [{ code: 'language_mismatch' as const, message }],
    )
  }

  async #look(): Promise<void> {
    const { log, store } = this.#dependencies
    try {
      const { chunks } = await store.counts()
      if (chunks < this.#looked / GROWTH || chunks > this.#looked * GROWTH) {
        this.#documents = await this.#languagesOfDocuments()
        this.#looked = chunks
      }
    } catch (error) {
      log.warn({ err: error }, 'detecting the languages of the documents failed')
    }
    for (const { message } of this.warnings()) {
      if (!this.#logged.has(message)) log.warn({}, message)
      this.#logged.add(message)
    }
  }

  /** Reads chunks from all parts of the corpus, with turns for others between them. */
  async #languagesOfDocuments(): Promise<string[]> {
    const keys = await this.#dependencies.store.chunkKeys()
    const step = Math.ceil(keys.length / MAX_CHUNKS)
    const sample = [...keys.filter((_, place) => place % step === 0)]
    const { chunks } = await this.#dependencies.store.readChunks(everything(), sample)
    const languages: string[] = []
    for (const { text } of chunks) {
      const language = detectLanguage(text, this.#expected)
      if (language) languages.push(language)
      await setImmediate()
    }
    return languages
  }

  #ofDocuments(language: string, share: number): string | undefined {
    const { embeddings, searchLanguage } = this.#dependencies
    const analysed = ANALYSER_LANGUAGES.some((each) => each === language)
    const steps = [
      ...(embeddings === 'other' ? [] : [MULTILINGUAL]),
      ...(analysed && share > MAJORITY && searchLanguage !== 'none'
        ? [`set SEARCH_LANGUAGE=${language}, which rebuilds the search index`]
        : []),
    ]
    if (steps.length === 0) return undefined
    const why = SET_UP[embeddings](nameOf(this.#expected))
    return `Many passages are in ${nameOf(language)}, but ${why}: ${steps.join(', and ')}`
  }

  #ofQuestions(language: string): string | undefined {
    if (this.#dependencies.embeddings === 'other') return undefined
    return `Many questions are in ${nameOf(language)}, and no documents are: ${MULTILINGUAL}, which finds across languages`
  }
}

const MULTILINGUAL =
  'choose an embedding model for several languages on the Models page (EMBEDDING_MODEL_NEXT=builtin-multilingual, or one of your model server)'

const SET_UP = {
  english: (language: string) =>
    `the embedding model is for English${language === 'English' ? '' : `, and words are looked up as in ${language}`}`,
  other: (language: string) => `words are looked up as in ${language}`,
  none: (language: string) => `search is by words alone, looked up as in ${language}`,
}

const nameOf = (language: string) => language.charAt(0).toUpperCase() + language.slice(1)

/** The languages that count, each with its share, the most frequent first. */
function shares(languages: readonly string[]): Map<string, number> {
  const counts = Map.groupBy(languages, (language) => language)
  return new Map(
    [...counts]
      .map(([language, texts]) => [language, texts.length] as const)
      .filter(([, count]) => count >= MIN_TEXTS && count >= languages.length * MIN_SHARE)
      .toSorted(([, a], [, b]) => b - a)
      .map(([language, count]) => [language, count / languages.length]),
  )
}
