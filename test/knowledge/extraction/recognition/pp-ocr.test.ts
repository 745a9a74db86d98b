import { describe, expect, it } from 'vitest'
import { ppOcrDirectory } from '../../../../src/knowledge/extraction/recognition/pp-ocr.ts'
import { describeRecognition } from '../../../contracts/recognition.contract.ts'
import { ppOcrInstalled } from '../../../support/pp-ocr.ts'

describe.skipIf(!ppOcrInstalled)('A package of models (needs pp-ocr/README.md)', () => {
  describeRecognition('PP-OCR', {
    kind: 'pp-ocr',
    directory: ppOcrInstalled ? ppOcrDirectory() : '',
  })
})

it.skipIf(ppOcrInstalled)(
  'PP-OCR says what to do where its package is missing (needs it to be missing)',
  () => {
    expect(ppOcrDirectory).toThrow('OCR=pp-ocr requires the package agent-server-pp-ocr')
  },
)
