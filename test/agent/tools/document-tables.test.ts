import { everything } from '@agent-server/lib/visibility.ts'
import { createTables } from '@agent-server/tables'
import { expect, it } from 'vitest'
import { TABLE_ENDINGS } from '../../../packages/stores/src/lookup.ts'
import { documentsWithTables } from '../../../src/agent/tools/document-tables.ts'
import { temporaryDirectory } from '../../support/temporary-files.ts'
import { createFakeLookup } from './stored-document.ts'

const { signal } = new AbortController()

it('every document whose name the store takes for that of a table can be queried as one', async () => {
  // More than a page of the fake store.
  const files = TABLE_ENDINGS.map((ending, n) => ({
    id: `${n}`,
    file: `A${n}${ending}`,
    content: '',
  }))
  const documents = documentsWithTables(createFakeLookup(files))
  const tables = createTables({ directory: await temporaryDirectory(), documents })
  const names = (await tables.entries(everything(), signal)).map(
    ({ document }) => document.file?.name,
  )
  tables.close()
  expect(names).toEqual(files.map(({ file }) => file))
})
