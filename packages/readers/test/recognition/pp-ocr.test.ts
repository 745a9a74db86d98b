import { describe, expect, it } from 'vitest'
import { ppOcrInstalled } from '../../../../test/support/pp-ocr.ts'
import type { OcrEngine } from '../../src/extracted.ts'
import { installedOcr } from '../../src/recognition/installed.ts'
import { describeRecognition } from './recognition.contract.ts'

describe.skipIf(!ppOcrInstalled)('A package of models (needs packages/pp-ocr/README.md)', () => {
  const engine: OcrEngine = ppOcrInstalled
    ? installedOcr('pp-ocr', '')
    : { kind: 'pp-ocr', directory: '' }
  describeRecognition('PP-OCR', engine)
})

it.skipIf(ppOcrInstalled)(
  'PP-OCR says what to do where its package is missing (needs it to be missing)',
  () => {
    expect(() => installedOcr('pp-ocr', '')).toThrow(
      'OCR=pp-ocr requires the package agent-server-pp-ocr',
    )
  },
)
