import { describeReranker } from '../../../../test/contracts/reranker.contract.ts'
import {
  type RerankerKind,
  startScriptedReranker,
} from '../../../../test/support/scripted-reranker.ts'
import { createOpenAiReranker } from '../../src/reranking/reranker.ts'

for (const kind of ['cohere', 'voyage', 'tei'] satisfies RerankerKind[]) {
  describeReranker(`openai, of a server like ${kind},`, {
    async create() {
      const { url } = await startScriptedReranker(kind)
      return createOpenAiReranker({ apiKey: 'any', baseUrl: url, model: 'shared-words' })
    },
  })
}
