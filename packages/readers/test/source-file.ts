import { fixture } from '../../../test/support/forms.ts'
import type { SourceFile } from '../src/extracted.ts'

/** A file as a reader gets it. */
export function sourceFile(name: string, content: Uint8Array | string): SourceFile {
  return { name, mediaType: 'application/octet-stream', bytes: Buffer.from(content) }
}

/** One of test/fixtures/files. */
export function sourceFixture(name: string): SourceFile {
  return sourceFile(name, fixture(name))
}
