import { z } from 'zod'
import { commentBy } from '../extracted.ts'
import { type Fragment, multiply } from './pdf-fragments.ts'

/** An annotation of a page, as far as it is used here. */
const Annotation = z.object({
  subtype: z.string(),
  annotationFlags: z.number().catch(0),
  contentsObj: z.object({ str: z.string() }).catch({ str: '' }),
  titleObj: z.object({ str: z.string() }).catch({ str: '' }),
  /** The lines that its appearance shows. */
  textContent: z.array(z.string()).catch([]),
})
/** PDF 2.0, 12.5.3: hidden, and not to be viewed. */
const UNSEEN = 0x22
const Attached = z.object({ fileId: z.string(), file: z.unknown() })

/** The files that are attached to places of a page. */
export const filesOf = (annotations: readonly unknown[]) =>
  annotations.slice(0, MAX_NOTES).flatMap((one) => Attached.safeParse(one).data ?? [])

/** Fields are read for themselves; the text of a popup is that of its annotation. */
const WITHOUT_NOTE = ['Widget', 'Popup', 'Link']
const MAX_NOTES = 1_000
const MAX_VALUE = 10_000

/** Text that was typed onto a page, and comments. */
export function notesOf(annotations: readonly unknown[]): string {
  return annotations
    .slice(0, MAX_NOTES)
    .flatMap((one) => {
      const note = Annotation.safeParse(one).data
      if (!note || WITHOUT_NOTE.includes(note.subtype) || note.annotationFlags & UNSEEN) return []
      const words = note.contentsObj.str || note.textContent.join('\n')
      const text = words.replaceAll(/\r\n?/g, '\n').trim().slice(0, MAX_VALUE)
      if (text === '' || note.subtype === 'FreeText') return text
      return commentBy(note.titleObj.str.trim(), text)
    })
    .filter(Boolean)
    .join('\n\n')
}

/** A box or a button of a form. */
const Box = z.object({
  subtype: z.literal('Widget'),
  fieldType: z.literal('Btn'),
  checkBox: z.boolean().catch(false),
  radioButton: z.boolean().catch(false),
  annotationFlags: z.number().catch(0),
  fieldValue: z.unknown().optional(),
  exportValue: z.unknown().optional(),
  buttonValue: z.unknown().optional(),
  rect: z.tuple([z.number(), z.number(), z.number(), z.number()]),
})

/** The letters of a box, in points: it is as high as the texts beside it. A larger one stands beside no line. */
const [BOX_HEIGHT, MAX_BOX] = [10, 30]
/** The share of its height that a box reaches below the line. */
const DESCENT = 0.2

/** The boxes of a form as texts at their places: ticked or not. */
export function boxesOf(annotations: readonly unknown[], view: readonly number[]): Fragment[] {
  return annotations.slice(0, MAX_NOTES).flatMap((one) => {
    const box = Box.safeParse(one).data
    if (!box || !(box.checkBox || box.radioButton) || box.annotationFlags & UNSEEN) return []
    const chosen = box.radioButton ? box.buttonValue : box.exportValue
    const isTicked = typeof chosen === 'string' && box.fieldValue === chosen
    const [left, bottom, right, top] = box.rect
    const corners = [
      [left, bottom],
      [right, top],
    ].map(([x = 0, y = 0]) => multiply(view, [1, 0, 0, 1, x, y]))
    const xs = corners.map((corner) => corner[4] ?? 0)
    const ys = corners.map((corner) => corner[5] ?? 0)
    const lowest = Math.max(...ys)
    if (lowest - Math.min(...ys) > MAX_BOX) return []
    return {
      text: isTicked ? '[x]' : '[ ]',
      left: Math.min(...xs),
      right: Math.max(...xs),
      base: lowest - (lowest - Math.min(...ys)) * DESCENT,
      height: BOX_HEIGHT,
    }
  })
}
