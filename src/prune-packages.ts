import { existsSync, globSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

// `npm run prune-packages`: for an installation that only runs the server, such as the
// container image.

const PLATFORM = process.platform
/** What the server never reads, as glob patterns within node_modules; paths that match `but` are kept. */
const UNREAD: readonly { pattern: string; but?: RegExp }[] = [
  // Runtimes of the built-in embedder for other platforms: 240 MB.
  {
    pattern: 'onnxruntime-node/bin/napi-v6/*/*',
    but: new RegExp(`[/\\\\]${PLATFORM}[/\\\\]${process.arch}$`),
  },
  { pattern: 'usearch/prebuilds/*', but: new RegExp(`[/\\\\]${PLATFORM}-[^/\\\\]*$`) },
  // Tesseract builds that recognise.ts does not use.
  {
    pattern: 'tesseract.js-core/tesseract-core*',
    but: /tesseract-core-simd-lstm\.(js|wasm)$/,
  },
  // Parts of the PDF reader with which browsers display pages.
  { pattern: 'pdfjs-dist/{legacy,web,types,image_decoders,standard_fonts,iccs}' },
  { pattern: 'pdfjs-dist/build/*.min.mjs' },
  // What only debuggers and compilers read.
  { pattern: '**/*.{js,mjs,cjs,css}.map' },
  { pattern: '**/*.d.{ts,mts,cts}' },
]

/**
 * Deletes files from an installation's packages that only other platforms, debuggers and compilers read. Throws if
 * development packages are installed.
 */
export function prunePackages(directory: string): void {
  const packages = join(directory, 'node_modules')
  if (existsSync(join(packages, 'typescript'))) {
    throw new Error(
      'The packages for development are installed here, too: run npm ci --omit=dev first',
    )
  }
  for (const { pattern, but } of UNREAD) {
    for (const path of globSync(pattern, { cwd: packages })) {
      if (!but?.test(path)) rmSync(join(packages, path), { recursive: true })
    }
  }
}

if (import.meta.main) {
  try {
    prunePackages(fileURLToPath(new URL('..', import.meta.url)))
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
    process.exitCode = 1
  }
}
