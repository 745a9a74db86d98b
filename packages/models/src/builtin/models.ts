import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { SetupError } from '@agent-server/lib/errors.ts'

/** A model that runs in a process of this server, and comes in a package. All give vectors of `DIMENSION` numbers. */
export interface BuiltinModel {
  /** Its `EMBEDDING_MODEL`. */
  setting: string
  /** Stored with the vectors: different weights need a different name. */
  name: string
  package: string
  /** What to do if the package is not installed. */
  remedy: string
  tokenizer: 'word-piece' | 'unigram'
  /** The window with which the model was published, in tokens, including those of begin and end. */
  window: number
  /** What stands before a text, in each window of it. */
  prefixes: { query: string; document: string }
}

export const DIMENSION = 384

export const MINILM: BuiltinModel = {
  setting: 'builtin',
  name: 'builtin/all-MiniLM-L6-v2',
  package: 'agent-server-minilm',
  remedy: 'install it',
  tokenizer: 'word-piece',
  window: 256,
  prefixes: { query: '', document: '' },
}

export const MULTILINGUAL_E5: BuiltinModel = {
  setting: 'builtin-multilingual',
  name: 'builtin/multilingual-e5-small',
  package: 'agent-server-multilingual-e5',
  remedy: 'make and install it as packages/embedders/multilingual-e5/README.md says',
  tokenizer: 'unigram',
  window: 512,
  prefixes: { query: 'query: ', document: 'passage: ' },
}

export const builtinModel = (setting: string | undefined): BuiltinModel | undefined =>
  [MINILM, MULTILINGUAL_E5].find((model) => model.setting === setting)

/** The model for documents in a language, unless another is chosen. */
export const builtinFor = (language: string): BuiltinModel =>
  language === 'english' ? MINILM : MULTILINGUAL_E5

/** Where a model's package is; undefined if it is not installed. */
function locate(model: BuiltinModel): string | undefined {
  try {
    return dirname(createRequire(import.meta.url).resolve(`${model.package}/package.json`))
  } catch {
    return undefined
  }
}

export const isInstalled = (model: BuiltinModel): boolean => locate(model) !== undefined

/** The whole words of the vocabulary of MiniLM, which are the frequent ones of English, and names. */
export function englishWords(): string[] {
  const vocabulary = readFileSync(join(findPackage(MINILM), 'vocab.txt'), 'utf8')
  return vocabulary.split('\n').filter((token) => /^[a-z]{2,}$/.test(token))
}

/** Throws a SetupError that says what to do if the package is not installed. */
export function findPackage(model: BuiltinModel): string {
  const directory = locate(model)
  if (directory !== undefined) return directory
  throw new SetupError(
    `EMBEDDING_MODEL=${model.setting} requires the package ${model.package}, which is not installed: ${model.remedy}, or set EMBEDDING_MODEL=none`,
  )
}

/** Why a language's model is not the default embedder for a store; undefined if it is. */
export async function reasonAgainstDefault(
  language: string,
  store: { embedding(): Promise<{ model: string } | undefined> },
): Promise<string | undefined> {
  const model = builtinFor(language)
  if (model !== MINILM && !isInstalled(model)) {
    return `the embedder for SEARCH_LANGUAGE=${language} is in the package ${model.package}, which is not installed: ${model.remedy}, or set EMBEDDING_MODEL`
  }
  const stored = await store.embedding()
  if (!stored || stored.model === model.name) return undefined
  return `the documents were embedded with "${stored.model}"; set EMBEDDING_MODEL to it, or change to ${model.setting} on the Models page of the web UI, or set EMBEDDING_MODEL=${model.setting} and run npm run re-embed`
}
