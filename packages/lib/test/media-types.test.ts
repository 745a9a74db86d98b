import { mediaTypeOf } from '@agent-server/lib/media-types.ts'
import { expect, it } from 'vitest'

it.each([
  ['plot.png', 'image/png'],
  ['deep/table.CSV', 'text/csv'],
  ['report.tar.zip', 'application/zip'],
  ['constructor', 'application/octet-stream'],
  ['no.ending/here', 'application/octet-stream'],
  ['odd.xyzzy', 'application/octet-stream'],
])('the name %s says that a file is %s', (name, expected) => {
  expect(mediaTypeOf(name)).toBe(expected)
})
