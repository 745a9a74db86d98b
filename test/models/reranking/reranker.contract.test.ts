import { createOpenAiReranker } from '../../../src/models/reranking/reranker.ts'
import { describeReranker } from '../../contracts/reranker.contract.ts'
import { type RerankerKind, startScriptedReranker } from '../../support/scripted-reranker.ts'

for (const kind of ['cohere', 'voyage', 'tei'] satisfies RerankerKind[]) {
  describeReranker(`openai, of a server like ${kind},`, {
    async create() {
      const { url } = await startScriptedReranker(kind)
      return createOpenAiReranker({ apiKey: 'any', baseUrl: url, model: 'shared-words' })
    },
  })
}
