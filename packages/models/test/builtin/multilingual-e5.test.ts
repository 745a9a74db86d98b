import { afterAll, describe, expect, it } from 'vitest'
import { describeEmbedder } from '../../../../test/contracts/embedder.contract.ts'
import { multilingualInstalled } from '../../../../test/support/multilingual-e5.ts'
import { createBuiltinEmbedder } from '../../src/builtin/embedder.ts'
import { MULTILINGUAL_E5 } from '../../src/builtin/models.ts'

const signal = new AbortController().signal

describe.skipIf(!multilingualInstalled)(
  'A package of the multilingual model (needs packages/embedders/multilingual-e5/README.md)',
  () => {
    const embedder = multilingualInstalled
      ? createBuiltinEmbedder({ model: MULTILINGUAL_E5 })
      : undefined
    afterAll(() => embedder?.close?.())
    const opened = async () => {
      if (!embedder) throw new Error('The package is not installed')
      return embedder
    }

    describeEmbedder('multilingual-e5-small', { create: opened })

    it.each([
      ['German', 'Wann kann ich zum Arzt?'],
      ['Greek', 'Πότε μπορώ να δω γιατρό;'],
      ['Hindi', 'मैं डॉक्टर से कब मिल सकता हूँ?'],
      ['Chinese', '我什么时候可以看医生？'],
      ['Arabic', 'متى يمكنني رؤية الطبيب؟'],
    ])('finds what a question in %s asks for among English texts', async (_, question) => {
      const model = await opened()
      const asked = await model.embedQuery(question, signal)
      const vectors = await model.embedDocuments(
        [
          'The physician sees patients in the morning.',
          'A car needs fuel and four wheels.',
          'The library lends books for four weeks.',
        ],
        signal,
      )
      const cosines = vectors.map((vector) =>
        vector.reduce((sum, value, i) => sum + value * (asked[i] ?? 0), 0),
      )
      expect(cosines.indexOf(Math.max(...cosines))).toBe(0)
    })
  },
)

it.skipIf(multilingualInstalled)(
  'The multilingual model says what to do where its package is missing (needs it to be missing)',
  () => {
    expect(() => createBuiltinEmbedder({ model: MULTILINGUAL_E5 })).toThrow(
      'EMBEDDING_MODEL=builtin-multilingual requires the package agent-server-multilingual-e5, which is not installed: make and install it as packages/embedders/multilingual-e5/README.md says',
    )
  },
)
