import { isEndless } from '../chat/preview-kinds.ts'
import { showWith } from './frame.ts'

/** Mermaid, whose script stands before this one. */
declare const mermaid: {
  initialize(settings: object): void
  render(id: string, text: string): Promise<{ svg: string }>
}

/** Edges of a diagram: more could hold up the page, too, where a browser runs both on one thread. */
const MOST_EDGES = 300

mermaid.initialize({
  startOnLoad: false,
  securityLevel: 'strict',
  suppressErrorRendering: true,
  maxEdges: MOST_EDGES,
  fontFamily: 'system-ui, sans-serif',
})

showWith(async (text) => {
  if (isEndless(text)) throw new Error('A duration has more than five digits')
  const { svg } = await mermaid.render('diagram', text)
  document.body.innerHTML = svg
})
