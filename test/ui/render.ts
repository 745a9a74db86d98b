import { fileURLToPath } from 'node:url'
import { build, stop } from 'esbuild'
import { ROOT } from '../support/source-tree.ts'

/** A fake of what files of `ui/` look at while they are loaded, and of no more. */
const PAGE = `
  const location = new URL('http://ui.example/#/')
  const window = { addEventListener() {} }
  const localStorage = { getItem: () => null }
`

type Component = (properties: never) => unknown

/** What files of `ui/` with JSX export, bundled, as Node.js does not read it; and `render`, for components as markup. */
export async function loadComponents<Exports extends object>(...paths: string[]) {
  const contents = `
    import { h } from 'preact'
    import { renderToString } from 'preact-render-to-string'
    ${paths.map((path) => `export * from './ui/${path}'`).join('\n')}
    export const render = (component, properties) => renderToString(h(component, properties))`
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: fileURLToPath(ROOT) },
    banner: { js: PAGE },
    bundle: true,
    format: 'esm',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    write: false,
  })
  await stop()
  const code = Buffer.from(outputFiles[0]?.contents ?? []).toString('base64')
  const loaded: Exports & { render(component: Component, properties: object): string } =
    await import(`data:text/javascript;base64,${code}`)
  return loaded
}
