import { Readability } from '@mozilla/readability'
import type { Extracted } from '../extracted.ts'
import { elementToMarkdown, htmlToMarkdown } from './html-to-markdown.ts'
import { type Page, parsePage } from './page.ts'

/** What is taken for the main content must hold so much of the page's text, or the whole page is taken. */
const LEAST_SHARE = 0.25
/**
 * UTF-16 code units of a page in which main content is looked for, which takes three trees of it, each fifty
 * times as large as it is. A longer page, such as a manual on one page, is hardly made of anything else.
 */
const LONGEST_SEARCHED = 2_000_000

/** The main content of a page, without its navigation, under its title. */
export function extractHtml(html: string): Extracted {
  const page = parsePage(html)
  const titleText = page.querySelector('title')?.textContent ?? ''
  const title = titleText.replaceAll(/\s+/g, ' ').trim()
  const text = mainContent(html, page) ?? bodyOf(page)
  return { text: title === '' || text.startsWith('# ') ? text : `# ${title}\n\n${text}` }
}

function mainContent(html: string, { body }: Page): string | undefined {
  if (html.length > LONGEST_SEARCHED) return undefined
  const whole = lettersIn(body?.textContent ?? '')
  // The reader takes the document apart, so it gets one of its own.
  const article = new Readability(parsePage(html)).parse()
  const isMain = article?.content && lettersIn(article.textContent ?? '') >= whole * LEAST_SHARE
  return isMain ? htmlToMarkdown(article.content ?? '') : undefined
}

function bodyOf({ body }: Page): string {
  if (!body) return ''
  for (const element of body.querySelectorAll('nav, header nav, footer')) element.remove()
  return elementToMarkdown(body)
}

function lettersIn(text: string): number {
  return text.replaceAll(/\s+/g, '').length
}
