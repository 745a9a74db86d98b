import type TurndownService from 'turndown'
import type { PageElement } from './page.ts'

/** Tables as Markdown, whose first row is the head; those that only arrange other things are taken apart. */
export function addTableRules(service: TurndownService): void {
  service.addRule('cell', {
    filter: ['th', 'td'],
    replacement: (content, node: PageElement) =>
      isArrangement(node.closest('table')) ? `\n\n${content}\n\n` : `${oneLine(content)} |`,
  })
  service.addRule('row', {
    filter: 'tr',
    replacement(content, node: PageElement) {
      const table = node.closest('table')
      if (isArrangement(table)) return content
      const isHead = table?.querySelector('tr') === node
      return `\n|${content}${isHead ? `\n|${' --- |'.repeat(node.children.length)}` : ''}`
    },
  })
  service.addRule('rows', {
    filter: ['thead', 'tbody', 'tfoot'],
    replacement: (content) => content,
  })
  service.addRule('table', {
    filter: 'table',
    replacement: (content) => `\n\n${content.trim()}\n\n`,
  })
}

/** Mails and old pages put everything into tables. */
function isArrangement(table: PageElement | null): boolean {
  if (!table || table.querySelector('table')) return true
  return Array.from(table.querySelectorAll('tr')).every(({ children }) => children.length < 2)
}

function oneLine(content: string): string {
  return ` ${content.replaceAll(/\s+/g, ' ').replaceAll('|', '/').trim()}`
}
