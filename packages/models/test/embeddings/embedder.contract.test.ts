import { describeEmbedder } from '../../../../test/contracts/embedder.contract.ts'
import { startScriptedEmbedder } from '../../../../test/support/scripted-embedder.ts'
import { createOpenAiEmbedder } from '../../src/embeddings/embedder.ts'

describeEmbedder('openai', {
  async create() {
    const { url } = await startScriptedEmbedder()
    return createOpenAiEmbedder({ apiKey: 'any', baseUrl: url, model: 'hashed-words' })
  },
})
