import { existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseAst } from 'vitest/node'

/** The repository's root, with a slash at its end. */
export const ROOT = new URL('../../', import.meta.url)

export interface SourceFile {
  /** From the repository's root, with forward slashes. */
  path: string
  text: string
}

/** Any node of the syntax tree; TypeScript's own nodes are named `TS…`. */
export interface SyntaxNode {
  type: string
  start: number
  end: number
  [field: string]: unknown
}

/** Every TypeScript file below a folder of the repository, none where the folder does not exist. */
export function sourceFiles(folder: string): SourceFile[] {
  if (!existsSync(new URL(folder, ROOT))) return []
  return readdirSync(new URL(folder, ROOT), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .filter(({ parentPath }) => !parentPath.includes('node_modules'))
    .map((entry) => join(entry.parentPath, entry.name).slice(ROOT.pathname.length))
    .toSorted()
    .map((path) => ({ path, text: readFileSync(new URL(path, ROOT), 'utf8') }))
}

export function isNode(value: unknown): value is SyntaxNode {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value
}

/** Every node of a file's syntax tree, outermost first. */
export function nodesOf(text: string): readonly SyntaxNode[] {
  const nodes: SyntaxNode[] = []
  const waiting: unknown[] = [parseAst(text, { lang: 'ts' })]
  while (waiting.length > 0) {
    const value = waiting.pop()
    if (isNode(value)) nodes.push(value)
    if (typeof value === 'object' && value !== null) waiting.push(...Object.values(value).reverse())
  }
  return nodes
}

interface Specifiers {
  imports: readonly string[]
  loads: readonly string[]
}

/** Every rule asks about the same files. Their trees would take hundreds of megabytes from the tests that follow. */
const known = new Map<string, Specifiers>()

function specifiersOf(text: string): Specifiers {
  const before = known.get(text)
  if (before) return before
  const nodes = nodesOf(text)
  const imports = nodes.flatMap((node) => {
    const written = importedBy(node)
    return isNode(written) && typeof written.value === 'string' ? [written.value] : []
  })
  const loads = nodes
    .filter(isLoading)
    .flatMap(({ source }) => (isNode(source) ? [String(source.value)] : []))
  known.set(text, { imports, loads })
  return { imports, loads }
}

/** What a file imports, also for its types only, loads at run time, or starts as a thread, as written. */
export const importsOf = (text: string) => specifiersOf(text).imports

/** What a file loads before it runs, as written. */
export const loadsOf = (text: string) => specifiersOf(text).loads

function isLoading({ type, importKind, exportKind, specifiers }: SyntaxNode): boolean {
  if (importKind === 'type' || exportKind === 'type') return false
  if (type !== 'ImportDeclaration') return type.startsWith('Export')
  const names: unknown[] = Array.isArray(specifiers) ? specifiers : []
  return names.length === 0 || names.some((name) => isNode(name) && name.importKind !== 'type')
}

function importedBy(node: SyntaxNode): unknown {
  switch (node.type) {
    case 'ImportDeclaration':
    case 'ExportNamedDeclaration':
    case 'ExportAllDeclaration':
    case 'ImportExpression':
    case 'TSImportType':
      return node.source
    case 'NewExpression':
      return isModuleUrl(node) ? node.arguments[0] : undefined
    default:
      return undefined
  }
}

/** Is it `new URL('./some-thread.ts', import.meta.url)`? */
function isModuleUrl(node: SyntaxNode): node is SyntaxNode & { arguments: SyntaxNode[] } {
  if (!isNode(node.callee) || node.callee.name !== 'URL' || !Array.isArray(node.arguments))
    return false
  const [file, base] = node.arguments
  return (
    isNode(file) &&
    typeof file.value === 'string' &&
    file.value.endsWith('.ts') &&
    isNode(base) &&
    isNode(base.object) &&
    base.object.type === 'MetaProperty'
  )
}

/** Whether an import means a file of the repository: one beside the importing file, or one of its own packages. */
export const isOwnImport = (specifier: string) => /^(?:\.|@agent-server\/)/.test(specifier)

/** The path from the root that an import of such a file means. */
export function resolveImport(path: string, specifier: string): string {
  if (specifier.startsWith('.')) return join(dirname(path), specifier)
  const resolved = import.meta.resolve(specifier)
  return realpathSync(new URL(resolved)).slice(ROOT.pathname.length)
}
