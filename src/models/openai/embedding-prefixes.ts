export interface Prefixes {
  query: string
  document: string
}

const NONE: Prefixes = { query: '', document: '' }
const SEARCH_PASSAGES = 'Represent this sentence for searching relevant passages: '
const INSTRUCT =
  'Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery: '

/**
 * What models were trained to see before a text, by name, from their cards at https://huggingface.co/<owner>/<name>.
 * The first match counts; a model without one is given the text as it is.
 */
const BY_NAME: readonly (readonly [pattern: RegExp, prefixes: Prefixes])[] = [
  // intfloat/multilingual-e5-large-instruct, intfloat/e5-mistral-7b-instruct
  [/\be5\b.*instruct/, { query: INSTRUCT, document: '' }],
  // intfloat/e5-small-v2, intfloat/multilingual-e5-base
  [/\be5\b/, { query: 'query: ', document: 'passage: ' }],
  // nomic-ai/nomic-embed-text-v1.5, nomic-ai/nomic-embed-text-v2-moe
  [/nomic-embed-text/, { query: 'search_query: ', document: 'search_document: ' }],
  // BAAI/bge-small-zh-v1.5
  [
    /\bbge-(?:small|base|large)-zh/,
    { query: '为这个句子生成表示以用于检索相关文章：', document: '' },
  ],
  // BAAI/bge-base-en-v1.5; Ollama leaves the language out. BAAI/bge-m3 takes none.
  [/\bbge-(?:small|base|large)/, { query: SEARCH_PASSAGES, document: '' }],
  // mixedbread-ai/mxbai-embed-large-v1
  [/mxbai-embed/, { query: SEARCH_PASSAGES, document: '' }],
  // Snowflake/snowflake-arctic-embed-l-v2.0, snowflake-arctic-embed2 in Ollama
  [/arctic-embed(?:2|.*v2)/, { query: 'query: ', document: '' }],
  // Snowflake/snowflake-arctic-embed-m-v1.5
  [/arctic-embed/, { query: SEARCH_PASSAGES, document: '' }],
  // google/embeddinggemma-300m
  [/embeddinggemma/, { query: 'task: search result | query: ', document: 'title: none | text: ' }],
  // Qwen/Qwen3-Embedding-0.6B
  [/qwen3-embedding/, { query: INSTRUCT, document: '' }],
]

export function prefixesOf(model: string): Prefixes {
  const name = model.toLowerCase()
  return BY_NAME.find(([pattern]) => pattern.test(name))?.[1] ?? NONE
}
