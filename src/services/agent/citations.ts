import type { Hit } from '../../schemas/query.ts'

export interface NumberedHit {
  /** What an answer cites as `[number]`: the hit's place among all hits of the run, from 1. */
  number: number
  hit: Hit
}

/** The hits of one run. A chunk found twice keeps its first number. */
export interface Citations {
  add(hits: readonly Hit[]): NumberedHit[]
  all(): Hit[]
}

export function createCitations(): Citations {
  const numbered = new Map<string, NumberedHit>()

  return {
    add(hits) {
      return hits.map((hit) => {
        const known = numbered.get(hit.id)
        if (known) return known
        const added = { number: numbered.size + 1, hit }
        numbered.set(hit.id, added)
        return added
      })
    },
    all: () => [...numbered.values()].map(({ hit }) => hit),
  }
}

/** The passages as a model reads them. A passage cannot close the block that marks it as data. */
export function renderPassages(passages: readonly NumberedHit[]): string {
  if (passages.length === 0) return '<passages>\nNothing was found.\n</passages>'
  const blocks = passages.map(({ number, hit }) => {
    // On one line, so that a title cannot look like a passage of its own.
    const source = [hit.title, hit.heading].filter(Boolean).join(' > ').replaceAll(/\s+/g, ' ')
    return `[${number}]${source && ` ${asData(source)}`}\n${asData(hit.text)}`
  })
  return `<passages>\n${blocks.join('\n\n')}\n</passages>`
}

function asData(text: string): string {
  return text.replaceAll(/<(?=\s*\/?\s*passages)/gi, '&lt;')
}
