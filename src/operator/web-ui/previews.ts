import { hash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

const require = createRequire(import.meta.url)

/** What is shown in a frame: HTML of an answer, or a diagram that Mermaid draws. */
export const PREVIEW_KINDS = ['html', 'diagram'] as const
export type PreviewKind = (typeof PREVIEW_KINDS)[number]

/** What the frame shows has no way out, and the page that holds it may only be of this server. */
const POLICY = [
  'sandbox allow-scripts',
  "default-src 'none'",
  "style-src 'unsafe-inline'",
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'self'",
]

/** A page that holds its scripts, and the policy that lets these run and no others. */
interface PreviewPage {
  content: Buffer
  policy: string
}

/** The page of a frame, with the script that was built for it from `ui/preview/`. */
export async function previewPage(kind: PreviewKind, built: Buffer): Promise<PreviewPage> {
  const library = kind === 'diagram' ? [await readMermaid()] : []
  const scripts = [...library, built.toString()].map(inline)
  const hashes = scripts.map((script) => `'sha256-${hash('sha256', script, 'base64')}'`)
  const elements = scripts.map((script) => `<script>${script}</script>`).join('\n')
  const page = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Preview</title></head>
<body>
${elements}
</body>
</html>
`
  const policy = [...POLICY, `script-src ${hashes.join(' ')}`].join(';')
  return { content: Buffer.from(page), policy }
}

const readMermaid = () =>
  readFile(
    join(dirname(require.resolve('@mermaid-js/tiny/package.json')), 'dist/mermaid.tiny.js'),
    'utf8',
  )

/** A script as HTML reads it within a page: nothing ends it early, and its lines end as the hash is computed. */
const inline = (script: string) =>
  script.replaceAll(/\r\n?/g, '\n').replaceAll(/<(?=\/script|!--)/gi, '\\x3c')
