import { text } from 'node:stream/consumers'
import { getHeapSnapshot } from 'node:v8'

interface Snapshot {
  snapshot: {
    meta: {
      node_fields: string[]
      node_types: [string[], ...unknown[]]
      edge_fields: string[]
      edge_types: [string[], ...unknown[]]
    }
  }
  nodes: number[]
  edges: number[]
  strings: string[]
}

interface Edge {
  type: string
  name: string
  target: number
}

interface Heap {
  isObject(node: number): boolean
  nameOf(node: number): string
  edgesOf(node: number): Iterable<Edge>
}

/** See the format of heap snapshots in V8's `heap-snapshot-generator.cc`. */
function readHeap({ snapshot: { meta }, nodes, edges, strings }: Snapshot): Heap {
  const [nodeSize, edgeSize] = [meta.node_fields.length, meta.edge_fields.length]
  const nodeField = (node: number, name: string) =>
    nodes[node * nodeSize + meta.node_fields.indexOf(name)] ?? 0
  const firstEdges = [0]
  for (let node = 0; node < nodes.length / nodeSize; node++) {
    firstEdges.push((firstEdges[node] ?? 0) + nodeField(node, 'edge_count'))
  }
  const readEdge = (at: number): Edge => {
    const [typeIndex = 0, name = 0, target = 0] = edges.slice(at * edgeSize, at * edgeSize + 3)
    const type = meta.edge_types[0][typeIndex] ?? ''
    const isIndex = type === 'element' || type === 'hidden'
    return { type, name: isIndex ? `[${name}]` : (strings[name] ?? ''), target: target / nodeSize }
  }
  return {
    isObject: (node) => meta.node_types[0][nodeField(node, 'type')] === 'object',
    nameOf: (node) => strings[nodeField(node, 'name')] ?? '',
    *edgesOf(node) {
      const end = firstEdges[node + 1] ?? 0
      for (let at = firstEdges[node] ?? 0; at < end; at++) yield readEdge(at)
    },
  }
}

/**
 * What keeps an object of this class in memory, from the roots of the heap to it, for the message of a test that finds
 * it there; undefined if nothing does. Takes seconds.
 */
export async function retainingPath(className: string): Promise<string | undefined> {
  const heap = readHeap(JSON.parse(await text(getHeapSnapshot())))
  /** The nodes that are reached, each with the path to it. */
  const paths = new Map<number, { before: number; name: string }>([[0, { before: 0, name: '' }]])
  for (const node of paths.keys()) {
    if (heap.isObject(node) && heap.nameOf(node) === className) return describePath(node)
    for (const { type, name, target } of heap.edgesOf(node)) {
      if (type !== 'weak' && !paths.has(target)) paths.set(target, { before: node, name })
    }
  }
  return undefined

  function describePath(end: number): string {
    const steps: string[] = []
    for (let node = end; node !== 0; node = paths.get(node)?.before ?? 0) {
      steps.unshift(`${paths.get(node)?.name} → ${heap.nameOf(node).slice(0, 60)}`)
    }
    return steps.join('\n')
  }
}
