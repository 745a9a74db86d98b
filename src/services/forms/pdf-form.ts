import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import {
  PDFCheckBox,
  PDFDocument,
  PDFDropdown,
  type PDFField,
  PDFOptionList,
  PDFRadioGroup,
  PDFTextField,
} from '@cantoo/pdf-lib'
import fontkit from '@pdf-lib/fontkit'
import { JobRefusal } from '../../lib/job-process.ts'
import type { FormField, FormValue, FormValues, OpenedForm } from './form.ts'

const require = createRequire(import.meta.url)
const FONT = require.resolve('dejavu-fonts-ttf/ttf/DejaVuSans.ttf')

/** A PDF with fields. */
export async function openPdfForm(bytes: Uint8Array): Promise<OpenedForm> {
  const document = await open(bytes)
  const font = await readFile(FONT)
  const form = document.getForm()
  const fields = form.getFields().flatMap(toField)
  if (fields.length === 0) throw new JobRefusal('The PDF has no fields to fill')

  return {
    fields,
    check: (values) => unwritable(values, font),
    async fill(values) {
      document.registerFontkit(fontkit)
      // This font cannot be cut down to the signs that are used.
      const embedded = await document.embedFont(font, { subset: false })
      for (const [name, value] of Object.entries(values)) write(form.getField(name), value)
      // The fonts that forms bring write other scripts than Latin as question marks.
      form.updateFieldAppearances(embedded)
      return document.save({ updateFieldAppearances: false })
    },
  }
}

async function open(bytes: Uint8Array): Promise<PDFDocument> {
  try {
    return await PDFDocument.load(bytes)
  } catch (error) {
    const isLocked = error instanceof Error && /encrypt/i.test(error.message)
    throw new JobRefusal(isLocked ? 'The PDF has a password' : 'The file is not a PDF')
  }
}

function toField(field: PDFField): FormField[] {
  const name = field.getName()
  const required = field.isRequired()
  if (field instanceof PDFTextField) return [{ name, kind: 'text', required }]
  if (field instanceof PDFCheckBox) return [{ name, kind: 'checkbox', required }]
  const isChoice =
    field instanceof PDFDropdown || field instanceof PDFOptionList || field instanceof PDFRadioGroup
  return isChoice ? [{ name, kind: 'choice', options: field.getOptions(), required }] : []
}

function write(field: PDFField, value: FormValue): void {
  if (field instanceof PDFTextField) field.setText(String(value))
  else if (field instanceof PDFCheckBox) {
    if (value) field.check()
    else field.uncheck()
  } else if (
    field instanceof PDFDropdown ||
    field instanceof PDFOptionList ||
    field instanceof PDFRadioGroup
  ) {
    field.select(String(value))
  }
}

/** What the font has no sign for would be an empty box. */
function unwritable(values: FormValues, font: Uint8Array): string[] {
  const signs = fontkit.create(font)
  return Object.entries(values).flatMap(([name, value]) => {
    const missing = [...String(value)].filter(
      (sign) => sign.trim() !== '' && !signs.hasGlyphForCodePoint(sign.codePointAt(0) ?? 0),
    )
    return missing.length > 0 ? [`${name}: the font has no sign for ${missing.join(' ')}`] : []
  })
}
