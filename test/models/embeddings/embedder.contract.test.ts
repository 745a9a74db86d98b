import { createOpenAiEmbedder } from '../../../src/models/embeddings/embedder.ts'
import { describeEmbedder } from '../../contracts/embedder.contract.ts'
import { startScriptedEmbedder } from '../../support/scripted-embedder.ts'

describeEmbedder('openai', {
  async create() {
    const { url } = await startScriptedEmbedder()
    return createOpenAiEmbedder({ apiKey: 'any', baseUrl: url, model: 'hashed-words' })
  },
})
