import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { readIfPresent } from '@agent-server/lib/files.ts'
import { z } from 'zod'

const require = createRequire(import.meta.url)
const PACKAGE = 'pdfjs-dist/package.json'
const { version } = z.object({ version: z.string() }).parse(require(PACKAGE))

/** PDF.js' worker, its decoders of images, and of fonts that a PDF does not hold, character maps and those of signs. */
const FILES = [
  { folder: 'build', names: /^pdf\.worker\.mjs$/ },
  { folder: 'wasm', names: /^(?:jbig2|openjpeg)\.wasm$/ },
  { folder: 'cmaps', names: /^[\w-]+\.bcmap$/ },
  { folder: 'standard_fonts', names: /^Foxit(?:Dingbats|Symbol)\.pfb$/ },
]

/**
 * Reads a file that the reader of the web UI needs besides the bundle, as it is in the package. Its name is that of the
 * file after `pdfjs-<version>-`. Returns undefined if there is no such file.
 */
export async function readPdfFile(name: string): Promise<Buffer | undefined> {
  const prefix = `pdfjs-${version}-`
  const file = name.startsWith(prefix) ? name.slice(prefix.length) : ''
  const folder = FILES.find(({ names }) => names.test(file))?.folder
  if (folder === undefined) return undefined
  return readIfPresent(join(dirname(require.resolve(PACKAGE)), folder, file))
}
