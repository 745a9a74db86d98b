import { describe, expect, it } from 'vitest'
import { ppOcrInstalled } from '../../../../test/support/pp-ocr.ts'
import { ppOcrDirectory } from '../../src/recognition/pp-ocr.ts'
import { describeRecognition } from './recognition.contract.ts'

describe.skipIf(!ppOcrInstalled)('A package of models (needs packages/pp-ocr/README.md)', () => {
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
