import { expect, it } from 'vitest'
import { NOT_READ } from '../../client/src/command-line/file-document.ts'
import { REFUSED } from '../../src/services/extraction/extract-file.ts'

it('A folder’s importer leaves out what the server would refuse, and nothing else', () => {
  expect(NOT_READ).toEqual(REFUSED)
})
