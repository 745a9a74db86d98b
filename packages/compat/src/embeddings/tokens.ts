import { refusal } from '@agent-server/schemas/invalid-request.ts'
import { EmbeddedText, type EmbeddingsRequest } from './schema.ts'

type Input = EmbeddingsRequest['input']

/** What a client sends to be embedded, as texts. */
export async function textsOf(input: Input): Promise<string[]> {
  const inputs = typeof input === 'string' || isTokens(input) ? [input] : input
  return Promise.all(inputs.map(async (each) => (typeof each === 'string' ? each : textOf(each))))
}

const isTokens = (input: Exclude<Input, string>): input is number[] => typeof input[0] === 'number'

/** The tokens of cl100k_base in base64, read once a client sends tokens. */
let known: Promise<readonly string[]> | undefined

/** OpenAI's embedding models have cl100k_base, and programs fall back to it for models that they do not know. */
async function textOf(tokens: readonly number[]): Promise<string> {
  known ??= import('js-tiktoken/ranks/cl100k_base').then(({ default: { bpe_ranks } }) =>
    // After a mark and the number of the first token, there are all in their order.
    bpe_ranks.split(' ').slice(2),
  )
  const parts = await known
  const bytes = tokens.map((token) => {
    const part = parts[token]
    if (part === undefined) {
      throw refusal('input', `holds ${token}, which is not a token of cl100k_base`)
    }
    return Buffer.from(part, 'base64')
  })
  const { data, error } = EmbeddedText.safeParse(Buffer.concat(bytes).toString())
  if (data === undefined) throw refusal('input', error?.issues[0]?.message ?? 'is not valid')
  return data
}
